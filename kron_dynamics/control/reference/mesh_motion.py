# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Motions given by the squared path rate at the nodes of a mesh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kron_dynamics.control.reference.motion_peaks import MotionSamples
from kron_dynamics.control.reference.path_mesh import Mesh
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(4)


class MeshMotion(NamedTuple):
    """Squared path rate x and u = x' / 2 at the nodes, (N + 1,) each; x is cubic between them."""

    mesh: Mesh
    x: FloatArray
    u: FloatArray

    def at(self, r: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return x and u at positions r, shape (K,)."""
        nodes, sizes, x, u = self.mesh.nodes, self.mesh.sizes, self.x, self.u
        k = np.clip(np.searchsorted(nodes, r, side='right') - 1, 0, sizes.size - 1)
        return hermite((x[k], x[k + 1]), (u[k], u[k + 1]), sizes[k], (r - nodes[k]) / sizes[k])

    @property
    def goes_on(self) -> bool:
        """Whether x is above 0 at the nodes and at the quadrature points."""
        return bool((self.x > 0.0).all() and (self._inside() > 0.0).all())

    def _inside(self) -> FloatArray:
        """Values x at the Gauss points of each interval, (4, N)."""
        x, u, z = self.x, self.u, 0.5 * (_PLACES[:, np.newaxis] + 1.0)
        return hermite((x[:-1], x[1:]), (u[:-1], u[1:]), self.mesh.sizes, z)[0]

    def samples(
        self, robot: Robot, ends: FloatArray, *, smooth: bool, friction: bool
    ) -> MotionSamples:
        """Return the motion as a function of time.

        Args:
            robot: the machine.
            ends: positions of both rests, shape (2, n).
            smooth: whether the acceleration is 0 at the rests.
            friction: whether efforts include friction.
        """
        mesh, x, u = self
        steps = 0.5 * mesh.sizes * (_WEIGHTS @ (1.0 / np.sqrt(self._inside())))
        q, first, second = (values[::2] for values in mesh.terms[:3])
        q = q.copy()
        v = first * np.sqrt(x)[:, np.newaxis]
        v[[0, -1]] = 0.0
        q[[0, -1]] = ends
        a = second * x[:, np.newaxis] + first * u[:, np.newaxis]
        if smooth:
            a[[0, -1]] = 0.0
        times = np.concatenate(([0.0], np.cumsum(steps)))
        return MotionSamples.of(robot, times, (q, v, a), friction)


def hermite(
    x: Sequence[FloatArray] | FloatArray,
    u: Sequence[FloatArray] | FloatArray,
    sizes: FloatArray,
    z: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return x and u within intervals by cubic Hermite interpolation.

    Args:
        x: values at both ends, shape (2, ...).
        u: half of the slopes of x at both ends, shape (2, ...).
        sizes: lengths of the intervals.
        z: relative positions in the intervals, 0 to 1.
    """
    mean = (x[1] - x[0]) / sizes
    bend, twist = 3.0 * mean - 4.0 * u[0] - 2.0 * u[1], 2.0 * (u[0] + u[1] - mean)
    return (
        x[0] + sizes * z * (2.0 * u[0] + z * (bend + z * twist)),
        u[0] + z * (bend + 1.5 * z * twist),
    )
