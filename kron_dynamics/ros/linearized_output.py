# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`~/linearized_model`: linear models of small deviations, published by a timer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from builtin_interfaces.msg import Time
from kron_dynamics_msgs.msg import LinearizedModel as LinearizedModelMessage
from rclpy.callback_groups import CallbackGroup
from rclpy.clock import Clock
from rclpy.lifecycle import LifecycleNode

from kron_dynamics.control import AssembledState
from kron_dynamics.control.tracking_controller import Command
from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.exceptions import KronDynamicsError
from kron_dynamics.robot import Robot
from kron_dynamics.ros.conversions import linearized_model
from kron_dynamics.ros.parameter_set import ParameterSet
from kron_dynamics.ros.publishers import WITHOUT_EVENTS
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.linearized import LinearizedModel, Modes

_WARN_PERIOD = 5.0
# Smallest imaginary part of an oscillating pole, relative to the fastest pole: rounding may split
# a double real pole into a complex pair with imaginary parts of this size.
OSCILLATES = float(np.sqrt(np.finfo(float).eps))


class OperatingPoint(NamedTuple):
    """Motion and efforts of the joints; arrays of shape (n_j,).

    Attributes:
        q: positions, rad or m.
        qd: velocities.
        qdd: accelerations.
        effort: measured or commanded efforts, N m or N; NaN if unknown.
    """

    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    effort: FloatArray


class LinearizedOutput:
    """Publishes the linear model about the current motion, at its own rate."""

    def __init__(
        self,
        node: LifecycleNode,
        flexible: Robot,
        parameters: ParameterSet,
        clock: Clock,
        group: CallbackGroup,
    ) -> None:
        """Make the publisher and its timer for a linearized_model_rate above 0.

        Args:
            node: node that publishes.
            flexible: the robot, with its flexible links if it has any.
            parameters: parameters of dynamics_node.
            clock: steady clock for the timer.
            group: callback group of publisher and timer.
        """
        self._node = node
        self._robot = flexible
        self._about_reference = parameters.value('linearization_point') == 'reference'
        self._latest: tuple[Time, OperatingPoint] | None = None
        self.values: dict[str, str] = {}
        """Frequencies and damping ratios of the links for diagnostics; they may be empty."""
        self._publisher = node.create_publisher(
            LinearizedModelMessage,
            '~/linearized_model',
            1,
            callback_group=group,
            event_callbacks=WITHOUT_EVENTS,
        )
        # Not in the callback of a joint state, where it would delay the command.
        period = 1.0 / parameters.value('linearized_model_rate')
        self._timer = node.create_timer(period, self._publish, group, clock)

    def destroy(self) -> None:
        """Destroy publisher and timer."""
        self._node.destroy_timer(self._timer)
        self._node.destroy_publisher(self._publisher)

    def update(
        self,
        stamp: Time,
        state: AssembledState,
        command: Command | None,
        qdd: FloatArray | None,
    ) -> None:
        """Store a state as the operating point of the next model.

        Args:
            stamp: stamp of the state.
            state: fresh positions and velocities; efforts as far as they are measured.
            command: command that answers the state, or None.
            qdd: accelerations of the joints, shape (n_j,), or None for none.
        """
        motion = state.q, state.qd, np.zeros_like(state.q) if qdd is None else qdd
        effort = state.effort
        if command is not None:
            effort = np.where(np.isfinite(effort), effort, command.effort)
            if self._about_reference:
                motion = command.q_ref, command.qd_ref, command.qdd_ref
        self._latest = stamp, OperatingPoint(*motion, effort)

    def _publish(self) -> None:
        """Publish the model about the last state, at most once per state."""
        if self._latest is None:
            return
        (stamp, point), self._latest = self._latest, None
        self.values = {}
        try:
            model, residual = self._linearized(point)
            message = model_message(model, residual)
            self.values = mode_values(model, len(point.q))
        except KronDynamicsError as error:
            self._node.get_logger().warning(
                f'no linearized model: {error}', throttle_duration_sec=_WARN_PERIOD
            )
            return
        message.header.stamp = stamp
        message.header.frame_id = self._robot.model.root_link
        self._publisher.publish(message)

    def _linearized(self, point: OperatingPoint) -> tuple[LinearizedModel, FloatArray]:
        """Return the model with links in quasi-static deflection, and the residual efforts."""
        joints = slice(len(point.q))
        motion = np.zeros((3, self._robot.n))
        motion[0] = quasi_static_equilibrium(self._robot, *point[:3])
        motion[1:, joints] = point[1:3]
        model = self._robot.linearize(*motion)
        residual = -model.effort
        residual[joints] += point.effort - self._robot.joint_friction(motion[1])[joints]
        return model, residual


def model_message(model: LinearizedModel, residual: FloatArray) -> LinearizedModelMessage:
    """Return a linear model with its oscillations as a message, without its header.

    Args:
        model: linear model about the operating point.
        residual: efforts not balanced by its motion, shape (n,), N m or N; NaN if unknown.

    Raises:
        NonFiniteError: the model is not finite.
        ModelError: the mass matrix is singular.
    """
    return linearized_model(model, residual, *oscillations(model))


def oscillations(model: LinearizedModel) -> tuple[FloatArray, FloatArray]:
    """Return |p|, ascending, rad/s, and -Re(p)/|p| of the pairs of complex poles, shape (k,) each.

    Raises:
        NonFiniteError: the model is not finite.
        ModelError: the mass matrix is singular.
    """
    poles = _oscillating(model).poles
    size = np.abs(poles)
    return size, -poles.real / size


def _oscillating(model: LinearizedModel) -> Modes:
    """Return one mode of each oscillating pair, by increasing frequency."""
    modes = model.modes()
    kept = modes.poles.imag > OSCILLATES * np.abs(modes.poles).max(initial=0.0)
    return modes._replace(poles=modes.poles[kept], shapes=modes.shapes[:, kept])


def mode_values(model: LinearizedModel, joint_count: int) -> dict[str, str]:
    """Return frequencies and damping ratios of the links with held joints, as texts.

    A mode is named after the modal coordinate with the largest share in it; each coordinate names
    one mode only.

    Args:
        model: linear model in all coordinates, joints first.
        joint_count: number of joints.

    Raises:
        NonFiniteError: the model is not finite.
        ModelError: the mass matrix is singular.
    """
    held = model.part(range(joint_count, model.n))
    if held.n == 0:
        return {}
    poles, shapes = _oscillating(held)
    # Weighted by kinetic energy: modal coordinates of different links are not comparable in m.
    shares = np.abs(shapes) * np.sqrt(np.diag(held.mass))[:, None]
    values = {}
    for pole, share in zip(poles, shares.T, strict=True):
        k = int(share.argmax())
        shares[k] = -1.0
        name, size = held.joint_names[k], abs(pole)
        values[f'{name} frequency [Hz]'] = f'{size / (2.0 * np.pi):.4f}'
        values[f'{name} damping ratio'] = f'{-pole.real / size:.4f}'
    return values
