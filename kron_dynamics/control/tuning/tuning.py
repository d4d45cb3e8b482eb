# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Gains, limits and tolerances of a robot from the desired bandwidth of its joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.arguments import real_number
from kron_dynamics.control.gravity_hold import GravityHold
from kron_dynamics.control.supervision.tolerances import default_rate_limit
from kron_dynamics.control.tuning.effort_use import (
    independent_joints,
    saturating_steps,
    tolerances_over_range,
)
from kron_dynamics.control.tuning.linear_machine import (
    linear_machine,
    lowest_mode,
    model_errors,
)
from kron_dynamics.control.tuning.link_errors import link_errors
from kron_dynamics.control.tuning.loop_limits import SampledLoops
from kron_dynamics.control.tuning.refusal import ROOM, conditions, little_room, refusal
from kron_dynamics.control.tuning.result import Tuning
from kron_dynamics.control.tuning.sampled_loop import single_joint_limit
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot

_TURN = 2.0 * np.pi
# Rates of joint states, Hz, whose periods the parameter `state_period` takes.
LEAST_RATE, HIGHEST_RATE = 1.0, 10_000.0
# State timeout in periods, and its minimum in s, so that a busy computer causes no fault.
_MISSED, _SHORTEST = 10.0, 0.05
# Start tolerance of references as a share of the position step that saturates the efforts.
_START = 0.1


def tune(
    robot: Robot,
    bandwidth: float | Mapping[str, float],
    rate: float,
    *,
    delay: float | None = None,
    damping_ratio: float = 1.0,
    model_error: float = 0.2,
    effort_limit: Mapping[str, float] | None = None,
) -> Tuning:
    r"""Return gains for a bandwidth, verified to be stable at a rate of the joint states.

    With an exact model, computed torque makes each joint a double integrator under
    ``kp e + kd ed``. Here the law is sampled: the efforts for a state act after the delay and are
    held until the next ones act. The loop is linearised about rest in 300 poses over the position
    limits, including the change of gravity between samples and flexible links, and discretised
    exactly. It must be stable with the exact model and with inertias and masses too large or too
    small by `model_error`, of all links together or of each link by itself, with the signs that
    gravity is worst with and random ones. With equal gains and without gravity no model with
    eigenvalues of M^-1 M_hat between 1 -+ model_error is worse; with different gains random models
    of that range are included.
    Friction and viscous damping of the joints, which only stabilize, are omitted; so are drive
    dynamics and motions far from rest.

    Args:
        robot: the machine; flexible links are part of the machine, but the law uses rigid links.
        bandwidth: natural frequency of the error, Hz; one for all joints or by joint name.
        rate: rate of the joint states, 1 to 10000 Hz.
        delay: time from a state until its efforts act, s; None for one period.
        damping_ratio: damping ratio of the error.
        model_error: relative error of the model's inertias and masses, below 1.
        effort_limit: effort limits by joint, N m or N, if the URDF has none or a larger one.

    Raises:
        ParameterError: the loop is unstable (the message names the joint and what would be
            stable), or an argument or a joint's effort limit cannot be used.
        ModelError: flexible links are unstable under their weight.
    """
    flexible, robot = (robot, robot.rigid) if robot.model.is_flexible else (None, robot)
    names = robot.joint_names
    f = _bandwidths(bandwidth, names)
    rate = _checked_rate(rate)
    period = 1.0 / rate
    is_known = delay is not None
    delay = period if delay is None else real_number(delay, 'delay')
    if not 0.0 <= delay < np.inf:
        raise ParameterError(f'delay is {delay:g} s, expected 0 or more')
    damping_ratio = _positive(damping_ratio, 'damping ratio', '')
    model_error = real_number(model_error, 'model error')
    if not 0.0 <= model_error < 1.0:
        raise ParameterError(f'model error is {model_error:g}, expected 0 to below 1')
    limit = _effort_limits(robot, effort_limit or {})
    machine = linear_machine(robot, flexible)
    mode = lowest_mode(machine) / _TURN
    w = _TURN * f

    coupled = bool((f != f[0]).any())
    single = single_joint_limit(period, delay, damping_ratio) / _TURN
    errors = model_errors(machine, model_error, coupled=coupled)
    if model_error:
        errors = errors.joined(link_errors(robot, machine, model_error))
    loops = SampledLoops(machine, errors, w, damping_ratio, period, delay)
    bounds = loops.stable_range()
    if bounds is None or not loops.stable():
        fastest = int(f.argmax())
        joint = fastest if f[fastest] > single else loops.fastest_joint()
        raise ParameterError(
            refusal(
                names[joint],
                float(f[joint]),
                conditions(rate, delay, model_error),
                bounds,
                single,
                mode,
            )
        )
    # The first case of each pose is the exact model.
    exact = loops.of(np.arange(len(machine.q))).stable_range() if model_error else bounds
    kp, kd = w**2, 2.0 * damping_ratio * w
    hold = GravityHold(robot, period=period, flexible=flexible)
    tolerances, friction = tolerances_over_range(robot, kp, limit)
    step, overloaded = saturating_steps(machine, robot, kp, limit)
    pd, ratio = independent_joints(machine)
    tuning = Tuning(
        joint_names=names,
        joint_types=robot.model.joint_types,
        bandwidth=f,
        kp=kp,
        kd=kd,
        damping_ratio=damping_ratio,
        rate=rate,
        delay=delay,
        model_error=model_error,
        poses=len(machine.q),
        stable_from=f * bounds[0],
        stable_to=f * bounds[1],
        exact_to=f * (bounds if exact is None else exact)[1],
        single_to=single,
        least_rate=loops.least_rate(),
        longest_delay=loops.longest_delay(),
        lowest_mode=mode,
        saturating_step=step,
        overloaded=overloaded,
        effort_limit=limit,
        effort_rate_limit=default_rate_limit(kp, limit),
        start_tolerance=np.maximum(np.minimum(_START * step, 0.5 * tolerances.position), friction),
        tolerances=tolerances,
        hold=hold.range,
        hold_damping=hold.damping,
        # Too much lead is as bad as too little, so an assumed delay is not included.
        effort_lead=0.5 * period + (delay if is_known else 0.0),
        state_timeout=max(_MISSED * period, _SHORTEST),
        pd_inertia_ratio=ratio,
        pd_unstable=float((loops.growth_of(pd) >= 1.0).mean()),
        warnings=(),
    )
    return replace(tuning, warnings=little_room(tuning, loops.least_rate(1.0 / ROOM)))


def _positive(value: float, name: str, unit: str) -> float:
    number = real_number(value, name)
    if not 0.0 < number < np.inf:
        raise ParameterError(f'{name} is {number:g} {unit}'.rstrip() + ', expected more than 0')
    return number


def _checked_rate(rate: float) -> float:
    rate = _positive(rate, 'rate of the joint states', 'Hz')
    if LEAST_RATE <= rate <= HIGHEST_RATE:
        return rate
    is_period = LEAST_RATE <= 1.0 / rate <= HIGHEST_RATE
    raise ParameterError(
        f'rate of the joint states is {rate:g} Hz, expected {LEAST_RATE:g} to {HIGHEST_RATE:g} Hz'
        + (f'; a period of {rate:g} s is a rate of {1.0 / rate:.4g} Hz' if is_period else '')
    )


def _bandwidths(bandwidth: float | Mapping[str, float], names: tuple[str, ...]) -> FloatArray:
    if not isinstance(bandwidth, Mapping):
        return np.full(len(names), _positive(bandwidth, 'bandwidth', 'Hz'))
    _known(bandwidth, names, 'a bandwidth')
    if missing := [name for name in names if name not in bandwidth]:
        raise ParameterError(f'no bandwidth is given for {", ".join(map(repr, missing))}')
    return np.array(
        [_positive(bandwidth[name], f"bandwidth of joint '{name}'", 'Hz') for name in names]
    )


def _known(given: Mapping[str, float], names: tuple[str, ...], what: str) -> None:
    for name in given:
        if name not in names:
            raise ParameterError(
                f"{what} is given for joint '{name}', expected one of {', '.join(names)}"
            )


def _effort_limits(robot: Robot, given: Mapping[str, float]) -> FloatArray:
    names = robot.joint_names
    _known(given, names, 'an effort limit')
    limit = np.minimum(robot.model.effort_limit, [given.get(name, np.inf) for name in names])
    for name, value in zip(names, limit, strict=True):
        if not 0.0 < value < np.inf:
            raise ParameterError(
                f"joint '{name}' has effort limit {value:g}, expected a positive one in the URDF "
                'or as an argument'
            )
    return np.asarray(limit, dtype=float)
