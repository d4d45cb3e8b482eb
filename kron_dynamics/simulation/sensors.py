# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated joint sensors: encoder quantisation and Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.arguments import real_array, whole_number
from kron_dynamics.exceptions import ParameterError, ShapeError
from kron_dynamics.simulation.plant import Plant
from kron_dynamics.typing import ArrayLike, FloatArray


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
        position_resolution: ArrayLike,
        position_noise: ArrayLike,
        velocity_noise: ArrayLike,
        effort_noise: ArrayLike,
        seed: int,
    ) -> None:
        """Set the errors, arrays of shape (n_j,) with 0 for none.

        Args:
            position_resolution: quantum of the encoders, rad or m.
            position_noise: standard deviation before quantisation, rad or m.
            velocity_noise: standard deviation, rad/s or m/s.
            effort_noise: standard deviation, N m or N.
            seed: seed of the noise, 0 or more.

        Raises:
            ArgumentTypeError: an argument is not real numbers, or seed is no whole number.
            ShapeError: an array is not of shape (n_j,), or has not as many values as the others.
            ParameterError: a value is negative or not finite.
        """
        errors = list[FloatArray]()
        for label, given in (
            ('position_resolution', position_resolution),
            ('position_noise', position_noise),
            ('velocity_noise', velocity_noise),
            ('effort_noise', effort_noise),
        ):
            values = real_array(given, label)
            expected = errors[0].shape if errors else (values.size,)
            if values.shape != expected:
                raise ShapeError(f'{label} has shape {values.shape}, expected {expected}')
            if not (np.isfinite(values).all() and (values >= 0.0).all()):
                raise ParameterError(f'{label} is {values.tolist()}, expected numbers >= 0')
            errors.append(values)
        if whole_number(seed, 'seed') < 0:
            raise ParameterError(f'seed is {seed}, expected 0 or more')
        self._resolution, *self._noise = errors
        self._random = np.random.default_rng(seed)

    def measure(self, plant: Plant) -> Measurement:
        """Return a sample of the plant's state.

        Raises:
            ShapeError: the plant has another number of joints than the sensors.
        """
        if plant.effort.shape != self._resolution.shape:
            raise ShapeError(
                f'the plant has {len(plant.effort)} joints, expected {len(self._resolution)}, as '
                f'the sensors have errors for'
            )
        joints = slice(len(plant.effort))
        state = plant.q[joints], plant.qd[joints], plant.effort
        position, velocity, effort = (
            true + deviation * self._random.standard_normal(len(true))
            for true, deviation in zip(state, self._noise, strict=True)
        )
        quantum = np.where(self._resolution > 0.0, self._resolution, 1.0)
        counted = np.round(position / quantum) * quantum
        return Measurement(np.where(self._resolution > 0.0, counted, position), velocity, effort)
