# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A controller as `dynamics_node` makes it from its parameters, without ROS."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from kron_dynamics import control
from kron_dynamics.control.tracking import TrackingController
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike, FloatArray

# A state may be as late as a clock that is set, s, and the node's timeout.
_STEP_OF_CLOCK = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class ControlSettings:
    """Parameters of `dynamics_node` for a robot of n joints; arrays of shape (n,).

    Attributes:
        kp: position gains, 1/s^2.
        kd: rate gains, 1/s.
        effort_limit: N m or N.
        rate_limit: of the efforts, N m/s or N/s.
        start_tolerance: rad or m.
        resolution: of the measured positions, for vibration damping, rad or m.
        period: of control, s.
        longest_gap: between two states, s.
    """

    kp: FloatArray
    kd: FloatArray
    effort_limit: FloatArray
    rate_limit: FloatArray
    start_tolerance: FloatArray
    resolution: FloatArray
    period: float
    longest_gap: float

    @classmethod
    def read(cls, path: Path, robot: Robot) -> ControlSettings:
        """Return the settings of a parameter file for a robot with rigid links.

        Args:
            path: YAML with parameters for `/**/dynamics_node`; shapes (n,), units as there.
            robot: whose joints and effort limits they are for.

        Raises:
            ParameterError: the file lacks a parameter.
        """
        try:
            node = yaml.safe_load(path.read_text('utf-8'))['/**/dynamics_node']['ros__parameters']

            def per_joint(values: dict[str, Any]) -> FloatArray:
                return np.array([values[name] for name in robot.joint_names], dtype=np.float64)

            gains = {name: node['gains'][name] for name in robot.joint_names}
            return cls(
                kp=per_joint({name: gain['kp'] for name, gain in gains.items()}),
                kd=per_joint({name: gain['kd'] for name, gain in gains.items()}),
                effort_limit=node['effort_limit_scale'] * robot.model.effort_limit,
                rate_limit=per_joint(node['effort_rate_limit']),
                start_tolerance=per_joint(node['reference_start_tolerance']),
                resolution=per_joint(node['position_resolution']),
                period=float(node['state_period']),
                longest_gap=_STEP_OF_CLOCK + node['state_timeout'],
            )
        except KeyError as error:
            raise ParameterError(f'{path} has no {error} for dynamics_node') from None


class _AtOnce(Executor):
    """Does in the foreground what others do in the background: time stands still meanwhile."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def make_controller(
    settings: ControlSettings,
    rigid: Robot,
    flexible: Robot,
    position: ArrayLike,
    *,
    shaping: str = 'none',
    damping: bool = False,
) -> TrackingController:
    """Return a controller with computed torque, as `dynamics_node` makes it.

    Args:
        settings: gains, limits and times.
        rigid: the machine with stiff links.
        flexible: the same with links that bend.
        position: where vibration damping begins, shape (n,), rad or m.
        shaping: of the references: 'none', 'zv', 'zvd' or 'ei'.
        damping: whether the drives damp vibrations.

    Raises:
        ParameterError: settings cannot be used.
        ModelError: links do not carry their weight, or cannot be damped.
    """
    shaped = shaping != 'none'
    torque = control.ComputedTorque(rigid, settings.kp, settings.kd)
    law: control.ControlLaw | control.LawWithMemory = torque
    if damping:
        schedule = control.damping_schedule(
            *(flexible, settings.kp, settings.effort_limit, settings.resolution, settings.period)
        )
        first = schedule.at(np.asarray(position, dtype=np.float64))
        damper = control.VibrationDamper(first, settings.effort_limit)
        links = control.LinkMotion(flexible, vibrating=shaped)
        law = control.DampedTorque(rigid, links, damper, schedule.at, _AtOnce())
    elif shaped:
        law = control.FlexibleTorque(torque, rigid, control.LinkMotion(flexible, vibrating=True))
    shaper = control.ReferenceShaping(shaping, control.HeldModes(flexible)) if shaped else None
    return TrackingController(
        rigid,
        law,
        control.GravityHold(rigid, settings.kd),
        control.CommandGuard(settings.effort_limit, settings.rate_limit, rigid.joint_names),
        fault_action=control.FaultAction.HOLD_GRAVITY,
        start_tolerance=settings.start_tolerance,
        effort_limit=settings.effort_limit,
        longest_gap=settings.longest_gap,
        shaping=shaper,
    )
