# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The machines of `known_truth`: parameters of their motions and recordings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.typing import FloatArray


@dataclass(frozen=True)
class Machine:
    """Motion and recording of a robot.

    Attributes:
        pose: centre of the motion, shape (n,), rad or m.
        reach: amplitudes of the motion, shape (n,), rad or m.
        slowest: lowest frequency of the motion, Hz.
        duration: duration of a recording, s.
        period: sampling period, s.
        control: period of the simulated control, s.
        step: step of the simulation, s.
        resolution: resolution of the positions, shape (n,), rad or m.
        position_noise: standard deviation of positions, in resolutions.
        velocity_noise: standard deviation of velocities, as a share of the velocity limits.
        effort_noise: standard deviation of efforts, as a share of the effort limits.
        gains: stiffness and damping of the control, 1/s^2 and 1/s.
        rotors: reflected rotor inertia per effort limit, kg m^2 / (N m).
        coulomb: Coulomb friction as a share of the effort limits; 0 for that of the description.
        loads: smallest and largest payload, kg.
        place: distance of the payload's centre of mass from the link's origin, m; 0 if it is
            known.
        width: width of the averages applied to the regressor, s.
    """

    pose: FloatArray
    reach: FloatArray
    slowest: float
    duration: float
    period: float
    control: float
    step: float
    resolution: FloatArray
    position_noise: float
    velocity_noise: float
    effort_noise: float
    gains: tuple[float, float]
    rotors: float
    coulomb: float
    loads: tuple[float, float]
    place: float
    width: float


MACHINES = {
    'stacker': Machine(
        np.array([100.0, 0.4, 0.03]),
        np.array([3.0, 0.3, 0.1]),
        0.01,
        240.0,
        0.02,
        0.01,
        0.01,
        np.array([1e-3, 2 * np.pi / 2**18, 2 * np.pi / 2**18]),
        0.5,
        2e-3,
        2e-3,
        (1.0, 2.0),
        0.0,
        0.0,
        (4e3, 2e4),
        0.0,
        0.5,
    ),
    'ur5': Machine(
        np.array([0.3, -1.1, 1.3, -0.6, 0.9, 0.2]),
        np.array([0.6, 0.5, 0.6, 0.8, 0.8, 0.8]),
        0.08,
        24.0,
        0.008,
        2e-3,
        2e-3,
        np.full(6, 5e-6),
        2.0,
        1e-3,
        2e-3,
        (100.0, 20.0),
        4e-3,
        0.02,
        (1.0, 5.0),
        0.08,
        0.05,
    ),
    'panda': Machine(
        np.array([0.2, -0.5, 0.3, -1.9, 0.2, 1.7, 0.4]),
        np.array([0.5, 0.4, 0.5, 0.5, 0.6, 0.6, 0.7]),
        0.08,
        20.0,
        0.004,
        1e-3,
        1e-3,
        np.full(7, 1e-6),
        4.0,
        1e-3,
        2e-3,
        (100.0, 20.0),
        4e-3,
        0.02,
        (0.8, 3.0),
        0.06,
        0.05,
    ),
}
