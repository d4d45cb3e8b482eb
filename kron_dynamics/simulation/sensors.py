# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated joint sensors: encoder quantisation and Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.simulation.plant import Plant
from kron_dynamics.typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """One sample of all joints: arrays of shape (n_j,); rad or m, rad/s or m/s, N m or N."""

    position: FloatArray
    velocity: FloatArray
    effort: FloatArray


class JointSensors:
    """Sensors of a machine's joints: position, velocity and effort.

    They do not measure the deflections of flexible links.
    """

    def __init__(
        self,
        *,
        position_resolution: FloatArray,
        position_noise: FloatArray,
        velocity_noise: FloatArray,
        effort_noise: FloatArray,
        seed: int,
    ) -> None:
        """Set the errors, arrays of shape (n_j,) with 0 for none.

        Args:
            position_resolution: quantum of the encoders, rad or m.
            position_noise: standard deviation before quantisation, rad or m.
            velocity_noise: standard deviation, rad/s or m/s.
            effort_noise: standard deviation, N m or N.
            seed: seed of the noise.

        Raises:
            ParameterError: a value is negative or not finite.
        """
        for label, values in (
            ('position_resolution', position_resolution),
            ('position_noise', position_noise),
            ('velocity_noise', velocity_noise),
            ('effort_noise', effort_noise),
        ):
            if not (np.isfinite(values).all() and (values >= 0.0).all()):
                raise ParameterError(f'{label} is {values.tolist()}, expected numbers >= 0')
        self._resolution = position_resolution
        self._noise = (position_noise, velocity_noise, effort_noise)
        self._random = np.random.default_rng(seed)

    def measure(self, plant: Plant) -> Measurement:
        """Return a sample of the plant's state."""
        joints = slice(len(plant.effort))
        state = plant.q[joints], plant.qd[joints], plant.effort
        position, velocity, effort = (
            true + deviation * self._random.standard_normal(len(true))
            for true, deviation in zip(state, self._noise, strict=True)
        )
        quantum = np.where(self._resolution > 0.0, self._resolution, 1.0)
        counted = np.round(position / quantum) * quantum
        return Measurement(np.where(self._resolution > 0.0, counted, position), velocity, effort)
