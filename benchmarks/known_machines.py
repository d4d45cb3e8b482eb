# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The machines of `known_truth`: how they move, and how they are recorded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.typing import FloatArray


@dataclass(frozen=True)
class Machine:
    """How a robot is moved and recorded.

    Attributes:
        pose: about which it moves.
        reach: amplitudes of the motion, shape (n,), rad or m.
        slowest: lowest frequency of the motion, Hz.
        duration: s.
        period: of the samples, s.
        control: period of the simulated control, s.
        step: of the simulation, s.
        resolution: of the positions, shape (n,), rad or m.
        position_noise: standard deviation, in resolutions.
        velocity_noise: standard deviation, as a share of the velocity limits.
        effort_noise: as a share of the effort limits.
        gains: stiffness and damping of the control, 1/s^2 and 1/s.
        rotors: inertias of the drives at the joints per effort limit, kg m^2 / (N m).
        coulomb: friction as a share of the effort limits; 0 for that of the description.
        loads: least and largest payload, kg.
        place: how far its centre of mass is from the link's origin, m; 0 where it is known.
        width: of the averages that the regressor passes through, s.
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
