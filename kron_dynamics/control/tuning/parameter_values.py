# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Tuning results as parameters of dynamics_node, each value with unit and reason."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.control.tuning.refusal import conditions
from kron_dynamics.control.tuning.result import Tuning
from kron_dynamics.model.joint_kinds import endless, joint_kind
from kron_dynamics.typing import FloatArray

# Stands for a joint's name in the name of a parameter.
JOINT = '<joint>'


@dataclass(frozen=True, slots=True)
class TunedParameter:
    """A parameter with one value, or with one value for each joint.

    Attributes:
        name: name of the parameter, with `JOINT` in place of the joint's name.
        values: one value, or one for each joint.
        notes: unit and reason of each value.
        reason: reason of all values; empty if another parameter of the group has it.
    """

    name: str
    values: tuple[float | str, ...]
    notes: tuple[str, ...]
    reason: str = ''


def tuned_parameters(tuning: Tuning) -> dict[str, TunedParameter]:
    """Return the parameters of dynamics_node that follow from bandwidth and rate, by name.

    Args:
        tuning: tuning of a robot; the parameters have the same units: rad or m, N m or N, and s.
    """
    found = [*_of_the_node(tuning), *_of_the_joints(tuning)]
    return {parameter.name: parameter for parameter in found}


def stability_report(tuning: Tuning) -> list[str]:
    """Return a report on the stability limits and their causes, as paragraphs.

    Args:
        tuning: tuning of a robot.
    """
    f, low, high = tuning.bandwidth, tuning.stable_from, tuning.stable_to
    under = conditions(tuning.rate, tuning.delay, tuning.model_error)
    exact = ''
    if tuning.model_error:
        exact = f'; with an exact model above {_bandwidths(tuning, tuning.exact_to)}'
    lag = 1e3 * (tuning.delay + 0.5 / tuning.rate)
    text = [
        f'Stable with {under}: computed in {tuning.poses} poses over the position limits, about '
        f'rest. Friction and damping of the joints, which only stabilize, and the dynamics of the '
        f'drives are left out.',
        f'Unstable above {_bandwidths(tuning, high)}{exact}: efforts act {lag:.3g} ms after their '
        f'state on average, the delay and half a period, which uses up the phase margin.',
    ]
    if tuning.lowest_mode < np.inf:
        single = tuning.single_to
        text.append(
            f'With rigid links the limit would be {single:.3g} Hz for each joint alone. With the '
            f'joints clamped the lowest frequency of the links is {tuning.lowest_mode:.3g} Hz, '
            f'{_ratio(tuning)} times the largest bandwidth; above it joints have less than the '
            f'rigid inertia.'
        )
    if (low > 0.1 * f).any():
        text.append(
            f'Unstable below {_bandwidths(tuning, low)}: the weight that sampling, delay and '
            f'model errors leave uncompensated is more than the position gain can hold.'
        )
    text.append(
        f'These gains need joint states at {tuning.least_rate:.3g} Hz at least, with the delay in '
        f'proportion; at {tuning.rate:g} Hz efforts may be {1e3 * tuning.longest_delay:.3g} ms '
        f'late at most.'
    )
    return text + [f'Warning: {warning}.' for warning in tuning.warnings]


def _of_the_node(tuning: Tuning) -> list[TunedParameter]:
    period = 1.0 / tuning.rate
    pd = 'The gains are for this law: pd has no model, neither of gravity nor of coupling.'
    if tuning.pd_unstable > 0.0:
        pd = (
            f'The gains are for this law. With pd, which has no model, they are unstable in '
            f'{100.0 * tuning.pd_unstable:.3g} % of the poses: it neglects the coupling of the '
            f'joints, and the eigenvalues of M^-1 diag(M) reach {tuning.pd_inertia_ratio:.3g}.'
        )
    hold = tuning.hold
    w = np.sqrt(tuning.kp)
    slowest = 1.0 / float(w.min())
    return [
        _one('control_law', 'computed_torque', 'or pd', pd),
        _one(
            'state_period',
            period,
            's',
            f'Joint states at {tuning.rate:g} Hz; fault_action hold_gravity and vibration_damping '
            f'depend on it.',
        ),
        _one(
            'effort_lead',
            tuning.effort_lead,
            's',
            'Lead time of the efforts of the reference, because efforts are held for a '
            'state_period: half of it, plus the delay until they act if --delay gives it.',
        ),
        _one(
            'state_timeout',
            tuning.state_timeout,
            's, wall time',
            f'The time of {tuning.state_timeout * tuning.rate:.3g} missing joint states, but at '
            f'least 50 ms, because computers are busy at times. The last effort is held that '
            f'long.',
        ),
        _one(
            'following_error_time',
            tuning.tolerances.time,
            's',
            f'A time constant of the slowest joint, {slowest:.3g} s, and 0.1 s at least: errors '
            f'that the loop corrects by itself are no fault.',
        ),
        _one(
            'goal_time',
            tuning.tolerances.goal_time,
            's',
            'Ten time constants of the slowest joint, and 1 s at least.',
        ),
        _one(
            'hold_damping',
            tuning.hold_damping,
            '1/s',
            f'Rate at which fault_action hold_gravity reduces the speed. Stable from '
            f'{hold.lowest:.3g} to {hold.highest:.3g} 1/s at this state_period; this is the '
            f'geometric mean.',
        ),
    ]


def _of_the_joints(tuning: Tuning) -> list[TunedParameter]:
    n = len(tuning.joint_names)
    kinds = list(map(joint_kind, tuning.joint_types))
    position = [kind.unit('position') for kind in kinds]
    effort = [kind.unit('effort') for kind in kinds]
    z = tuning.damping_ratio
    damped = 'critically damped' if z == 1.0 else f'damping ratio {z:g}'
    return [
        TunedParameter(
            'gains.<joint>.kp',
            tuple(tuning.kp.tolist()),
            tuple(
                f'1/s^2, {f:.4g} Hz; a step of {step:.3g} {unit} takes all of an effort limit'
                for f, step, unit in zip(
                    tuning.bandwidth, tuning.saturating_step, position, strict=True
                )
            ),
            'With an exact model the error e of each joint obeys edd + kd ed + kp e = 0. '
            'kp = (2 pi f)^2 with the bandwidth f, kd = 2 z 2 pi f with the damping ratio z. The '
            'step is the smallest one, over the poses, for which the gains require more effort '
            'than gravity leaves.',
        ),
        TunedParameter('gains.<joint>.kd', tuple(tuning.kd.tolist()), (f'1/s, {damped}',) * n),
        *_supervision(tuning, position, effort),
    ]


def _supervision(tuning: Tuning, position: list[str], effort: list[str]) -> list[TunedParameter]:
    """Limits and tolerances of the joints, with the units of their positions and efforts."""
    tolerances, turning = tuning.tolerances, any(endless(tuning.joint_types))
    quarter = ' Of a continuous joint at most pi/2: its error goes the shorter way.' * turning
    half = ' Of a continuous joint at most half a turn in following_error_time.' * turning
    return [
        _each(
            'reference_start_tolerance.<joint>',
            tuning.start_tolerance,
            position,
            'A tenth of the step that takes all of an effort limit, at most half of '
            'following_error, and at least three times the error at which friction stops a joint.',
        ),
        _each(
            'effort_limit.<joint>',
            tuning.effort_limit,
            effort,
            'From the URDF, or given. effort_limit_scale keeps commands below the level that '
            'trips the drives.',
        ),
        _each(
            'effort_rate_limit.<joint>',
            tuning.effort_rate_limit,
            [f'{unit}/s' for unit in effort],
            'The effort limit in a tenth of the time constant 1 / sqrt(kp): steps become ramps, '
            'and feedback is not delayed.',
        ),
        _each(
            'following_error.<joint>',
            tolerances.position,
            position,
            'Larger errors are faults. The error that requires half of the effort limit where the '
            'inertia is largest, at most the motion in three time constants at the velocity '
            'limit, and at least three times the error at which friction stops a joint.' + quarter,
        ),
        _each(
            'following_error_velocity.<joint>',
            tolerances.velocity,
            [f'{unit}/s' for unit in position],
            'Larger errors are faults. sqrt(kp) times following_error, and at least half of the '
            'velocity limit.' + half,
        ),
        _each(
            'goal_tolerance.<joint>',
            tolerances.goal,
            position,
            'Larger errors after goal_time are faults. Half of following_error, and at least '
            'three times the error at which friction stops a joint.' + quarter,
        ),
    ]


def _one(name: str, value: float | str, note: str, reason: str) -> TunedParameter:
    return TunedParameter(name, (value,), (note,), reason)


def _each(name: str, values: FloatArray, units: list[str], reason: str) -> TunedParameter:
    return TunedParameter(name, tuple(values.tolist()), tuple(units), reason)


def _bandwidths(tuning: Tuning, values: FloatArray) -> str:
    """One bandwidth for all joints, or one per joint with its name, as text."""
    shown = [f'{value:.3g} Hz' for value in values]
    if (tuning.bandwidth == tuning.bandwidth[0]).all():
        return shown[0]
    each = (f'{name} {text}' for name, text in zip(tuning.joint_names, shown, strict=True))
    return f'{", ".join(each)} in this proportion'


def _ratio(tuning: Tuning) -> str:
    return f'{tuning.lowest_mode / float(tuning.bandwidth.max()):.3g}'
