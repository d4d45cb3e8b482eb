# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`~/set_payload`: changes the payload while the machine moves, without a jump of the efforts.

The payload is an argument of the kernels (`payload_kernels.py`), interpolated by `PayloadChange`
in `carrying.py`; only a body that has carried nothing so far needs a compilation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from kron_dynamics_msgs.srv import SetPayload
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock
from rclpy.node import Node
from rclpy.task import Future

from kron_dynamics.carrying import CarryingRobot, PayloadChange, can_carry
from kron_dynamics.control import JointStateAssembler
from kron_dynamics.control.tracking_controller import TrackingController
from kron_dynamics.exceptions import KronDynamicsError, ModelError, ShapeError
from kron_dynamics.model.payload import RigidPayload
from kron_dynamics.robot import Robot
from kron_dynamics.ros.configured_robot import ConfiguredRobot
from kron_dynamics.ros.controller_factory import (
    checked_fault_hold,
    control_settings,
    require_strength,
)
from kron_dynamics.ros.description import ALLOWED, allowed_warnings
from kron_dynamics.ros.parameter_set import ParameterSet
from kron_dynamics.ros.worker import Worker
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.control.payload_quantities import PayloadQuantities

# Time between the steps of a change, s, and the largest number of steps made at once after a
# delay of the executor, so that efforts do not jump then either.
_STEP, _LONGEST_STEPS = 0.005, 2.0

Present: TypeAlias = tuple[
    ConfiguredRobot | None, TrackingController | None, JointStateAssembler | None
]


def carrying_robot(parameters: ParameterSet, robot: Robot, tip_frame: str) -> CarryingRobot:
    """Return the robot with the payload of the parameters.

    Args:
        parameters: parameters of dynamics_node.
        robot: the machine.
        tip_frame: link that carries the payload if the parameters do not name one.

    Raises:
        KronDynamicsError: the payload is unusable; the message names the parameters.
    """
    named = parameters.value('payload.link')
    link = named or tip_frame
    try:
        robot.model.frame(link)
        prepared = [link] if named or can_carry(robot.model, link) else []
        made = CarryingRobot(robot, *prepared)
        mass = parameters.value('payload.mass')
        place, inertia = (parameters.value(f'payload.{x}') for x in ('center_of_mass', 'inertia'))
        payload = _payload(mass, place, inertia)
        if payload.mass > 0.0:
            made.set_payload(link, payload, strict=True, allow=allowed_warnings(parameters))
    except KronDynamicsError as error:
        place = (
            'parameters payload.*' if named or parameters.value('payload.mass') else 'tip_frame'
        )
        raise type(error)(f'{place}: {error}') from error.__cause__
    return made


class PayloadService:
    """Answers `~/set_payload` once the payload is in effect.

    A worker thread checks the payload, and compiles kernels if the link needs new ones. Then the
    payload is blended in by small steps on the executor's thread, which also sends the commands;
    or at once if no commands are sent.
    """

    def __init__(
        self,
        node: Node,
        parameters: ParameterSet,
        clock: Clock,
        present: Callable[[], Present],
    ) -> None:
        """Offer the service.

        Args:
            node: node that offers the service.
            parameters: parameters of dynamics_node.
            clock: steady clock.
            present: returns the node's configured robot, its controller while it is active, and
                its joint state assembler; None for each that does not exist.
        """
        self._node = node
        self._parameters = parameters
        self._present = present
        self._worker = Worker(node, 'payload')
        self._change: PayloadChange | None = None
        self._adopted: PayloadQuantities | None = None
        self._in_effect: Future[str] | None = None
        self._last = 0.0
        self._busy = False
        self._timer = node.create_timer(_STEP, self._advance, clock=clock)
        self._timer.cancel()
        # Not the callback group of the joint states: a pending request must not delay them.
        group = ReentrantCallbackGroup()
        node.create_service(SetPayload, '~/set_payload', self._answer, callback_group=group)

    def values(self) -> dict[str, str]:
        """Return the payloads of the machine, as texts for the diagnostics."""
        configured = self._present()[0]
        if configured is None:
            return {}
        change = self._change
        values = {}
        if change is not None:
            values['payload change in effect [%]'] = f'{100.0 * change.share:.0f}'
        for link, payload in configured.flexible.payloads.items():
            x, y, z = payload.center_of_mass
            values[f'payload of {link}'] = f'{payload.mass:g} kg at ({x:g}, {y:g}, {z:g}) m'
        return values

    def finish(self) -> None:
        """Complete a pending change at once, because no more commands follow."""
        if self._change is not None:
            self._advance_to(1.0)

    async def _answer(
        self, request: SetPayload.Request, response: SetPayload.Response
    ) -> SetPayload.Response:
        if self._busy:
            response.message = 'another payload is being set: wait for its answer'
            return response
        self._busy = True
        try:
            configured, controller, assembler = self._present()
            if configured is None:
                raise ModelError('the node is not configured')
            q = None
            if controller is not None and assembler is not None:
                # Not in the worker: states arrive in this thread.
                q = assembler.state(time.monotonic()).q
            change, adopted = await self._worker.run(
                self._prepared, request, configured, controller, q
            )
            if self._present()[0] is not configured:
                raise ModelError('the node has been cleaned up meanwhile')
            if self._present()[1] not in (None, controller):
                raise ModelError('the node has been activated meanwhile: set the payload again')
            self._start(change, adopted)
            if self._in_effect is not None:
                await self._in_effect
            response.success = True
            carries = f'{request.mass:g} kg' if request.mass else 'nothing'
            link = self._link(request, configured)
            self._node.get_logger().info(f"set_payload: link '{link}' carries {carries}")
        except KronDynamicsError as error:
            response.message = ' '.join(str(error).split())
            self._node.get_logger().error(f'set_payload refused: {response.message}')
        finally:
            self._busy = False
        return response

    def _link(self, request: SetPayload.Request, present: ConfiguredRobot) -> str:
        return str(request.link or self._parameters.value('payload.link') or present.tip_frame)

    def _prepared(
        self,
        request: SetPayload.Request,
        configured: ConfiguredRobot,
        controller: TrackingController | None,
        q: FloatArray | None,
    ) -> tuple[PayloadChange, PayloadQuantities | None]:
        """Check a request and compile the kernels that it needs; runs in the worker thread.

        Args:
            request: the request.
            configured: the machine.
            controller: the active controller, or None.
            q: measured positions, shape (n,), rad or m, NaN where not fresh; None while no
                commands are sent.

        Returns:
            the change, and what an active controller has to adopt; None without one.
        """
        robot, link = configured.flexible, self._link(request, configured)
        place = request.center_of_mass
        try:
            payload = _payload(request.mass, [place.x, place.y, place.z], request.inertia)
            after = robot.with_payload(
                link, payload, strict=True, allow=allowed_warnings(self._parameters)
            )
        except KronDynamicsError as error:
            text = str(error)
            if link not in text:
                text = f"payload of link '{link}': {text}"
            if error.__cause__ is not None:
                text = f'{text}; the parameter {ALLOWED} can allow it'
            raise type(error)(text) from None
        if q is not None and np.isfinite(q).all():
            require_strength(self._parameters, after.rigid, q)
        adopted = None
        if controller is None:
            checked_fault_hold(self._parameters, after.rigid, after)
        else:
            from kron_dynamics.control.payload_quantities import PayloadQuantities

            settings = control_settings(self._parameters, after.rigid)
            adopted = PayloadQuantities.of(settings, after.rigid, after)
        change = PayloadChange(robot, after)
        # Here, not with the first step: others may have added kernels meanwhile, and these are
        # compiled for a new link.
        change.advance(0.0)
        return change, adopted

    def _start(self, change: PayloadChange, adopted: PayloadQuantities | None) -> None:
        self._change, self._adopted = change, adopted
        if self._present()[1] is None:
            self._advance_to(1.0)
            return
        self._in_effect = Future(executor=self._node.executor)
        self._last = time.monotonic()
        self._timer.reset()

    def _advance(self) -> None:
        """Make the next step of a change; timer callback."""
        change, now = self._change, time.monotonic()
        if change is None:
            self._timer.cancel()
            return
        elapsed = min(now - self._last, _LONGEST_STEPS * _STEP)
        self._last = now
        active = self._present()[1] is not None
        step = elapsed / self._parameters.value('payload.ramp_time') if active else 1.0
        self._advance_to(min(1.0, change.share + step))

    def _advance_to(self, share: float) -> None:
        change, controller = self._change, self._present()[1]
        assert change is not None
        change.advance(share)
        if share < 1.0:
            return
        if controller is not None and self._adopted is not None:
            self._adopted.adopt(controller)
        self._change = self._adopted = None
        self._timer.cancel()
        waiting, self._in_effect = self._in_effect, None
        if waiting is not None:
            waiting.set_result('')


def _payload(
    mass: float, center_of_mass: Sequence[float], inertia: Sequence[float]
) -> RigidPayload:
    """Return a payload from its six moments of inertia; no payload if the mass is 0."""
    if len(inertia) != 6:
        raise ShapeError(
            f'inertia has {len(inertia)} numbers, expected ixx, ixy, ixz, iyy, iyz, izz'
        )
    if mass == 0.0:
        return RigidPayload(0.0)
    xx, xy, xz, yy, yz, zz = inertia
    return RigidPayload(
        mass,
        np.array(center_of_mass, dtype=float),
        np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=float),
    )
