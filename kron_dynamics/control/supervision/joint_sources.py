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


class JointSources:
    """Notices that several publishers give the position of one joint in turn.

    A publisher that takes over from another, as after a restart, is no problem, nor are those that
    share joints or quantities between them.
    """

    def __init__(self, joint_names: Sequence[str]) -> None:
        """Watch over these joints."""
        self._known = frozenset(joint_names)
        self._joints: dict[str, _Joint] = {}

    @property
    def doubled(self) -> str | None:
        """A joint that two publishers give now; None where each has one."""
        return next((name for name, joint in self._joints.items() if joint.doubled), None)

    def note(
        self,
        names: Sequence[str],
        positions: Sequence[float] | FloatArray,
        source: bytes | None,
    ) -> None:
        """Take a message: its joints, their positions, and who sent it, None where not known."""
        if source is None or len(positions) != len(names):
            return
        for name, position in zip(names, positions, strict=True):
            if name not in self._known or not isfinite(position):
                continue
            joint = self._joints.get(name)
            if joint is None:
                self._joints[name] = _Joint(source)
            elif source == joint.source:
                joint.alone += 1
                if joint.alone >= _GONE:
                    joint.before, joint.doubled = None, False
            else:
                joint.doubled = source == joint.before
                joint.source, joint.before, joint.alone = source, joint.source, 0
