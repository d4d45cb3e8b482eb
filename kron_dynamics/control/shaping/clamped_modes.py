# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Vibration modes of flexible links with the joints clamped."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control.shaping.mode_crossings import tracked_modes
from kron_dynamics.exceptions import ModelError
from kron_dynamics.modes.mode_tracking import Vibrations
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray


class ClampedJointModes:
    """Frequencies and damping ratios with clamped joints as functions of the pose.

    For `shape_trajectory`; called as ``modes(q)``, or by `along` for a motion. The links are at
    rest and undeflected; their sag under gravity has only a second-order effect.
    """

    def __init__(self, flexible: Robot) -> None:
        """Prepare the modes of a robot, and compile the kernels.

        Args:
            flexible: the robot with its modal coordinates.

        Raises:
            ModelError: the robot has no flexible links, or they are unstable under their weight.
        """
        if not flexible.model.is_flexible:
            raise ModelError(f"'{flexible.model.name}' has no flexible links, so no modes")
        self._robot = flexible
        self._modal = slice(flexible.model.joint_count, flexible.n)
        self._damping = flexible.model.structural_damping[self._modal]
        self(np.zeros(flexible.model.joint_count))

    def __call__(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the natural frequencies in rad/s, ascending, and damping ratios, (n_m,) each.

        Args:
            q: positions of the joints, shape (n_j,), rad or m.

        Raises:
            ModelError: at this pose the links are unstable under their weight.
        """
        (modes,) = self._modes(np.asarray(q)[np.newaxis])
        return np.sqrt(modes.squares), modes.damping_ratios

    def along(
        self, poses: FloatArray, times: FloatArray, shares: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return frequencies in rad/s and damping ratios along a motion, (K, n_m) each.

        Each mode is followed by its shape, also where its frequency crosses that of another one;
        see `tracked_modes`.

        Args:
            poses: positions of the joints, shape (K, n_j), rad or m.
            times: times of the poses, shape (K,), s, ascending.
            shares: their places from 0 to 1, shape (K,), as for `tracked_modes`.

        Raises:
            ModelError: at a pose the links are unstable under their weight.
        """
        return tracked_modes(self._modes(poses), times, shares)

    def _modes(self, poses: FloatArray) -> list[Vibrations]:
        """The modes at each of the poses, (K, n_j), by ascending frequency."""
        modal = self._modal
        motion = np.zeros((3, self._robot.n))
        matrices = []
        for q in poses:
            motion[0, : modal.start] = q
            terms = self._robot.linearization(*motion)
            matrices.append(
                (terms.mass_matrix[modal, modal], terms.stiffness_matrix[modal, modal])
            )
        M, K = np.swapaxes(np.array(matrices), 0, 1)
        # Coordinates in which the mass matrix is the identity.
        basis = np.linalg.inv(np.linalg.cholesky(M))
        even = (K + np.swapaxes(K, 1, 2)) / 2.0
        squares, shapes = np.linalg.eigh(basis @ even @ np.swapaxes(basis, 1, 2))
        for q, lowest in zip(poses, squares[:, 0], strict=True):
            if not lowest > 0.0:
                raise ModelError(
                    f"the flexible links of '{self._robot.model.name}' give way at q = "
                    f'{np.asarray(q).tolist()}: they have no frequency'
                )
        shapes = np.swapaxes(basis, 1, 2) @ shapes
        damping = np.diag(self._damping)
        rows = zip(M, squares, shapes, strict=True)
        return [Vibrations(mass, damping, square, shape) for mass, square, shape in rows]
