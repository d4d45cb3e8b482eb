# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a measured state can be true, and whether a machine may be there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kron_dynamics.control.turns import shorter_way, whole_turns
from kron_dynamics.model import RobotModel
from kron_dynamics.model.joint_kinds import endless
from kron_dynamics.typing import BoolArray, FloatArray, IntArray

# Times the velocity limit: no machine is as quick, even one that runs away.
_ABSURD = 10.0
# rad or m: what a float64 tells to a micrometre and better.
_LARGEST = 1e9
# Times the velocity limit: the way between two states that a machine out of control may make.
_QUICKEST = 2.0
# Seconds at the velocity limit that a position may be off: noise, and stamps that jitter.
_SLACK = 0.05
# Of the range of a drive: how far it may be outside, with closed loops.
_OF_LOOPS = 0.001
# States in a row beyond the velocity limit that are no noise.
_IN_A_ROW = 3


class Verdict(NamedTuple):
    """What is to be thought of a measured state.

    Attributes:
        believed: whether it can be true.
        problem: why not; or what is wrong with a machine that is there; None if nothing is.
    """

    believed: bool
    problem: str | None


_ORDINARY = Verdict(True, None)


class StateGate:
    """Judges one measured state after the other, by the limits of the joints and by the last.

    A state is not believed whose position has moved further than the joint can in the time, whose
    velocity is far beyond the limit, or rather large while the position stands, or that is
    further outside its range than that is long. The last state that was believed is what the next
    one is compared with: a sensor that was set anew is believed again after a while, and that
    is a problem: what follows a measured position would leap with it.

    A state that is believed is a problem all the same where a joint is outside its range by more
    than a margin, or quicker than its limit allows in three states one after the other.
    """

    def __init__(
        self,
        model: RobotModel,
        *,
        position_margin: FloatArray,
        position_jump: FloatArray,
        velocity_factor: float,
    ) -> None:
        """Make a gate that has seen no state.

        Args:
            model: has the limits.
            position_margin: how far joints may be outside their range, shape (n,), rad or m;
                inf for any position.
            position_jump: how far positions may be off from one state to the next, beside what
                the joint can move at twice its velocity limit, shape (n,), rad or m; inf for any
                way.
            velocity_factor: times the velocity limit that joints may move, 1 or more; inf for
                any velocity.
        """
        self._model = model
        self._names = model.joint_names
        self._lower, self._upper = model.position_lower, model.position_upper
        self._velocity_limit = model.velocity_limit
        self._margin = position_margin
        self._jump = position_jump
        self._factor = velocity_factor
        self._turns = whole_turns(endless(model.joint_types))
        self._last: tuple[list[float], float] | None = None
        self._quick: IntArray = np.zeros(len(self._names), dtype=np.int64)
        self._quick_ones = False
        self._jumped = False
        quickest = np.minimum(_QUICKEST * self._velocity_limit, 1e300)
        lower, upper = (np.clip(v, -_LARGEST, _LARGEST) for v in (self._lower, self._upper))
        # Per joint: what a state is ordinary by.
        bounds = (
            (lower + upper) / 2,
            (upper - lower) / 2,
            self._velocity_limit,
            quickest,
            position_jump,
        )
        self._bounds = list(zip(*(row.tolist() for row in bounds), strict=True))

    def reset(self) -> None:
        """Forget the states seen so far: the next one stands for itself."""
        self._last = None
        self._quick[:] = 0
        self._quick_ones = self._jumped = False

    def judge(self, q: FloatArray, qd: FloatArray, stamp: float) -> Verdict:
        """Return what is to be thought of a state.

        Args:
            q: measured positions, shape (n,), rad or m, finite.
            qd: measured velocities, shape (n,), finite.
            stamp: of the state, s.
        """
        if not self._jumped and self._is_ordinary(q, qd, stamp):
            self._last = q.tolist(), stamp
            return _ORDINARY
        with np.errstate(over='ignore', invalid='ignore'):
            doubt = self._doubt(q, qd, stamp)
            if doubt is not None:
                return Verdict(False, doubt)
            problem = self._stayed(q) if self._jumped else None
            self._last, self._jumped = (q.tolist(), stamp), False
            return Verdict(True, problem or self._counted_violation(q, qd))

    def _is_ordinary(self, q: FloatArray, qd: FloatArray, stamp: float) -> bool:
        """Whether a state keeps all limits, and has come there without a turn: nearly every one.

        Nothing has to be looked at more closely then.
        """
        if self._last is None or self._quick_ones:
            return False
        before, last_stamp = self._last
        elapsed = max(stamp - last_stamp, 0.0)
        # Plain numbers: a robot has few joints, and after a pause each of NumPy's functions takes
        # longer to be fetched into the processor's cache than all this.
        for x, v, was, (middle, half, limit, quickest, jump) in zip(
            q.tolist(), qd.tolist(), before, self._bounds, strict=True
        ):
            in_limits = abs(x - middle) <= half and abs(v) <= limit
            if not (in_limits and abs(x - was) <= quickest * elapsed + jump):
                return False
        return True

    def _doubt(self, q: FloatArray, qd: FloatArray, stamp: float) -> str | None:
        limit = self._velocity_limit
        speed = np.abs(qd)
        far, absurd = impossible(self._model, q, qd)
        far, absurd = far & np.isfinite(self._margin), absurd & np.isfinite(self._factor)
        if far.any():
            return self._position(q, far, 'is far outside')
        if absurd.any():
            return self._velocity(qd, absurd, f'no joint is {_ABSURD:g} times as quick')
        if self._last is None:
            return None
        before, last_stamp = np.array(self._last[0]), self._last[1]
        elapsed = max(stamp - last_stamp, 0.0)
        step = np.abs(shorter_way(q - before, self._turns))
        if (jumped := step > _QUICKEST * limit * elapsed + self._jump).any():
            k, self._jumped = int(np.argmax(jumped)), True
            return (
                f"position of joint '{self._names[k]}' jumped from {before[k]:.6g} to {q[k]:.6g} "
                f'in {elapsed:.3g} s, its velocity limit is {limit[k]:.4g}'
            )
        # A little more than noise, and nothing moves: a velocity that is not that of the position.
        standing = step < 0.1 * speed * elapsed
        odd = (speed > _QUICKEST * limit) & standing & (elapsed > 0.0)
        if np.isfinite(self._factor) and odd.any():
            return self._velocity(qd, odd, 'its position hardly moves')
        return None

    def _stayed(self, q: FloatArray) -> str | None:
        """What is wrong with a position that has jumped and did not come back."""
        assert self._last is not None  # it has jumped from there
        before = np.array(self._last[0])
        moved = np.abs(shorter_way(q - before, self._turns)) > self._jump
        if not moved.any():
            return None
        k = int(np.argmax(moved))
        return (
            f"position of joint '{self._names[k]}' jumped from {before[k]:.6g} and stayed at "
            f'{q[k]:.6g}: it was set anew, or the joint moved unseen'
        )

    def violation(self, q: FloatArray, qd: FloatArray) -> str | None:
        """Return what forbids that commands begin in a believed state; None if nothing does.

        A joint outside its range by more than the margin, or quicker than its limit allows.

        Args:
            q: measured positions, shape (n,), rad or m, finite.
            qd: measured velocities, shape (n,), finite.
        """
        return self._violation(q, qd, self._too_quick(qd))

    def _counted_violation(self, q: FloatArray, qd: FloatArray) -> str | None:
        quick = self._too_quick(qd)
        self._quick = np.where(quick, self._quick + 1, 0)
        self._quick_ones = bool(quick.any())
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
    """Return which positions and which velocities no joint can have, shape (n,) each.

    Positions further outside the range than that is long or beyond 1e9, and ten times the
    velocity limit.

    Args:
        model: has the limits.
        q: positions, shape (n,), rad or m.
        qd: velocities, shape (n,).
    """
    lower, upper = model.position_lower, model.position_upper
    way = np.where(np.isfinite(upper - lower), upper - lower, np.inf)
    far = (q < lower - way) | (q > upper + way) | (np.abs(q) > _LARGEST)
    return far, np.abs(qd) > _ABSURD * model.velocity_limit


def position_margins(model: RobotModel) -> FloatArray:
    """Return how far joints may be outside their range by default, shape (n,), rad or m.

    2 % of the range, and 50 ms at the velocity limit at least: where sensors were set with care,
    no joint rests further outside. With closed loops 0.1 % of the range: not far beyond it they
    cannot be closed, and the equations have no meaning.
    """
    way = model.position_upper - model.position_lower
    if model.has_closed_loops:
        return np.maximum(np.where(np.isfinite(way), _OF_LOOPS * np.abs(way), 1.0), 1e-6)
    share = np.where(np.isfinite(way), 0.02 * np.abs(way), 0.0)
    jump = position_jumps(model)
    return np.maximum(np.maximum(share, np.where(np.isfinite(jump), jump, 0.0)), 1e-6)


def position_jumps(model: RobotModel) -> FloatArray:
    """Return how far positions may be off between states by default, shape (n,), rad or m.

    What a joint moves in 50 ms at its velocity limit; inf where it has none.
    """
    jump = _SLACK * model.velocity_limit
    return np.where(jump > 0.0, jump, np.inf)
