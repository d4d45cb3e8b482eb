# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Noticing that two publishers give the same joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from kron_dynamics.typing import FloatArray

# Messages of one publisher alone after which the other one is taken to be gone.
_GONE = 50


@dataclass(slots=True)
class _Joint:
    """Who gave a joint's position last, who before, and how often since."""

    source: bytes
    before: bytes | None = None
    alone: int = 0
    doubled: bool = False

    def count_alone(self, messages: int) -> None:
        """Note messages of the same publisher, after which the other one may be gone."""
        self.alone += messages
        if self.alone >= _GONE:
            self.before, self.doubled = None, False


class JointSources:
    """Notices that several publishers give the position of one joint in turn.

    A publisher that takes over from another, as after a restart, is no problem, nor are those that
    share joints or quantities between them.
    """

    def __init__(self, joint_names: Sequence[str]) -> None:
        """Watch over these joints."""
        self._known = frozenset(joint_names)
        self._joints: dict[str, _Joint] = {}
        # What one publisher repeats is counted, and told to its joints when something changes.
        self._last: tuple[Sequence[str], bytes] | None = None
        self._repeated = 0
        self._doubled: str | None = None

    @property
    def doubled(self) -> str | None:
        """A joint that two publishers give now; None where each has one."""
        return self._doubled

    def note(
        self,
        names: Sequence[str],
        positions: Sequence[float] | FloatArray,
        source: bytes | None,
    ) -> None:
        """Take a message: its joints, their positions, and who sent it, None where not known."""
        if source is None or len(positions) != len(names):
            return
        last = self._last
        if last is not None and names is last[0] and source == last[1] and not self._doubled:
            self._repeated += 1
            return
        if last is not None:
            for name in last[0]:
                if (joint := self._joints.get(name)) is not None and joint.source == last[1]:
                    joint.count_alone(self._repeated)
        self._last, self._repeated = (names, source), 0
        for name, position in zip(names, positions, strict=True):
            if name not in self._known or not isfinite(position):
                continue
            joint = self._joints.get(name)
            if joint is None:
                self._joints[name] = _Joint(source)
            elif source == joint.source:
                joint.count_alone(1)
            else:
                joint.doubled = source == joint.before
                joint.source, joint.before, joint.alone = source, joint.source, 0
        self._doubled = next((name for name, joint in self._joints.items() if joint.doubled), None)
