# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Why a loop is unstable or nearly so, in words."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control.tuning.result import Tuning
from kron_dynamics.typing import BoolArray

# Share of the bounds within which a bandwidth has room for what the analysis does not know.
ROOM = 0.5
# Of the lowest frequency of the links, up to which they are as good as stiff.
_STIFF = 1.0 / 3.0


def conditions(rate: float, delay: float, model_error: float) -> str:
    """Return what a loop is stable or unstable under, in words.

    Args:
        rate: of the joint states, Hz.
        delay: of the efforts, s.
        model_error: share by which the model may be off.
    """
    text = f'joint states at {rate:g} Hz, efforts {1e3 * delay:.4g} ms late'
    if model_error == 0.0:
        return f'{text} and an exact model'
    return f'{text} and inertias and masses of the model up to {100.0 * model_error:g} % off'


def refusal(
    joint: str,
    bandwidth: float,
    under: str,
    bounds: tuple[float, float] | None,
    single: float,
    lowest_mode: float,
) -> str:
    """Return why a bandwidth is refused, and what would do, on one line.

    Args:
        joint: that is unstable.
        bandwidth: of it, Hz.
        under: see `conditions`.
        bounds: factors of all bandwidths between which they are stable; None for none.
        single: bandwidth up to which one joint with stiff links is stable, Hz.
        lowest_mode: of the links, Hz; inf where they are stiff.
    """
    text = f"joint '{joint}' is unstable at {bandwidth:g} Hz with {under}"
    if bounds is None:
        return f'{text}; no bandwidth is stable, expected joint states more often'
    # Three digits may be rounded up or down by half a percent.
    lower, upper = 1.005 * bandwidth * bounds[0], 0.995 * bandwidth * bounds[1]
    if lower > bandwidth:
        return (
            f'{text}; it is too weak for what sampling, delay and model leave of the weight, '
            f'expected {lower:.3g} to {upper:.3g} Hz'
        )
    why = 'sampling and delay'
    if lowest_mode < np.inf and bandwidth < single:
        why = f'links that vibrate from {lowest_mode:.3g} Hz on, with sampling and delay'
    return f'{text}, because of {why}; at most {upper:.3g} Hz is stable'


def little_room(tuning: Tuning, roomy_rate: float) -> tuple[str, ...]:
    """Return what is stable but leaves little room, a sentence each.

    Args:
        tuning: stable gains.
        roomy_rate: of the joint states, Hz, that would leave room.
    """
    warnings = []
    close = tuning.bandwidth > ROOM * tuning.stable_to
    if close.any():
        k = int((tuning.bandwidth / tuning.stable_to).argmax())
        way_out = (
            f': joint states at {roomy_rate:.3g} Hz would leave room'
            if roomy_rate < np.inf
            else ''
        )
        warnings.append(
            f'{_joint(tuning, close)} more than half of where the loop becomes unstable, '
            f'{tuning.stable_to[k]:.3g} Hz{way_out}'
        )
    weak = tuning.kp * ROOM < (2.0 * np.pi * tuning.stable_from) ** 2
    if weak.any():
        k = int((tuning.stable_from / tuning.bandwidth).argmax())
        warnings.append(
            f'{_joint(tuning, weak)} little more than it takes to carry the weight that '
            f'sampling, delay and model leave, {tuning.stable_from[k]:.3g} Hz'
        )
    soft = tuning.bandwidth > _STIFF * tuning.lowest_mode
    if soft.any():
        warnings.append(
            f'{_joint(tuning, soft)} more than a third of the lowest frequency of the links, '
            f'{tuning.lowest_mode:.3g} Hz: feedback moves them, and they move the joints'
        )
    if tuning.overloaded > 0.0:
        warnings.append(
            f'in {100.0 * tuning.overloaded:.3g} % of the poses the weight alone exceeds an '
            'effort limit'
        )
    return tuple(warnings)


def _joint(tuning: Tuning, which: BoolArray) -> str:
    """The joints that something is true of, and their bandwidth, as the start of a sentence."""
    names = [f"'{name}'" for name, one in zip(tuning.joint_names, which, strict=True) if one]
    values = sorted({f'{f:g} Hz' for f, one in zip(tuning.bandwidth, which, strict=True) if one})
    if len(names) == 1:
        return f'joint {names[0]} has a bandwidth of {values[0]},'
    what = 'all joints' if which.all() else f'joints {", ".join(names)}'
    return f'{what} have a bandwidth of {" and ".join(values)},'
