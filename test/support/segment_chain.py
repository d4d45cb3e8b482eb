# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Flexible links as chains of rigid segments with springs between them, computed by Pinocchio.

M_L, D_L and K_L are computed independently: without mode integrals, foreshortening and Hessians. A
beam is divided into elements of length h. In the middle of each is a hinge with a spring of
stiffness EI / h about each of the two axes across the beam. Between two hinges the beam is a rigid
segment, centred at the node between two elements. So the first half element is rigid with the
root, the last one with the tip, and errors fall with h^2. The chain is exact for large rotations:
axial forces stiffen it because the distances of its hinges are constant.

Segments rotate by the slopes of the beam: the segment at the node x has the slope w'(x). A beam
without torsion has the curvatures -w'' and v'' about its own axes and none along itself, up to
terms of third order in the deflection. So hinge angles are linear in modal coordinates and
K = P^T K_chain P without a second-order term, provided that a hinge rotates by exp of its angle
vector up to second order. Two successive axes do not: half of the first angle is therefore applied
before the second axis and half after it.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest
from scipy.linalg import eigh

pin = pytest.importorskip('pinocchio')

Angles = Mapping[tuple[str, str], np.ndarray]


@dataclass(frozen=True)
class SegmentBeam:
    """The beam of one link, linear between stations, and the attachments of its children."""

    length: float
    mass_per_length: float | Sequence[float]
    bending_stiffness: Mapping[str, float | Sequence[float]]  # 'v', 'w' -> EI
    stations: Sequence[float] = ()
    axis: Sequence[float] = (1.0, 0.0, 0.0)
    lateral: Sequence[float] = (0.0, 1.0, 0.0)
    origin: Sequence[float] = (0.0, 0.0, 0.0)
    attachments: Mapping[str, float] = field(default_factory=dict)

    def along(self, table: float | Sequence[float], x: np.ndarray) -> np.ndarray:
        """Return the value of a table at x."""
        stations = self.stations or (0.0, self.length)
        return np.interp(x, stations, np.broadcast_to(table, (len(stations),)))

    def pieces(self, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return Gauss points and their masses between consecutive ends, (k, 3) each."""
        nodes, weights = np.polynomial.legendre.leggauss(3)
        half = np.diff(ends)[:, None] / 2
        x = ends[:-1, None] + half * (1 + nodes)
        return x, half * weights * self.along(self.mass_per_length, x)


class Linear(NamedTuple):
    """M ydd + D yd + K y = -tau for deviations y from a motion."""

    M: np.ndarray
    D: np.ndarray
    K: np.ndarray
    tau: np.ndarray


class SegmentChain:
    """A URDF whose flexible links are chains of segments.

    Coordinates are the joints in the given order, then hinge angles per link and plane. A beam
    has about `coarsest` times `refinement` elements. Pinocchio takes seconds to parse chains of
    more than a hundred hinges: extrapolate instead.
    """

    def __init__(
        self,
        text: str,
        beams: Mapping[str, SegmentBeam],
        joints: Sequence[str],
        refinement: int = 1,
        coarsest: int = 8,
        gravity: Sequence[float] = (0.0, 0.0, -9.80665),
    ) -> None:
        self.beams, self.joints = dict(beams), list(joints)
        robot = ET.fromstring(text)
        self.nodes = {
            link: _cut(robot, link, beam, refinement, coarsest)
            for link, beam in self.beams.items()
        }
        self.pin = pin.buildModelFromXML(ET.tostring(robot, encoding='unicode'))
        self.pin.gravity.linear = np.array(gravity, dtype=float)
        self.data = self.pin.createData()
        self._columns()

    def _columns(self) -> None:
        """Set the constant map from the coordinates to Pinocchio's, and the spring stiffnesses."""
        entries: list[list[tuple[str, float]]] = [[(name, 1.0)] for name in self.joints]
        springs = [0.0] * len(self.joints)
        self.places: dict[tuple[str, str], slice] = {}
        for link, beam in self.beams.items():
            hinges = self.hinges(link)
            for plane, table in beam.bending_stiffness.items():
                self.places[link, plane] = slice(len(entries), len(entries) + len(hinges))
                shares = [part for part, axis, _ in _parts(beam) if axis == plane]
                entries += [
                    [(f'{link}/{k}{part}', 1 / len(shares)) for part in shares]
                    for k in range(len(hinges))
                ]
                springs += list(beam.along(table, hinges) / np.diff(self.nodes[link]))
        self.S = np.zeros((self.pin.nv, len(entries)))
        for column, parts in enumerate(entries):
            for name, share in parts:
                self.S[self.pin.joints[self.pin.getJointId(name)].idx_v, column] = share
        self.springs = np.array(springs)

    def hinges(self, link: str) -> np.ndarray:
        """Return the distances of a link's hinges from its root."""
        x = self.nodes[link]
        return (x[1:] + x[:-1]) / 2

    def angles(self, link: str, slopes: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return the hinge angles, (hinges, modes), of a beam with slopes(x), (modes, k)."""
        return np.diff(slopes(self.nodes[link]), axis=-1).T

    def deflections(self, link: str, angles: np.ndarray, x: float) -> np.ndarray:
        """Return the deflections, (modes,), at x of a beam with hinge angles (hinges, modes)."""
        return np.maximum(x - self.hinges(link), 0.0) @ angles

    def projection(self, angles: Angles) -> np.ndarray:
        """Return the map from joints and modal coordinates (per link and plane) to coordinates."""
        rigid = len(self.joints)
        count = rigid + sum(part.shape[1] for part in angles.values())
        P = np.zeros((len(self.springs), count))
        P[:rigid, :rigid] = np.eye(rigid)
        start = rigid
        for key, part in angles.items():
            P[self.places[key], start : start + part.shape[1]] = part
            start += part.shape[1]
        return P

    def linearized(
        self,
        q: Sequence[float],
        qd: Sequence[float],
        qdd: Sequence[float],
        angles: Angles | None = None,
    ) -> Linear:
        """Return the linear model about a motion of the joints with straight beams.

        It is in joints and modal coordinates; without `angles` of the modes in joints and hinge
        angles.
        """
        P = np.eye(len(self.springs)) if angles is None else self.projection(angles)
        S = self.S[:, : len(self.joints)]
        state = pin.integrate(self.pin, pin.neutral(self.pin), S @ q), S @ qd, S @ qdd
        M = np.triu(pin.crba(self.pin, self.data, state[0]))
        M = M + np.triu(M, 1).T
        pin.computeRNEADerivatives(self.pin, self.data, *state)
        D, K = self.data.dtau_dv.copy(), self.data.dtau_dq.copy()
        tau = pin.rnea(self.pin, self.data, *state)
        T = self.S @ P
        springs = P.T @ (self.springs[:, None] * P)
        return Linear(T.T @ M @ T, T.T @ D @ T, T.T @ K @ T + springs, T.T @ tau)

    def hanging(self, q: Sequence[float]) -> tuple[Linear, np.ndarray]:
        """Return the linear model at rest with the joints at q and the beams in equilibrium.

        Returns:
            the linear model and the coordinates, both in joints and hinge angles.
        """
        y = np.concatenate([q, np.zeros(len(self.springs) - len(self.joints))])
        rest, bent = np.zeros(self.pin.nv), slice(len(self.joints), None)
        for _ in range(50):
            state = self._placed(y), rest, rest
            pin.computeRNEADerivatives(self.pin, self.data, *state)
            K = self.S.T @ self.data.dtau_dq @ self.S + np.diag(self.springs)
            tau = self.S.T @ pin.rnea(self.pin, self.data, *state) + self.springs * y
            step = np.linalg.solve(K[bent, bent], tau[bent])
            y[bent] -= step
            if np.abs(step).max() < 1e-12:
                break
        else:
            raise AssertionError('no balance')
        M = np.triu(pin.crba(self.pin, self.data, self._placed(y)))
        M = self.S.T @ (M + np.triu(M, 1).T) @ self.S
        return Linear(M, 0 * M, K, tau), y

    def _placed(self, y: np.ndarray) -> np.ndarray:
        return pin.integrate(self.pin, pin.neutral(self.pin), self.S @ y)

    def pose(self, link: str, y: np.ndarray) -> np.ndarray:
        """Return the pose of a link, shape (4, 4), at coordinates as returned by `hanging`."""
        pin.framesForwardKinematics(self.pin, self.data, self._placed(y))
        return self.data.oMf[self.pin.getFrameId(link)].homogeneous

    def modes(self, link: str, plane: str, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return frequencies and hinge angles (hinges, count) of one beam in one plane.

        Joints and all other hinges are locked; at the zero pose, with all bodies, without gravity.
        """
        place = self.places[link, plane]
        T = self.S[:, place]
        M = np.triu(pin.crba(self.pin, self.data, pin.neutral(self.pin)))
        M = T.T @ (M + np.triu(M, 1).T) @ T
        squares, vectors = eigh(M, np.diag(self.springs[place]))
        return 1 / np.sqrt(squares[: -count - 1 : -1]), vectors[:, : -count - 1 : -1]

    def frequencies(self, linear: Linear, free: Sequence[str] = ()) -> np.ndarray:
        """Return the natural frequencies at rest, rad/s, ascending; only `free` joints can move.

        The entry of an unstable mode, w^2 < 0, is -|w|.
        """
        rigid = len(self.joints)
        kept = [self.joints.index(name) for name in free] + list(range(rigid, len(linear.K)))
        block = np.ix_(kept, kept)
        K = linear.K[block]
        squares = eigh((K + K.T) / 2, linear.M[block], eigvals_only=True)
        return np.sign(squares) * np.sqrt(np.abs(squares))


def extrapolate(values: Sequence[np.ndarray]) -> np.ndarray:
    """Return the Richardson limit of values at h, h/2, ..., with errors in even powers of h."""
    table = [np.asarray(value) for value in values]
    factor = 1.0
    while len(table) > 1:
        factor *= 4
        table = [(factor * b - a) / (factor - 1) for a, b in zip(table, table[1:], strict=False)]
    return table[0]


def _parts(beam: SegmentBeam) -> list[tuple[str, str, np.ndarray]]:
    """Return name, plane and axis of the joints of a hinge, in order from the root."""
    x, y = np.array(beam.axis, dtype=float), np.array(beam.lateral, dtype=float)
    about = {'v': np.cross(x, y), 'w': -y}
    planes = list(beam.bending_stiffness)
    if len(planes) == 1:
        return [('a', planes[0], about[planes[0]])]
    return [('a', 'w', about['w']), ('b', 'v', about['v']), ('c', 'w', about['w'])]


def _cut(
    robot: ET.Element, link: str, beam: SegmentBeam, refinement: int, coarsest: int
) -> np.ndarray:
    """Replace a link by its chain; return the nodes."""
    axis, origin = (np.array(v, dtype=float) for v in (beam.axis, beam.origin))
    children = {}
    for joint in robot.findall('joint'):
        if joint.find('parent').get('link') == link:
            child = joint.find('child').get('link')
            x = beam.attachments.get(child, axis @ (_vector(joint.find('origin')) - origin))
            children[child] = joint, min(max(x, 0.0), beam.length)
    nodes = _nodes(beam, [x for _, x in children.values()], refinement, coarsest)
    hinges = (nodes[1:] + nodes[:-1]) / 2
    starts = [np.zeros(3), *(origin + hinge * axis for hinge in hinges)]
    segments = [link]
    for k, start in enumerate(starts[1:]):
        parent, shift = segments[-1], start - starts[k]
        for part, _, about in _parts(beam):
            name = f'{link}/{k}{part}'
            _add_joint(robot, name, parent, shift, about)
            parent, shift = name, np.zeros(3)
        segments.append(parent)
    # Pieces end at nodes and hinges: children and stations are at nodes, mass is smooth between.
    x, masses = beam.pieces(np.sort(np.concatenate([nodes, hinges])))
    points = origin + x[..., None] * axis
    _add_masses(robot.find(f"link[@name='{link}']"), points, -masses)
    for k, (name, start) in enumerate(zip(segments, starts, strict=True)):
        mine = slice(max(2 * k - 1, 0), 2 * k + 1)
        _add_masses(robot.find(f"link[@name='{name}']"), points[mine] - start, masses[mine])
    for joint, x_child in children.values():
        k = int(np.abs(nodes - x_child).argmin())
        joint.find('parent').set('link', segments[k])
        frame = joint.find('origin')
        if frame is None:
            frame = ET.SubElement(joint, 'origin')
        frame.set('xyz', _text(_vector(frame) - starts[k]))
    return nodes


def _nodes(
    beam: SegmentBeam, sections: Sequence[float], refinement: int, coarsest: int
) -> np.ndarray:
    """Return the ends of the elements, equally spaced between stations and children."""
    marks = np.unique([0.0, beam.length, *beam.stations, *sections])
    nodes = [marks[:1]]
    for start, end in zip(marks[:-1], marks[1:], strict=True):
        count = refinement * max(1, round(coarsest * (end - start) / beam.length))
        nodes.append(np.linspace(start, end, count + 1)[1:])
    return np.concatenate(nodes)


def _add_joint(
    robot: ET.Element, name: str, parent: str, shift: np.ndarray, axis: np.ndarray
) -> None:
    """Append a hinge, and the link of the same name that it moves."""
    ET.SubElement(robot, 'link', name=name)
    joint = ET.SubElement(robot, 'joint', name=name, type='revolute')
    ET.SubElement(joint, 'parent', link=parent)
    ET.SubElement(joint, 'child', link=name)
    ET.SubElement(joint, 'origin', xyz=_text(shift))
    ET.SubElement(joint, 'axis', xyz=_text(axis))
    ET.SubElement(joint, 'limit', lower='-1', upper='1', effort='1', velocity='1')


def _add_masses(link: ET.Element, points: np.ndarray, masses: np.ndarray) -> None:
    """Add point masses, which may be negative, to the inertial of a link."""
    points, masses = points.reshape(-1, 3), masses.ravel()
    mass, first, second = masses.sum(), masses @ points, (points.T * masses) @ points
    inertial = link.find('inertial')
    if inertial is not None:
        m, c, moments = _inertial(inertial)
        mass, first = mass + m, first + m * c
        second = second + np.trace(moments) / 2 * np.eye(3) - moments + m * np.outer(c, c)
        link.remove(inertial)
    # A remainder without mass has no centre; its inertia does not depend on one.
    centre = first / mass if abs(mass) > 1e-9 * np.abs(masses).sum() else np.zeros(3)
    second = second - mass * np.outer(centre, centre)
    moments = np.trace(second) * np.eye(3) - second
    inertial = ET.SubElement(link, 'inertial')
    ET.SubElement(inertial, 'origin', xyz=_text(centre))
    ET.SubElement(inertial, 'mass', value=repr(float(mass)))
    rows = {f'i{"xyz"[a]}{"xyz"[b]}': moments[a, b] for a in range(3) for b in range(a, 3)}
    ET.SubElement(inertial, 'inertia', {key: repr(float(v)) for key, v in rows.items()})


def _inertial(inertial: ET.Element) -> tuple[float, np.ndarray, np.ndarray]:
    """Return mass, centre and inertia about it in link axes, of an <inertial> element."""
    frame, moments = inertial.find('origin'), inertial.find('inertia').attrib
    R = np.eye(3) if frame is None else pin.rpy.rpyToMatrix(_vector(frame, 'rpy'))
    entries = [[''.join(sorted(pair)) for pair in (f'{a}x', f'{a}y', f'{a}z')] for a in 'xyz']
    inertia = np.array([[float(moments[f'i{pair}']) for pair in row] for row in entries])
    return float(inertial.find('mass').get('value')), _vector(frame), R @ inertia @ R.T


def _vector(element: ET.Element | None, key: str = 'xyz') -> np.ndarray:
    text = '0 0 0' if element is None else element.get(key, '0 0 0')
    return np.array([float(part) for part in text.split()])


def _text(vector: np.ndarray) -> str:
    return ' '.join(repr(float(part)) for part in vector)
