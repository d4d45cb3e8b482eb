# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Wrench at a link, estimated from external joint efforts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.control.sample_poses import poses_within_limits
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot

# Singular values of the dimensionless Jacobian below this are damped.
_WELL_OBSERVED = 0.02
# Number of joints that must move a link to distinguish a force from a moment.
_FULL_WRENCH = 6


class TipWrench:
    r"""Least-squares force and moment at a link's origin for given external joint efforts.

    .. math:: \min_w |J^T w - r|

    A link that fewer than six joints move cannot show a force apart from a moment: a pure force is
    assumed, and the moment is 0. Lengths are in units of the robot's reach, so that N and N m have
    comparable weights. Near a singularity the least squares are damped, and unobservable
    directions are 0: for a singular value s below s_0 = 0.02 the inverse is
    s / (s^2 + s_0 (s_0 - s)), which is 1/s at s_0 and 0 at 0.
    """

    def __init__(self, robot: Robot, link: str) -> None:
        """Choose the link.

        Args:
            robot: the machine with rigid links.
            link: link in whose frame origin the wrench acts.

        Raises:
            UnknownFrameError: the robot has no such link.
        """
        self._frame = robot.frame(link)
        turning = np.array([joint_kind(kind).motion.turns for kind in robot.model.joint_types])
        jacobians = np.array(list(map(self._frame.jacobian, poses_within_limits(robot))))
        moving = jacobians.any(axis=(0, 1))
        self._rows = 6 if np.count_nonzero(moving) >= _FULL_WRENCH else 3
        levers = np.linalg.norm(jacobians[:, :3, turning], axis=1)
        reach = float(levers.max(initial=0.0)) or 1.0
        self._moment_unit = np.where(np.arange(self._rows) < 3, 1.0, reach)
        self._effort_unit = np.where(turning, reach, 1.0)

    def wrench(self, q: FloatArray, effort: FloatArray) -> FloatArray:
        """Return [force; moment] acting on the link, shape (6,), N and N m, in base axes.

        Args:
            q: positions, shape (n,), rad or m.
            effort: external efforts on the joints, shape (n,), N m or N.
        """
        J = self._frame.jacobian(q)[: self._rows]
        A = (J * self._moment_unit[:, np.newaxis] / self._effort_unit).T
        U, s, Vt = np.linalg.svd(A, full_matrices=False)
        damped = np.maximum(_WELL_OBSERVED * (_WELL_OBSERVED - s), 0.0)
        gain = s / np.maximum(s**2 + damped, np.finfo(float).tiny)
        wrench = np.zeros(6)
        wrench[: self._rows] = (Vt.T * gain) @ (U.T @ (effort / self._effort_unit))
        wrench[: self._rows] *= self._moment_unit
        return wrench
