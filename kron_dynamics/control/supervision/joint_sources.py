# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Detection of several publishers that publish the same joint."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from kron_dynamics.typing import FloatArray

# After this number of messages of others, following the first of them, a publisher is regarded as
# gone.
_GONE = 50


class _Joint:
    """Publishers of a joint's position: the last one, and others of the last messages."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.doubled = False
        self._alone = 0
        # For each other publisher the number of messages since its last one.
        self._others: dict[bytes, int] = {}

    def count_alone(self, messages: int) -> None:
        """Count consecutive messages of the last publisher; the others may be gone."""
        self._alone += messages
        self._age_others(messages)
        if self._alone >= _GONE:
            self.doubled = False

    def change(self, source: bytes) -> None:
        """Count a message of another publisher than the last one."""
        self._age_others(1)
        if self._others.pop(source, None) is not None:
            self.doubled = True
        self._others[self.source] = 0
        self.source, self._alone = source, 0

    def _age_others(self, messages: int) -> None:
        aged = ((source, since + messages) for source, since in self._others.items())
        self._others = {source: since for source, since in aged if since <= _GONE}


class JointSources:
    """Detects publishers, two or more, that publish the position of one joint in turn.

    A publisher that replaces another, as after a restart, is allowed; so are publishers that split
    the joints or quantities between them.
    """

    def __init__(self, joint_names: Sequence[str]) -> None:
        """Monitor these joints."""
        self._known = frozenset(joint_names)
        self._joints: dict[str, _Joint] = {}
        # Repeated messages of one publisher are only counted; the joints are updated at a change.
        self._last: tuple[Sequence[str], bytes] | None = None
        self._repeated = 0
        self._doubled: str | None = None

    @property
    def doubled(self) -> str | None:
        """A joint that several publishers publish now; None if there is none."""
        return self._doubled

    def note(
        self,
        names: Sequence[str],
        positions: Sequence[float] | FloatArray,
        source: bytes | None,
    ) -> None:
        """Register a message: its joints, their positions and its publisher, None if unknown."""
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
                joint.change(source)
        self._doubled = next((name for name, joint in self._joints.items() if joint.doubled), None)
