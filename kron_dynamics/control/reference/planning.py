# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Data of references: bounds, shaping, planned references and references being followed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from kron_dynamics.control.reference.trajectory import Trajectory
from kron_dynamics.exceptions import LateTrajectoryError, NonFiniteError, TrajectoryError
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.control.shaping.shape import ModesOf

# Largest transport delay, s, of a reference stamped with the sender's present time; it then starts
# at once. An older one is refused, because it would begin with a jump.
_LATEST_START = 0.5


class ReferenceBounds(NamedTuple):
    """Bounds of references in addition to the limits of the machine.

    Attributes:
        start_delay: longest time until the start, s.
        duration: longest duration, s.
        acceleration: acceleration limits of generated motions (stops, motions to streamed
            setpoints), shape (n,), rad/s^2 or m/s^2; None, or 0 for a joint, for the limits that
            `acceleration_limits` derives.
    """

    start_delay: float = 600.0
    duration: float = 86400.0
    acceleration: FloatArray | None = None

    def check_duration(self, end: float) -> None:
        """Raise TrajectoryError if a reference takes too long until its end, s."""
        if end > self.duration:
            raise TrajectoryError(
                f'reference takes {end:.6g} s, expected at most {self.duration:g} s'
            )

    def check_start(self, start: float, now: float | None) -> None:
        """Check a start time on the states' clock against the present time there, s each.

        Args:
            start: start time.
            now: present time; None if it is not known yet.

        Raises:
            NonFiniteError: the start is NaN.
            LateTrajectoryError: the start is too far in the past to begin now instead.
            TrajectoryError: it is too far in the future.
        """
        if start != start:
            raise NonFiniteError('reference starts at time NaN')
        if now is None:
            return
        late = now - start
        if late > _LATEST_START:
            raise LateTrajectoryError(
                f'reference starts {late:.3g} s in the past, expected at most {_LATEST_START:g} s'
            )
        if -late > self.start_delay:
            raise TrajectoryError(
                f'reference starts {-late:.6g} s in the future, expected at most '
                f'{self.start_delay:g} s'
            )


class ReferenceShaping(NamedTuple):
    """Shaping of references: kind of the `shaper`, and modes as for `shape_trajectory`."""

    kind: str
    modes_of: ModesOf

    def start_after(self, present: Reference, start: float) -> float:
        """Return the start of a reference that replaces the present one, s.

        Nothing of an unshaped stop arrives later, so that only its end can be shaped onwards from.

        Args:
            present: the reference that it continues.
            start: the start asked for, on the states' clock, s.

        Raises:
            TrajectoryError: the present reference is an unshaped stop that ends too long after it.
        """
        if present.shaped or not present.followed.sample(start - present.start)[1].any():
            return start
        late = present.end - start
        if late > _LATEST_START:
            raise TrajectoryError(
                f'the machine is in a stop that is not shaped, which ends {late:.3g} s after the '
                f'start of the reference, expected at most {_LATEST_START:g} s: it is shaped from '
                'rest'
            )
        return present.end

    def shaped(
        self, start: float, asked: Trajectory, past: list[Reference], present: Reference
    ) -> Trajectory:
        """Return the trajectory that is followed for a requested one.

        Args:
            start: start time on the states' clock, s.
            asked: the requested trajectory.
            past: references whose shaped copies still act at the start.
            present: the reference that it continues.
        """
        from kron_dynamics.control.shaping.shape import shape_trajectory  # see load_solvers

        q, qd, qdd = present.followed.sample(start - present.start)
        # The new reference may differ by whole turns of continuous joints.
        turns = asked.sample(0.0)[0] - present.asked.sample(start - present.start)[0]
        return shape_trajectory(
            asked,
            self.modes_of,
            self.kind,
            past=[(reference.start - start, reference.asked) for reference in past],
            start=(q + turns, qd, qdd),
        )


class Reference(NamedTuple):
    """A trajectory followed from a start time on.

    Attributes:
        start: start time on the states' clock, s.
        asked: the requested trajectory.
        followed: the trajectory that is followed: the requested one after shaping, or the same.
        lasting: whether it is followed to its end unless replaced; False for streamed setpoints,
            where the next reference is expected before the end.
    """

    start: float
    asked: Trajectory
    followed: Trajectory
    lasting: bool = True

    @property
    def end(self) -> float:
        """Time at which the machine has come to rest, on the states' clock, s."""
        return self.start + self.followed.duration

    @property
    def shaped(self) -> bool:
        """Whether shaping made the followed trajectory from the requested one."""
        return self.followed is not self.asked

    @property
    def added_time(self) -> float:
        """Time that shaping added to the duration, s."""
        return self.followed.duration - self.asked.duration

    def delayed(self, late: float) -> Reference:
        """Return the reference with a start that is later by a time, s."""
        return self._replace(start=self.start + late)


@dataclass(frozen=True, slots=True, eq=False)
class PlannedReference:
    """A reference that has to be shaped and checked, in any thread, before it can be followed.

    Attributes:
        start: start time on the states' clock, s.
        finish: makes the reference. It raises TrajectoryError if the points are malformed, do not
            continue the present reference or exceed the limits, and ModelError if flexible links
            lose stability; for a stop it does not raise.
    """

    start: float
    finish: Callable[[], Reference]
    _after: Reference
    _holds: int
    _is_stop: bool = False


def still_arriving(followed: Sequence[Reference], time: float) -> list[Reference]:
    """Return the references whose delayed copies from the shaper may still act at a time.

    Args:
        followed: one or more references followed one after the other, the present one last.
        time: s.
    """
    # Factor 2: mode frequencies vary, so a delay may exceed the one at the end of a motion.
    longest = 2.0 * max(reference.added_time for reference in followed)
    arriving: list[Reference] = []
    until = time
    for reference in reversed(followed):
        late = longest if reference.shaped else 0.0
        if min(until, reference.start + reference.asked.duration) + late <= time:
            break
        arriving.insert(0, reference)
        if not reference.shaped:  # nothing of what came before it arrives any more
            break
        until = reference.start
    return arriving
