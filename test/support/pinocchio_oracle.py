# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Pinocchio as an independent oracle, and descriptions of real robots."""

from __future__ import annotations

import csv
import importlib.metadata
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from kron_dynamics.model import RobotModel

pin = pytest.importorskip('pinocchio')
ALIGNED = pin.LOCAL_WORLD_ALIGNED


class Oracle:
    """Pinocchio's model of the same text, with results in our coordinates.

    In Pinocchio mimic joints are independent joints: with v = G qd, where G is constant, efforts
    are mapped by G^T tau and matrices by G^T A G, including Christoffel symbols.
    """

    def __init__(self, text: str, model: RobotModel) -> None:
        self.model, self.n = model, model.n
        self.pin = build(text)
        self.pin.gravity.linear = np.array(model.gravity)
        self.data = self.pin.createData()
        self.G = np.zeros((self.pin.nv, self.n))
        for joint in model.joints:
            row = self.pin.joints[self.pin.getJointId(joint.name)].idx_v
            self.G[row, joint.coordinate] = joint.multiplier

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """Return Pinocchio's q, which has cosine and sine of a continuous joint."""
        full = pin.neutral(self.pin)
        for joint in self.model.joints:
            there = self.pin.joints[self.pin.getJointId(joint.name)]
            position = joint.multiplier * q[joint.coordinate] + joint.offset
            entry = (np.cos(position), np.sin(position)) if there.nq == 2 else (position,)
            full[there.idx_q : there.idx_q + there.nq] = entry
        return full

    def inverse_dynamics(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        rates = self.G @ qd, self.G @ qdd
        return self.G.T @ pin.rnea(self.pin, self.data, self.configuration(q), *rates)

    def inverse_dynamics_derivatives(
        self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives of the efforts with respect to qd and to q, shape (n, n) each."""
        state = self.configuration(q), self.G @ qd, self.G @ qdd
        pin.computeRNEADerivatives(self.pin, self.data, *state)
        by_rate, by_position = self.data.dtau_dv, self.data.dtau_dq
        return self.G.T @ by_rate @ self.G, self.G.T @ by_position @ self.G

    def inverse_dynamics_rate(
        self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, qddd: np.ndarray
    ) -> np.ndarray:
        by_rate, by_position = self.inverse_dynamics_derivatives(q, qd, qdd)
        return self.mass_matrix(q) @ qddd + by_rate @ qdd + by_position @ qd

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        upper = np.triu(pin.crba(self.pin, self.data, self.configuration(q)))
        return self.G.T @ (upper + np.triu(upper, 1).T) @ self.G

    def gravity_vector(self, q: np.ndarray) -> np.ndarray:
        g = pin.computeGeneralizedGravity(self.pin, self.data, self.configuration(q))
        return self.G.T @ g

    def coriolis_matrix(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        arguments = self.configuration(q), self.G @ qd
        return self.G.T @ pin.computeCoriolisMatrix(self.pin, self.data, *arguments) @ self.G

    def forward_dynamics(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        bias = self.inverse_dynamics(q, qd, np.zeros(self.n))
        return np.linalg.solve(self.mass_matrix(q), tau - bias)

    def christoffel_symbols(self, q: np.ndarray) -> np.ndarray:
        """Return Gamma[a, i, j]: C is linear in qd, so C(q, e_j) has the symbols of index j."""
        return np.stack([self.coriolis_matrix(q, e) for e in np.eye(self.n)], axis=-1)

    def move(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> None:
        """Compute poses, velocities, accelerations and Jacobians of all frames for this state."""
        full = self.configuration(q)
        pin.forwardKinematics(self.pin, self.data, full, self.G @ qd, self.G @ qdd)
        pin.computeJointJacobians(self.pin, self.data, full)
        pin.updateFramePlacements(self.pin, self.data)

    def jacobian(self, q: np.ndarray, link: str) -> np.ndarray:
        self.move(q, np.zeros(self.n), np.zeros(self.n))
        frame = self.pin.getFrameId(link, pin.BODY)
        J = pin.getFrameJacobian(self.pin, self.data, frame, ALIGNED)
        return J.reshape(6, self.pin.nv) @ self.G  # the binding returns one column as a vector

    def kinematic_hessian_of_joint(self, q: np.ndarray, joint: str) -> np.ndarray:
        """Return dJ/dq, shape (6, n, n), of the frame of a joint."""
        if not hasattr(pin, 'computeJointKinematicHessians'):
            pytest.skip(f'Pinocchio {pin.__version__}, the last for this Python, has no Hessians')
        full = self.configuration(q)
        pin.computeJointJacobians(self.pin, self.data, full)
        pin.computeJointKinematicHessians(self.pin, self.data)
        index = self.pin.getJointId(joint)
        H = pin.getJointKinematicHessian(self.pin, self.data, index, ALIGNED)
        # The wheel's binding labels column-major memory as row-major.
        H = np.asarray(H).ravel().reshape((6, self.pin.nv, self.pin.nv), order='F')
        return np.einsum('rij,ia,jb->rab', H, self.G, self.G)


def build(text: str) -> Any:
    """Return Pinocchio's model of a text, screw joints included, which its parser does not read.

    They are parsed as revolute joints, then replaced by helical joints.
    """
    screws = {}
    root = ElementTree.fromstring(text)
    for joint in root:
        if joint.get('type') != 'screw':
            continue
        joint.tag = 'joint'
        joint.set('type', 'revolute')
        (thread,) = (child for child in joint if child.tag.endswith('screw_thread_pitch'))
        joint.remove(thread)
        axis = np.array(joint.find('axis').get('xyz').split(), dtype=float)
        turn = float(thread.get('value'))
        screws[joint.get('name')] = axis / np.linalg.norm(axis), turn / (2 * np.pi)
    if not screws:
        return pin.buildModelFromXML(text)
    turning = pin.buildModelFromXML(ElementTree.tostring(root, encoding='unicode'))
    model = pin.Model()
    for k in range(1, turning.njoints):
        name = turning.names[k]
        joint = turning.joints[k]
        if name in screws:
            joint = pin.JointModelHelicalUnaligned(*screws[name])
        model.addJoint(turning.parents[k], joint, turning.jointPlacements[k], name)
        model.appendBodyToJoint(k, turning.inertias[k], pin.SE3.Identity())
    for frame in turning.frames[1:]:
        own = pin.Frame(frame.name, frame.parentJoint, frame.placement, frame.type)
        model.addFrame(own, False)
    return model


def example_robots() -> dict[str, Path]:
    """Return the URDF files of the wheel example-robot-data by path below its folder of robots.

    The wheel has no importable module.
    """
    return _robots_of('example-robot-data', 'robots')


def more_robots() -> dict[str, Path]:
    """Return URDF files of rtb-data and, if installed, pybullet, by path in the package."""
    found = {f'rtb/{name}': path for name, path in _robots_of('rtb-data', 'rtbdata').items()}
    try:
        bullets = _robots_of('pybullet', 'pybullet_data')
    except importlib.metadata.PackageNotFoundError:  # no wheels for most supported Pythons
        return found
    # random_urdfs are a thousand bodies without joints.
    kept = {name: path for name, path in bullets.items() if 'random_urdfs' not in name}
    return found | {f'pybullet/{name}': path for name, path in kept.items()}


def _robots_of(distribution: str, folder: str) -> dict[str, Path]:
    # Read as text: importlib.metadata.files makes a path of each of ten thousand files.
    installed = importlib.metadata.distribution(distribution)
    found = {}
    for file, *_ in csv.reader((installed.read_text('RECORD') or '').splitlines()):
        _, inside, name = f'/{file}'.partition(f'/{folder}/')
        if inside and name.endswith('.urdf'):
            found[name] = Path(str(installed.locate_file(file)))
    return dict(sorted(found.items()))


def arm_text(file_name: str) -> str:
    """Return the URDF text of the only file of this name."""
    (path,) = (path for path in example_robots().values() if path.name == file_name)
    return path.read_text(encoding='utf-8')
