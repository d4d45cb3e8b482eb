# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How flexible links vibrate while all joints do what they are told."""

from __future__ import annotations

import numpy as np

from kron_dynamics.exceptions import ModelError
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray


class ClampedJointModes:
    """Frequencies and damping ratios with the joints held, by pose: for `shape_trajectory`.

    They are those of links at rest that are not bent; the sag changes them in the second order
    only. Called as ``modes(q)``.
    """

    def __init__(self, flexible: Robot) -> None:
        """Take the modes of a robot, and compile what that needs.

        Args:
            flexible: the robot with its modal coordinates.

        Raises:
            ModelError: no link bends, or they do not carry their weight.
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
            ModelError: at this pose the links give way under their weight.
        """
        motion = np.zeros((3, self._robot.n))
        motion[0, : self._modal.start] = q
        terms = self._robot.linearization(*motion)
        M, K = (
            matrix[self._modal, self._modal]
            for matrix in (terms.mass_matrix, terms.stiffness_matrix)
        )
        # Coordinates in which the mass is the unit matrix.
        basis = np.linalg.inv(np.linalg.cholesky(M))
        squares, shapes = np.linalg.eigh(basis @ ((K + K.T) / 2.0) @ basis.T)
        if not squares[0] > 0.0:
            raise ModelError(
                f"the flexible links of '{self._robot.model.name}' give way at q = "
                f'{np.asarray(q).tolist()}: they have no frequency'
            )
        frequencies: FloatArray = np.sqrt(squares)
        damping = self._damping @ (basis.T @ shapes) ** 2
        return frequencies, damping / (2.0 * frequencies)
