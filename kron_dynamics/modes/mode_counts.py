# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Check that flexible links have enough modes for accurate frequencies.

The modes of a clamped link differ from those of a link on a light rotating hub or on another
flexible link: several of them are needed to represent one mode of the robot. The robot is
therefore compared with a reference whose links have more modes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kron_dynamics.dynamics import linearization
from kron_dynamics.exceptions import ModelError, ModelWarning, ParameterError
from kron_dynamics.messages import clipped, named, shown
from kron_dynamics.model import RobotModel
from kron_dynamics.model.beam_properties import PLANES
from kron_dynamics.model.flexible_description import (
    MOST_MODES,
    flexible_content,
    read_flexible,
)
from kron_dynamics.modes.mode_map import pose
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Additional modes in each plane of the reference, which is assumed accurate.
_MORE = 3
# Frequencies below this share of the lowest one with held joints are rigid-body swings.
_SWINGS = 1e-2

Counts = Mapping[tuple[str, str], int]  # by link and plane


class _Compared(NamedTuple):
    """Frequencies of a mode of the robot, with fewer modes of links and in the reference.

    Attributes:
        free: whether the joints are free.
        frequency: frequency with fewer modes, Hz.
        enough: frequency of the reference, Hz.
    """

    free: bool
    frequency: float
    enough: float

    @property
    def error(self) -> float:
        """Relative error of the frequency; infinite if the mode is missing."""
        return abs(self.frequency / self.enough - 1)


def check_mode_counts(
    loaded: Callable[[Mapping[str, object]], Robot],
    flexible: str | Path | Mapping[str, object],
    *,
    at: Mapping[str, float] | None = None,
    vibrations: int = 1,
    tolerance: float = 0.01,
) -> list[ModelWarning]:
    """Return warnings about links with too few modes; empty if all have enough.

    The frequencies, with joints held and with joints free, are compared with those of the same
    robot with three more modes in each plane of its links, at most 20 (planes with 20 are not
    checked), about undeformed links. It costs one load and one uncompiled linearization.

    The highest mode of a plane is always the least accurate, so only the first vibrations of each
    plane are compared: the first of them may need two modes, the first two three.

    Args:
        loaded: function that loads the robot with a given description of its flexible links, such
            as ``lambda flexible: kd.load('robot.urdf', flexible=flexible)``.
        flexible: the description: a path, or the mapping that such a file holds.
        at: positions of joints, rad or m; see `pose`.
        vibrations: number of vibrations in each plane of each link that must be accurate, 1 or
            more, limited by the described number of modes.
        tolerance: allowed relative error of a frequency, unit 1.

    Returns:
        a `ModelWarning` of the kind 'too_few_modes' for each plane of a link that needs more.

    Raises:
        ParameterError: the robot has no such joint or no flexible links, or `vibrations` or the
            tolerance is not positive.
        ModelError: the description is unusable, or the links buckle when held straight.
    """
    if not tolerance > 0:
        raise ParameterError(f'tolerance is {tolerance:g}, expected a positive number')
    if vibrations < 1:
        raise ParameterError(f'vibrations is {vibrations}, expected 1 or more')
    content = flexible_content(flexible)
    given = {
        (link.link, plane): count
        for link in read_flexible(content)
        for plane, count in link.modes.items()
    }
    wanted = {place: min(count, vibrations) for place, count in given.items()}
    most = {place: min(count + _MORE, MOST_MODES) for place, count in given.items()}
    model = loaded(_with_modes(content, most)).model
    richest = _Richest.of(model, pose(model, at), most)
    needed = dict(given)
    while _excess(richest.errors(wanted, needed), tolerance) > 0 and needed != most:
        needed = min(
            _with_one_more(needed, most),
            key=lambda counts: _excess(richest.errors(wanted, counts), tolerance),
        )
    found = []
    for place, count in needed.items():
        if count != (had := given[place]):
            compared = richest.errors(wanted, {**most, place: had})
            found.append(_too_few(*place, had, count, max(compared, key=lambda one: one.error)))
    return found


def _too_few(link: str, plane: str, had: int, needed: int, worst: _Compared) -> ModelWarning:
    """Return the warning about a plane of a link with too few modes."""
    joints = f'joints {"free" if worst.free else "held"}'
    there = f'with {had} mode{"s" * (had > 1)} in plane {plane}'
    if np.isfinite(worst.error):
        finding = (
            f'{there} a frequency is {worst.frequency:.4g} Hz instead of {worst.enough:.4g} Hz, '
            f'{joints}: {100 * worst.error:.3g} % off'
        )
    else:
        finding = f'{there} the vibration of {worst.enough:.4g} Hz, {joints}, is missing'
    cure = f'take {needed} modes in plane {plane}'
    return ModelWarning('too_few_modes', named('flexible link', link), finding, cure)


@dataclass(frozen=True, slots=True, eq=False)
class _Richest:
    """The reference with the most modes; models with fewer are submatrices of its matrices.

    Attributes:
        mass: M, shape (n, n).
        stiffness: K, shape (n, n).
        joints: number of joint coordinates, which come first.
        places: indices of the modal coordinates by link and plane.
    """

    mass: FloatArray
    stiffness: FloatArray
    joints: int
    places: Mapping[tuple[str, str], Sequence[int]]

    @classmethod
    def of(cls, model: RobotModel, q: FloatArray, counts: Counts) -> _Richest:
        """Return the linearization of the robot in a pose, with undeformed links.

        Raises:
            ParameterError: no link is flexible.
            ModelError: the links buckle.
        """
        if not model.is_flexible:
            raise ParameterError('loaded gives a robot without flexible links')
        names = model.joint_names
        places = {
            (link, plane): [names.index(f'{link}/{plane}{k + 1}') for k in range(count)]
            for (link, plane), count in counts.items()
        }
        rest = np.zeros(model.n)
        straight = np.concatenate([q, rest[len(q) :]])
        M, _, K, _ = linearization(model, straight, rest, rest)
        richest = cls(M, (K + K.T) / 2, len(q), places)
        if richest._modes({}, False)[0][0] <= 0.0:
            raise ModelError(
                f"no stable equilibrium of the straight flexible links of '{clipped(model.name)}' "
                f'at q = {shown(q.tolist())}: their stiffness does not carry this load'
            )
        return richest

    def errors(self, wanted: Counts, counts: Counts) -> list[_Compared]:
        """Return the wanted modes with other counts of link modes, and in the reference.

        Args:
            wanted: numbers of vibrations that must be accurate.
            counts: numbers of link modes to evaluate.
        """
        found = []
        lowest = self._modes(wanted, False)[0][0]
        for free in (True, False) if self.joints else (False,):
            reference, shapes = self._modes({}, free)
            asked = _partners(self._modes(wanted, free)[1], shapes, self.mass)
            squares, parts = self._modes(counts, free)
            partners = _partners(parts, shapes, self.mass)
            for k in asked:
                if reference[k] < _SWINGS**2 * lowest:
                    continue
                # A missing mode has an infinite frequency, and so an infinite error.
                square = squares[partners.index(k)] if k in partners else np.inf
                pair = np.sqrt([square, reference[k]]) / (2 * np.pi)
                found.append(_Compared(free, float(pair[0]), float(pair[1])))
        return found

    def _modes(self, counts: Counts, free: bool) -> tuple[FloatArray, FloatArray]:
        """Return ascending squared frequencies, (m,), and shapes in all coordinates, (n, m).

        Args:
            counts: numbers of link modes; all modes of planes that are not named.
            free: whether the joints are free.
        """
        from scipy.linalg import eigh  # takes long to import

        kept = list(range(self.joints)) if free else []
        for place, indices in self.places.items():
            kept += indices[: counts.get(place, len(indices))]
        block = np.ix_(kept, kept)
        squares, vectors = eigh(self.stiffness[block], self.mass[block])
        shapes = np.zeros((len(self.mass), len(kept)))
        shapes[kept] = vectors
        return squares, shapes


def _partners(shapes: FloatArray, reference: FloatArray, mass: FloatArray) -> list[int]:
    """Return the index of the reference mode assigned to each mode by the best total overlap."""
    from scipy.optimize import linear_sum_assignment  # takes long to import

    overlap = shapes.T @ mass @ reference
    return [int(k) for k in linear_sum_assignment(-(overlap**2))[1]]


def _excess(compared: Sequence[_Compared], tolerance: float) -> float:
    return float(sum(max(0.0, one.error - tolerance) for one in compared))


def _with_one_more(counts: Counts, most: Counts) -> Iterator[dict[tuple[str, str], int]]:
    for place, count in counts.items():
        if count < most[place]:
            yield {**counts, place: count + 1}


def _with_modes(
    document: Mapping[str, Any], counts: Counts
) -> dict[str, dict[str, dict[str, object]]]:
    """Return a valid description with other numbers of modes and without damping."""
    links = {}
    for link, entries in document['flexible_links'].items():
        links[link] = {k: v for k, v in entries.items() if k not in ('damping_ratio', 'damping')}
        links[link]['modes'] = {p: counts[link, p] for p in PLANES if (link, p) in counts}
    return {'flexible_links': links}
