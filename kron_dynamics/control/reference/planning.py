# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What is known of a reference before it is followed, and while it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kron_dynamics.control.reference.trajectory import Trajectory
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.control.shaping.shape import ModesOf


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceBounds:
    """What a reference may be beside the limits of the machine.

    Attributes:
        start_delay: how far in the future it may start, s.
        duration: how long it may take, s.
        acceleration: of motions made here, stops and those to streamed points, shape (n,),
            rad/s^2 or m/s^2; None, or 0 for a joint, for what `acceleration_limits` derives.
    """

    start_delay: float = 600.0
    duration: float = 86400.0
    acceleration: FloatArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceShaping:
    """How references are shaped: kind of the `shaper`, modes as for `shape_trajectory`."""

    kind: str
    modes_of: ModesOf


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """What is followed from a time on.

    Attributes:
        start: on the states' clock, s.
        asked: the trajectory that was asked for.
        followed: what is followed for it: shaped, or the same.
        lasting: whether it is followed to its end unless something else is asked for; not where
            another one is expected before.
    """

    start: float
    asked: Trajectory
    followed: Trajectory
    lasting: bool = True

    @property
    def end(self) -> float:
        """When it has come to rest, on the states' clock, s."""
        return self.start + self.followed.duration

    @property
    def added_time(self) -> float:
        """By how much shaping made it longer, s."""
        return self.followed.duration - self.asked.duration


@dataclass(frozen=True, slots=True, eq=False)
class PlannedReference:
    """A reference that is to be shaped and checked, in any thread, before it is followed.

    Attributes:
        start: on the states' clock, s.
        finish: makes the reference of it; raises TrajectoryError where it is malformed, not where
            the present one is, or the machine cannot follow it, ModelError where its links give
            way.
    """

    start: float
    finish: Callable[[], Reference]
    _after: Reference
    _stops: int
