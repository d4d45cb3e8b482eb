# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""State of the whole machine, assembled from partial, unordered samples of several publishers.

Samples older than the last, and values that are not fresh, are treated here; faults from their
age in `ros/state_supervision.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from math import isfinite
from typing import NamedTuple

import numpy as np

from kron_dynamics.control.per_joint import repeated_names
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.model.robot_model import read_only
from kron_dynamics.typing import FloatArray, IndexArray

_QUANTITIES = ('position', 'velocity', 'effort')
# Size of the cache of name lists; bounded, because a publisher may send ever new ones.
_REMEMBERED_LAYOUTS = 32

# One number for each name of a sample, or none.
_Numbers = Sequence[float] | FloatArray
_Columns = tuple[IndexArray, IndexArray]


class SampleOutcome(Enum):
    """Result of merging a sample."""

    ACCEPTED = 'accepted'
    """At least one value was new and stored."""
    REJECTED = 'rejected'
    """No value was stored."""
    RESTARTED = 'restarted'
    """The publisher's clock stepped back: all older values were dropped, the sample was stored."""


class AssembledState(NamedTuple):
    """The joint state; values that are not fresh are NaN, never guessed.

    Attributes:
        joint_names: the n joints.
        q: positions, shape (n,), in rad or m.
        qd: velocities, shape (n,), in rad/s or m/s.
        effort: efforts, shape (n,), in N m or N.
        ages: age of the last value of each quantity (rows position, velocity, effort) and joint,
            shape (3, n), in s; inf if none was ever received.
        timeout: age, in s, above which a value is not fresh.
        is_new: whether all positions and velocities were received just now, in one sample.
    """

    joint_names: tuple[str, ...]
    q: FloatArray
    qd: FloatArray
    effort: FloatArray
    ages: FloatArray
    timeout: float
    is_new: bool = False

    @property
    def ready(self) -> bool:
        """Whether every joint has a fresh position and a fresh velocity."""
        return self.is_new or bool((self.ages[:2] <= self.timeout).all())

    def problem(self) -> str | None:
        """Return a message naming joints without fresh position or velocity; None if ready."""
        lacking: dict[str, list[str]] = {}
        for quantity, ages in zip(_QUANTITIES[:2], self.ages, strict=False):
            for name, age in zip(self.joint_names, ages, strict=True):
                if age == np.inf:
                    lacking.setdefault(f'{quantity} never received', []).append(name)
                elif not age <= self.timeout:
                    lacking.setdefault(f'{quantity} {age:.3g} s old', []).append(name)
        if not lacking:
            return None
        parts = '; '.join(f'{what} for {", ".join(names)}' for what, names in lacking.items())
        return f'joint states are not fresh (timeout {self.timeout:g} s): {parts}'


class JointStateAssembler:
    """Merges joint-state samples by name.

    Each quantity of each joint has its own age and its own order of stamps, so publishers may
    split the joints, or the quantities, between them. A value that is absent or not finite is
    ignored; the previous value is kept until it times out. Names of other joints are ignored.
    Velocities are never derived from positions. Samples that repeat a stamp are ignored, so the
    values time out: the sensor may be dead while its publisher still runs.

    Times ``now`` are readings of one steady clock, in s; stamps are of the publishers' clock.
    For one thread: `state`, too, changes what is stored.
    """

    def __init__(
        self, joint_names: Sequence[str], *, timeout: float, restart_after: float = 1.0
    ) -> None:
        """Make an assembler without any values.

        Args:
            joint_names: the n joints of the machine, in its order.
            timeout: age, in s, above which a value is not fresh; above 0.
            restart_after: a stamp older than the joint's last by more than this, in s, is treated
                as a restarted simulation or replay; one older by less as a late sample.

        Raises:
            ParameterError: a name is repeated or a time is not a positive number.
        """
        self.joint_names = tuple(joint_names)
        if repeated := repeated_names(self.joint_names):
            raise ParameterError(f'joint names are repeated: {repeated}')
        for label, value in (('timeout', timeout), ('restart_after', restart_after)):
            if not 0.0 < value < np.inf:
                raise ParameterError(f'{label} is {value} s, expected a time above 0')
        self._timeout = timeout
        self._restart_after = restart_after
        self._index = {name: i for i, name in enumerate(self.joint_names)}
        self._layouts: dict[tuple[str, ...], _Columns | str] = {}
        self._rejections: dict[str, int] = {}
        # Rows position, velocity, effort; a column per joint.
        shape = (len(_QUANTITIES), len(self.joint_names))
        self._values = np.full(shape, np.nan)
        self._stamps = np.full(shape, -np.inf)
        self._times = np.full(shape, -np.inf)
        self._latest = -np.inf
        # Names of a sample of all joints (the tuple is compared by identity) and the order that
        # sorts them; then the state made from the last such sample.
        self._whole: tuple[Sequence[str], Sequence[int]] | None = None
        self._newest: AssembledState | None = None
        self._newest_at = -np.inf
        self._no_age = read_only(np.zeros(shape))
        # For machines that have not published efforts.
        self._no_effort = read_only(np.full(shape[1], np.nan))
        self._no_age_but_effort = read_only(np.repeat([[0.0], [0.0], [np.inf]], shape[1], axis=1))

    @property
    def rejections(self) -> Mapping[str, int]:
        """Number of samples refused, wholly or in part, for each reason."""
        return dict(self._rejections)

    @property
    def last_position(self) -> FloatArray:
        """Last known positions, shape (n,), of any age; NaN where none was ever received."""
        self._store_newest()
        return np.array(self._values[0])

    def reset(self) -> None:
        """Forget every value; the rejection counts are kept."""
        self._values.fill(np.nan)
        self._stamps.fill(-np.inf)
        self._times.fill(-np.inf)
        self._latest = -np.inf
        self._newest = None

    def update(
        self,
        names: Sequence[str],
        positions: _Numbers,
        velocities: _Numbers,
        efforts: _Numbers,
        *,
        stamp: float | None,
        now: float,
    ) -> SampleOutcome:
        """Merge the usable values of a sample; return the outcome.

        Args:
            names: joints of the sample, in any order.
            positions: one for each name, or empty; in rad or m.
            velocities: one for each name, or empty; in rad/s or m/s.
            efforts: one for each name, or empty; in N m or N.
            stamp: time of the measurement, publisher's clock, in s; None if unknown, which skips
                the check of the order.
            now: steady time of arrival, in s.
        """
        given = (positions, velocities, efforts)
        if self._whole is not None and names is self._whole[0]:
            if self._take_whole(given, self._whole[1], stamp, now):
                return SampleOutcome.ACCEPTED
        self._store_newest()
        columns = self._columns(names, given)
        if isinstance(columns, str):
            return self.reject(columns)
        if not all(map(isfinite, (stamp or 0.0, now))):
            return self.reject('time not finite')
        source, target = columns
        if len(names) == len(self.joint_names) == len(target) and isinstance(names, tuple):
            self._whole = names, np.argsort(target).tolist()
        data = np.full((len(given), len(source)), np.nan)
        for row, values in enumerate(given):
            if len(values):
                data[row] = np.asarray(values, dtype=np.float64)[source]
        fresh = np.isfinite(data)
        if any(len(values) and not fresh[row].all() for row, values in enumerate(given)):
            self._count('value not finite')
        restarted = False
        if stamp is not None:
            behind = self._stamps[:, target] - stamp
            if (behind[fresh] > self._restart_after).any():
                self.reset()
                restarted = True
            elif (behind[fresh] >= 0.0).any():
                self._count('stamp repeated' if (behind[fresh] == 0.0).any() else 'stamp late')
                fresh &= behind < 0.0
        rows, kept = np.nonzero(fresh)
        if not rows.size:
            return SampleOutcome.REJECTED
        where = rows, target[kept]
        self._values[where] = data[rows, kept]
        self._times[where] = now
        if stamp is not None:
            self._stamps[where] = stamp
            self._latest = max(stamp, self._latest)
        return SampleOutcome.RESTARTED if restarted else SampleOutcome.ACCEPTED

    def _take_whole(
        self,
        given: tuple[_Numbers, ...],
        order: Sequence[int],
        stamp: float | None,
        now: float,
    ) -> bool:
        """Take a valid sample of all joints that is newer than all before; return whether it was.

        Fast path of nearly every sample, without checks per joint. The sample must contain efforts
        once an effort has been received.
        """
        if stamp is None or not self._latest < stamp < np.inf or not isfinite(now):
            return False
        without_effort = not (len(given[2]) or self._knows_efforts())
        received = given[:2] if without_effort else given
        for values in received:
            if len(values) != len(order) or not all(map(isfinite, values)):
                return False
        rows = np.array([[values[k] for k in order] for values in received], np.float64)
        if without_effort:
            effort, ages = self._no_effort, self._no_age_but_effort
        else:
            effort, ages = rows[2], self._no_age
        self._newest = AssembledState(
            self.joint_names, rows[0], rows[1], effort, ages, self._timeout, is_new=True
        )
        self._newest_at, self._latest = now, stamp
        return True

    def _knows_efforts(self) -> bool:
        if self._newest is not None:
            return self._newest.effort is not self._no_effort
        return bool(self._times[2].max() > -np.inf)

    def _store_newest(self) -> None:
        """Copy the state of the last whole sample to the arrays of values per joint."""
        if self._newest is not None:
            known = len(_QUANTITIES) if self._knows_efforts() else 2
            self._values[:] = self._newest.q, self._newest.qd, self._newest.effort
            self._times[:known] = self._newest_at
            self._stamps[:known] = self._latest
            self._newest = None

    def state(self, now: float) -> AssembledState:
        """Return the state at steady time ``now``, with NaN for values that are not fresh."""
        if self._newest is not None and now == self._newest_at:
            return self._newest
        self._store_newest()
        ages = now - self._times
        q, qd, effort = np.where(ages <= self._timeout, self._values, np.nan)
        return AssembledState(self.joint_names, q, qd, effort, ages, self._timeout)

    def _columns(self, names: Sequence[str], given: tuple[_Numbers, ...]) -> _Columns | str:
        """Return source and target indices of the sample's values, or why it is refused."""
        lengths = {len(values) for values in given} - {0}
        if lengths != {len(names)}:
            return 'wrong length' if lengths else 'no values'
        layout = tuple(names)
        if layout not in self._layouts:
            if len(self._layouts) >= _REMEMBERED_LAYOUTS:
                self._layouts.clear()
            self._layouts[layout] = self._layout_columns(layout)
        return self._layouts[layout]

    def _layout_columns(self, names: tuple[str, ...]) -> _Columns | str:
        source = [i for i, name in enumerate(names) if name in self._index]
        if not source:
            return 'no known joint'
        if repeated_names([names[i] for i in source]):
            return 'joint repeated'
        target = [self._index[names[i]] for i in source]
        return np.array(source, dtype=np.intp), np.array(target, dtype=np.intp)

    def reject(self, reason: str) -> SampleOutcome:
        """Count a sample that is not to be merged; return that it was refused."""
        self._count(reason)
        return SampleOutcome.REJECTED

    def _count(self, reason: str) -> None:
        self._rejections[reason] = self._rejections.get(reason, 0) + 1
