# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Plausibility checks of measured states, and checks of position and velocity limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kron_dynamics.control.turns import shorter_way, whole_turns
from kron_dynamics.model import RobotModel
from kron_dynamics.model.joint_kinds import endless
from kron_dynamics.typing import BoolArray, FloatArray, IntArray

# Multiple of the velocity limit that not even a runaway machine exceeds.
_ABSURD = 10.0
# Largest plausible position, rad or m: up to here a float64 resolves a micrometre.
_LARGEST = 1e9
# Largest plausible speed between two states, as a multiple of the velocity limit.
_QUICKEST = 2.0
# Allowed position error from noise and stamp jitter: the motion in this time, s, at the velocity
# limit.
_SLACK = 0.05
# Largest default position margin as the motion in this time, s, at the velocity limit.
_LONGEST_WAY = 1.0
# Default position margin with closed loops, as a share of the range of a drive.
_LOOP_MARGIN = 0.001
# Consecutive states above the velocity limit that are not explained by noise.
_IN_A_ROW = 3


class Verdict(NamedTuple):
    """Result of the plausibility check of a state.

    Attributes:
        plausible: whether the state can be true.
        problem: why it is not plausible, or which limit a plausible state violates, or None.
    """

    plausible: bool
    problem: str | None


_ORDINARY = Verdict(True, None)


class StateGate:
    """Checks each measured state against the joint limits and the last plausible state.

    A state is implausible if a position changed by more than the joint can move in the elapsed
    time, if a velocity is far beyond its limit, or high while the position does not change, or if
    a position is outside its range by more than the range's width. States are compared with the
    last plausible one. So a re-zeroed encoder becomes plausible again after a while, which is
    reported as a problem, because whatever follows the measured position would jump with it.

    A plausible state has a problem if a joint is outside its range by more than a margin, or
    exceeds its velocity limit in three consecutive states.
    """

    def __init__(
        self,
        model: RobotModel,
        *,
        position_margin: FloatArray,
        position_jump: FloatArray,
        velocity_factor: float,
    ) -> None:
        """Make a gate without a previous state.

        Args:
            model: model with the limits.
            position_margin: allowed distance of joints outside their range, shape (n,), rad or m;
                inf for no check.
            position_jump: allowed change of positions between two states, beyond the motion at
                twice the velocity limit, shape (n,), rad or m; inf for no check.
            velocity_factor: allowed multiple of the velocity limit, 1 or more; inf for no check.
        """
        self._model = model
        self._names = model.joint_names
        self._lower, self._upper = model.position_lower, model.position_upper
        self._velocity_limit = model.velocity_limit
        self._margin = position_margin
        self._jump = position_jump
        self._factor = velocity_factor
        self._turns = whole_turns(endless(model.joint_types))
        # Positions of the last plausible state, and when they were measured.
        self._last: tuple[Sequence[float], Sequence[float]] | None = None
        self._quick: IntArray = np.zeros(len(self._names), dtype=np.int64)
        self._too_fast_before = False
        self._jumped = False
        quickest = np.minimum(_QUICKEST * self._velocity_limit, 1e300)
        lower, upper = (np.clip(v, -_LARGEST, _LARGEST) for v in (self._lower, self._upper))
        # Bounds per joint for the fast check.
        bounds = (
            (lower + upper) / 2,
            (upper - lower) / 2,
            self._velocity_limit,
            quickest,
            position_jump,
        )
        self._bounds = list(zip(*(row.tolist() for row in bounds), strict=True))

    def reset(self) -> None:
        """Forget the previous states: the next one is not compared with them."""
        self._last = None
        self._quick[:] = 0
        self._too_fast_before = self._jumped = False

    def judge(self, q: FloatArray, qd: FloatArray, stamps: Sequence[float]) -> Verdict:
        """Return whether a state is plausible, and its problem.

        Args:
            q: measured positions, shape (n,), rad or m, finite.
            qd: measured velocities, shape (n,), finite.
            stamps: time of each of the n positions, s, as publishers may split the joints.
        """
        positions = q.tolist()
        if not self._jumped and self._is_ordinary(positions, qd, stamps):
            self._last = positions, stamps
            return _ORDINARY
        with np.errstate(over='ignore', invalid='ignore'):
            reason = self._implausibility(q, qd, stamps)
            if reason is not None:
                return Verdict(False, reason)
            problem = self._lasting_jump(q) if self._jumped else None
            self._last, self._jumped = (positions, stamps), False
            return Verdict(True, problem or self._counted_violation(q, qd))

    def _is_ordinary(
        self, positions: Sequence[float], qd: FloatArray, stamps: Sequence[float]
    ) -> bool:
        """Whether a state is within all limits, without wrap-around of a continuous joint.

        Fast check: nearly every state passes it and needs no other.
        """
        if self._last is None or self._too_fast_before:
            return False
        # Plain floats: for few joints they are faster than NumPy, whose functions first have to
        # be loaded into the processor's cache after a pause.
        for x, v, time, was, then, (middle, half, limit, quickest, jump) in zip(
            positions, qd.tolist(), stamps, *self._last, self._bounds, strict=True
        ):
            in_limits = abs(x - middle) <= half and abs(v) <= limit
            if not (in_limits and abs(x - was) <= quickest * max(time - then, 0.0) + jump):
                return False
        return True

    def _implausibility(
        self, q: FloatArray, qd: FloatArray, stamps: Sequence[float]
    ) -> str | None:
        limit = self._velocity_limit
        speed = np.abs(qd)
        far, absurd = impossible(self._model, q, qd)
        far, absurd = far & np.isfinite(self._margin), absurd & np.isfinite(self._factor)
        if far.any():
            return self._position(q, far, 'is far outside')
        if absurd.any():
            return self._velocity(qd, absurd, f'more than {_ABSURD:g} times its limit')
        if self._last is None:
            return None
        before = np.array(self._last[0])
        elapsed = np.maximum(np.subtract(stamps, self._last[1]), 0.0)
        step = np.abs(shorter_way(q - before, self._turns))
        if (jumped := step > _QUICKEST * limit * elapsed + self._jump).any():
            k, self._jumped = int(np.argmax(jumped)), True
            return (
                f"position of joint '{self._names[k]}' jumped from {before[k]:.6g} to {q[k]:.6g} "
                f'in {elapsed[k]:.3g} s, its velocity limit is {limit[k]:.4g}'
            )
        # The position changed by less than a tenth of the velocity's integral.
        standing = step < 0.1 * speed * elapsed
        odd = (speed > _QUICKEST * limit) & standing & (elapsed > 0.0)
        if np.isfinite(self._factor) and odd.any():
            return self._velocity(qd, odd, 'its position hardly moves')
        return None

    def _lasting_jump(self, q: FloatArray) -> str | None:
        """Problem of a position that jumped and did not return; None if it returned."""
        assert self._last is not None  # the state before the jump
        before = np.array(self._last[0])
        moved = np.abs(shorter_way(q - before, self._turns)) > self._jump
        if not moved.any():
            return None
        k = int(np.argmax(moved))
        return (
            f"position of joint '{self._names[k]}' jumped from {before[k]:.6g} and stayed at "
            f'{q[k]:.6g}: the encoder was re-zeroed, or the joint moved undetected'
        )

    def violation(self, q: FloatArray, qd: FloatArray) -> str | None:
        """Return why commands must not start from a plausible state; None if they may.

        The reason is a joint outside its range by more than the margin, or above its velocity
        limit.

        Args:
            q: measured positions, shape (n,), rad or m, finite.
            qd: measured velocities, shape (n,), finite.
        """
        return self._violation(q, qd, self._too_quick(qd))

    def _counted_violation(self, q: FloatArray, qd: FloatArray) -> str | None:
        quick = self._too_quick(qd)
        self._quick = np.where(quick, self._quick + 1, 0)
        self._too_fast_before = bool(quick.any())
        return self._violation(q, qd, self._quick >= _IN_A_ROW)

    def _too_quick(self, qd: FloatArray) -> BoolArray:
        return np.abs(qd) > self._factor * self._velocity_limit

    def _violation(self, q: FloatArray, qd: FloatArray, quick: BoolArray) -> str | None:
        outside = (q < self._lower - self._margin) | (q > self._upper + self._margin)
        if outside.any():
            return self._position(q, outside, 'is outside')
        if quick.any():
            return self._velocity(qd, quick, f'{self._factor:g} times that is allowed')
        return None

    def _position(self, q: FloatArray, which: BoolArray, how: str) -> str:
        k = int(np.argmax(which))
        return (
            f"position of joint '{self._names[k]}' is {q[k]:.6g}, which {how} its range "
            f'{self._lower[k]:.4g} to {self._upper[k]:.4g}'
        )

    def _velocity(self, qd: FloatArray, which: BoolArray, why: str) -> str:
        k = int(np.argmax(which))
        return (
            f"velocity of joint '{self._names[k]}' is {qd[k]:.4g}, its limit is "
            f'{self._velocity_limit[k]:.4g}: {why}'
        )


def impossible(model: RobotModel, q: FloatArray, qd: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Return masks of physically impossible positions and velocities, shape (n,) each.

    Impossible are positions outside the range by more than its width or beyond 1e9, and velocities
    above ten times the limit.

    Args:
        model: model with the limits.
        q: positions, shape (n,), rad or m.
        qd: velocities, shape (n,).
    """
    lower, upper = model.position_lower, model.position_upper
    way = np.where(np.isfinite(upper - lower), upper - lower, np.inf)
    far = (q < lower - way) | (q > upper + way) | (np.abs(q) > _LARGEST)
    return far, np.abs(qd) > _ABSURD * model.velocity_limit


def position_margins(model: RobotModel) -> FloatArray:
    """Return the default margin of positions outside the range, shape (n,), rad or m.

    2 % of the range, but at most the motion in 1 s at the velocity limit, as on long rails, and at
    least that in 50 ms: with calibrated sensors, no joint rests further outside. With closed loops
    0.1 % of the range, because the loops cannot be closed far outside it and the equations have no
    meaning there.
    """
    way = model.position_upper - model.position_lower
    if model.has_closed_loops:
        return np.maximum(np.where(np.isfinite(way), _LOOP_MARGIN * np.abs(way), 1.0), 1e-6)
    share = np.where(np.isfinite(way), 0.02 * np.abs(way), 0.0)
    limit = model.velocity_limit
    share = np.minimum(share, np.where(limit > 0.0, _LONGEST_WAY * limit, np.inf))
    jump = position_jumps(model)
    return np.maximum(np.maximum(share, np.where(np.isfinite(jump), jump, 0.0)), 1e-6)


def position_jumps(model: RobotModel) -> FloatArray:
    """Return the default allowed position jump between two states, shape (n,), rad or m.

    The motion in 50 ms at the velocity limit; inf for joints without a velocity limit.
    """
    jump = _SLACK * model.velocity_limit
    return np.where(jump > 0.0, jump, np.inf)
