# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Natural frequencies as functions of a joint's position, or of the payload."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from kron_dynamics.dynamics import Linearization, linearization
from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.exceptions import ModelError, ParameterError, ShapeError
from kron_dynamics.flexible import DeflectionCheck
from kron_dynamics.linearized import LinearizedModel
from kron_dynamics.model import RobotModel
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.modes.mode_tracking import Vibrations
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class ModeMap:
    """Modes of vibration at rest along a sweep of one quantity.

    Every mode is tracked through the sweep by its shape, and named after the coordinate that it
    resembles most at the start.

    Attributes:
        parameter: name of the swept quantity.
        unit: unit of its values.
        values: swept values, shape (k,).
        names: names of the m modes.
        frequencies: undamped natural frequencies, shape (k, m), Hz; for an unstable mode minus
            its growth rate over 2 pi; 0 for a coordinate without stiffness.
        damping_ratios: damping ratio of each mode, shape (k, m), unit 1; NaN without a positive
            frequency.
    """

    parameter: str
    unit: str
    values: FloatArray
    names: tuple[str, ...]
    frequencies: FloatArray
    damping_ratios: FloatArray


def joint_map(
    robot: Robot,
    joint: str,
    values: ArrayLike,
    *,
    at: Mapping[str, float] | None = None,
    free: bool = False,
) -> ModeMap:
    """Return the modes as functions of the position of one joint.

    Links are in their static deflection. Held joints do not move at all, as with perfectly stiff
    drives. Free joints are balanced against gravity by constant efforts, with viscous damping.

    Args:
        robot: the robot.
        joint: name of the swept joint.
        values: positions, shape (k,) with k >= 1, rad or m.
        at: positions of other joints, rad or m; see `pose`.
        free: whether the joints move in the modes.

    Raises:
        ParameterError: the robot has no such joint, `at` names the swept joint, or a position is
            not finite.
        ShapeError: values are not a one-dimensional list with at least one entry.
        ModelError: nothing vibrates, or the links are not statically stable under their load.
    """
    k = _index(robot.model, joint)
    if at and joint in at:
        raise ParameterError(f"joint '{joint}' is swept, and at {at[joint]:g} as well")
    q = pose(robot.model, at)
    positions = _checked(values, 'values')

    def states() -> Iterable[tuple[Robot, FloatArray]]:
        for value in positions:
            q[k] = value
            yield robot, q

    unit = joint_kind(robot.model.joint_types[k]).unit('position')
    return _followed(joint, unit, positions, states(), free)


def payload_map(
    loaded: Callable[[float], Robot],
    link: str,
    masses: ArrayLike,
    *,
    at: Mapping[str, float] | None = None,
    free: bool = False,
) -> ModeMap:
    """Return the modes as functions of a payload's mass; see `joint_map`.

    Args:
        loaded: function that returns the robot with a payload of a given mass, kg.
        link: link that carries the payload, for the name of the parameter.
        masses: shape (k,) with k >= 1, kg.
        at: positions of joints, rad or m; see `pose`.
        free: whether the joints move in the modes.

    Raises:
        ParameterError: the robot has no such joint, or a number is not finite.
        ShapeError: masses are not a one-dimensional list with at least one entry.
        ModelError: a mass is negative, nothing vibrates, or the links are not statically stable
            under their load.
    """
    loads = _checked(masses, 'masses')
    check = DeflectionCheck()  # one warning for all of them
    robots = (_Uncompiled(loaded(float(mass)).model, check) for mass in loads)
    states = ((robot, pose(robot.model, at)) for robot in robots)
    return _followed(f'payload at {link}', 'kg', loads, states, free)


def pose(model: RobotModel, at: Mapping[str, float] | None = None) -> FloatArray:
    """Return positions of the joints, shape (n_j,), rad or m.

    Args:
        model: the robot.
        at: positions by joint; a joint that is not named is at 0, or in the middle of its range
            if that does not contain 0 (at its only limit if it has one).

    Raises:
        ParameterError: the robot has no such joint, or a position is not finite.
    """
    count = model.joint_count
    lower, upper = model.position_lower[:count], model.position_upper[:count]
    q = np.clip(np.zeros(count), lower, upper)
    away = (q != 0) & np.isfinite(lower) & np.isfinite(upper)
    q[away] = (lower[away] + upper[away]) / 2
    for joint, value in (at or {}).items():
        if not math.isfinite(value):
            raise ParameterError(f"position of joint '{joint}' is {value}, expected a number")
        q[_index(model, joint)] = value
    return q


def joint_range(model: RobotModel, joint: str) -> tuple[float, float]:
    """Return the position limits of a joint, rad or m.

    Raises:
        ParameterError: the robot has no such joint, or the joint has no limits.
    """
    k = _index(model, joint)
    lower, upper = float(model.position_lower[k]), float(model.position_upper[k])
    if not (math.isfinite(lower) and math.isfinite(upper)):
        raise ParameterError(f"joint '{joint}' has no limits to sweep between: give a range")
    return lower, upper


def most_influential_joint(
    robot: Robot, *, at: Mapping[str, float] | None = None, free: bool = False
) -> str:
    """Return the joint whose motion between its limits changes a frequency most.

    Frequencies are compared at both ends of the range and in its middle. Joints that `at` names
    are excluded.

    Raises:
        ParameterError: no joint has limits.
        ModelError: as for `joint_map`.
    """
    changes = {}
    model = robot.model
    bounded = np.isfinite(model.position_lower) & np.isfinite(model.position_upper)
    for joint in robot.joint_names[: model.joint_count]:
        if not bounded[_index(model, joint)] or joint in (at or {}):
            continue
        ends = joint_range(model, joint)
        found = joint_map(robot, joint, np.linspace(*ends, 3), at=at, free=free).frequencies
        changes[joint] = np.ptp(found, axis=0).max()
    if not changes:
        raise ParameterError(
            f"no joint of '{model.name}' is left that has limits to sweep between: name one and "
            f'give a range'
        )
    return max(changes, key=lambda joint: changes[joint])


class _Uncompiled(Robot):
    """A robot that is evaluated only a few times, which is faster without compilation."""

    def __init__(self, model: RobotModel, check: DeflectionCheck) -> None:
        super().__init__(model)
        self._deflections = check

    def linearization(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: tuple[FloatArray, ...] | None = None,
    ) -> Linearization:
        """Return the linearization by the uncompiled equations; `out` is ignored."""
        return linearization(self.model, q, qd, qdd)


def _followed(
    parameter: str,
    unit: str,
    values: FloatArray,
    states: Iterable[tuple[Robot, FloatArray]],
    free: bool,
) -> ModeMap:
    """Return the map for (robot, pose) pairs, one per value, with tracked modes."""
    names: tuple[str, ...] = ()
    reference: FloatArray | None = None
    frequencies, ratios = [], []
    for value, (robot, q) in zip(values, states, strict=True):
        first = 0 if free else robot.model.joint_count
        if first == robot.n:
            raise ModelError(
                f"nothing vibrates: the links of '{robot.model.name}' are rigid and its joints "
                f'are held; describe flexible links, or let the joints go free'
            )
        names = robot.joint_names[first:]
        try:
            full = quasi_static_equilibrium(robot, q)
        except ModelError as error:
            raise type(error)(f'{parameter} at {value:g} {unit}: {error}') from None
        rest = np.zeros(robot.n)
        linear = robot.linearize(full, rest, rest)
        found = Vibrations.of(_with_viscous_damping(linear, robot.model), first)
        if reference is None:
            reference = found.coordinate_shapes()
        modes, reference = found.in_order_of(reference)
        frequencies.append(modes.frequencies)
        ratios.append(modes.damping_ratios)
    return ModeMap(parameter, unit, values, names, np.array(frequencies), np.array(ratios))


def _with_viscous_damping(linear: LinearizedModel, model: RobotModel) -> LinearizedModel:
    """Return a linear model with the viscous damping of joints added, without dry friction."""
    missing = np.diag(model.damping - model.structural_damping)
    return replace(linear, damping=linear.damping + missing)


def _index(model: RobotModel, joint: str) -> int:
    joints = model.joint_names[: model.joint_count]
    if joint not in joints:
        raise ParameterError(
            f"joint '{joint}' does not exist in model '{model.name}'; its joints: "
            f'{", ".join(joints)}'
        )
    return joints.index(joint)


def _checked(values: ArrayLike, name: str) -> FloatArray:
    array = np.array(values, dtype=np.float64)
    if array.ndim != 1 or not len(array):
        raise ShapeError(f'{name} has shape {array.shape}, expected (k,) with k >= 1')
    if not np.isfinite(array).all():
        raise ParameterError(f'{name} is {array.tolist()}, expected finite numbers')
    return array
