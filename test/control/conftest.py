# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The robots under control: an arm whose dynamics fit on a page, and the machine we ship."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kron_dynamics.loading import load

GRAVITY = 9.80665


class PlanarArm:
    """Two links of length 1 m and 0.7 m with 3 kg and 2 kg at their ends, in a vertical plane."""

    def __init__(self, joint_types=('revolute', 'revolute'), damping=0.0, friction=0.0):
        self.n = 2
        self.joint_names = ('shoulder', 'elbow')
        self.model = SimpleNamespace(
            name='planar_arm',
            n=2,
            joint_names=self.joint_names,
            joint_types=joint_types,
            position_lower=np.array([-2.0, -2.5]),
            position_upper=np.array([2.0, 2.5]),
            velocity_limit=np.array([1.5, 2.0]),
            effort_limit=np.array([120.0, 40.0]),
        )
        self._damping = damping
        self._friction = friction

    def mass_matrix(self, q):
        elbow = np.cos(np.asarray(q)[..., 1])
        m12 = 2.0 * 0.49 + 1.4 * elbow
        rows = [[5.0 + 0.98 + 2.8 * elbow, m12], [m12, 0.98 + 0.0 * elbow]]
        return np.moveaxis(np.array(rows), (0, 1), (-2, -1))

    def gravity_vector(self, q):
        q = np.asarray(q)
        fore = 1.4 * GRAVITY * np.cos(q[..., 0] + q[..., 1])
        return np.stack((5.0 * GRAVITY * np.cos(q[..., 0]) + fore, fore), axis=-1)

    @np.errstate(over='ignore', invalid='ignore')  # kernels do not warn
    def bias_forces(self, q, qd):
        q, qd = np.asarray(q), np.asarray(qd)
        h = -1.4 * np.sin(q[..., 1])
        shoulder = h * (2.0 * qd[..., 0] * qd[..., 1] + qd[..., 1] ** 2)
        return np.stack((shoulder, -h * qd[..., 0] ** 2), axis=-1) + self.gravity_vector(q)

    @np.errstate(over='ignore', invalid='ignore')
    def inverse_dynamics(self, q, qd, qdd):
        inertial = np.einsum('...ij,...j->...i', self.mass_matrix(q), np.asarray(qdd))
        return inertial + self.bias_forces(q, qd)

    def forward_dynamics(self, q, qd, tau):
        return np.linalg.solve(self.mass_matrix(q), tau - self.bias_forces(q, qd))

    def joint_friction(self, qd):
        qd = np.asarray(qd)
        return self._damping * qd + self._friction * np.tanh(qd / 0.015)


@pytest.fixture
def arm():
    return PlanarArm()


@pytest.fixture
def make_arm():
    return PlanarArm


@pytest.fixture(scope='session')
def stacker():
    return load(Path(__file__).parents[2] / 'urdf' / 'stacker_reclaimer.urdf')


@pytest.fixture(scope='session')
def stacker_files():
    root = Path(__file__).parents[2]
    return SimpleNamespace(
        urdf=root / 'urdf' / 'stacker_reclaimer.urdf',
        flexible=root / 'config' / 'stacker_reclaimer_flexible.yaml',
    )
