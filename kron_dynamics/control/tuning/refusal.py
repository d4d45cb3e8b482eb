# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages on loops that are unstable or nearly unstable."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control.tuning.result import Tuning
from kron_dynamics.typing import BoolArray

# Bandwidths up to this share of the stability bound leave enough margin for unmodelled effects.
ROOM = 0.5
# Links behave as rigid for bandwidths up to this share of their lowest frequency.
_STIFF = 1.0 / 3.0


def conditions(rate: float, delay: float, model_error: float) -> str:
    """Return the conditions of a stability statement, in words.

    Args:
        rate: rate of the joint states, Hz.
        delay: delay of the efforts, s.
        model_error: relative error of the model.
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
    """Return why a bandwidth is refused, and which would be accepted, on one line.

    Args:
        joint: name of the unstable joint.
        bandwidth: bandwidth of that joint, Hz.
        under: see `conditions`.
        bounds: stable range of a factor on all bandwidths; None if there is none.
        single: highest stable bandwidth of one joint with rigid links, Hz.
        lowest_mode: lowest frequency of the links, Hz; inf if they are rigid.
    """
    text = f"joint '{joint}' is unstable at {bandwidth:g} Hz with {under}"
    if bounds is None:
        return f'{text}; no bandwidth is stable, expected joint states more often'
    # Three digits may be rounded up or down by half a percent.
    lower, upper = 1.005 * bandwidth * bounds[0], 0.995 * bandwidth * bounds[1]
    if lower > bandwidth:
        return (
            f'{text}; it is too weak for the weight that sampling, delay and model errors leave '
            f'uncompensated, expected {lower:.3g} to {upper:.3g} Hz'
        )
    why = 'sampling and delay'
    if lowest_mode < np.inf and bandwidth < single:
        why = f'links that vibrate from {lowest_mode:.3g} Hz on, with sampling and delay'
    return f'{text}, because of {why}; at most {upper:.3g} Hz is stable'


def little_room(tuning: Tuning, roomy_rate: float) -> tuple[str, ...]:
    """Return warnings on small stability margins, one sentence each.

    Args:
        tuning: stable gains.
        roomy_rate: rate of the joint states that would give enough margin, Hz.
    """
    warnings = []
    close = tuning.bandwidth > ROOM * tuning.stable_to
    if close.any():
        k = int((tuning.bandwidth / tuning.stable_to).argmax())
        way_out = (
            f': joint states at {roomy_rate:.3g} Hz would give enough margin'
            if roomy_rate < np.inf
            else ''
        )
        warnings.append(
            f'{_joint(tuning, close)} more than half of the stability limit '
            f'{tuning.stable_to[k]:.3g} Hz{way_out}'
        )
    weak = tuning.kp * ROOM < (2.0 * np.pi * tuning.stable_from) ** 2
    if weak.any():
        k = int((tuning.stable_from / tuning.bandwidth).argmax())
        warnings.append(
            f'{_joint(tuning, weak)} little more than the {tuning.stable_from[k]:.3g} Hz needed '
            'for the weight that sampling, delay and model errors leave uncompensated'
        )
    soft = tuning.bandwidth > _STIFF * tuning.lowest_mode
    if soft.any():
        warnings.append(
            f'{_joint(tuning, soft)} more than a third of the lowest frequency of the links, '
            f'{tuning.lowest_mode:.3g} Hz: feedback and link vibrations are coupled'
        )
    if tuning.overloaded > 0.0:
        warnings.append(
            f'in {100.0 * tuning.overloaded:.3g} % of the poses the weight alone exceeds an '
            'effort limit'
        )
    return tuple(warnings)


def _joint(tuning: Tuning, which: BoolArray) -> str:
    """Names and bandwidths of the selected joints, as the start of a sentence."""
    names = [f"'{name}'" for name, one in zip(tuning.joint_names, which, strict=True) if one]
    values = sorted({f'{f:g} Hz' for f, one in zip(tuning.bandwidth, which, strict=True) if one})
    if len(names) == 1:
        return f'joint {names[0]} has a bandwidth of {values[0]},'
    what = 'all joints' if which.all() else f'joints {", ".join(names)}'
    return f'{what} have a bandwidth of {" and ".join(values)},'
