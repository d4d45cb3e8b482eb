# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""dynamics_node: computed torque, motion of tip and links, and model services for any URDF."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import qos_profile_sensor_data
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from kron_dynamics.control import JointStateAssembler, load_solvers
from kron_dynamics.control.tracking_controller import TrackingController
from kron_dynamics.exceptions import KronDynamicsError, ParameterError
from kron_dynamics.ros.autostart import Autostart
from kron_dynamics.ros.configured_robot import ConfiguredRobot
from kron_dynamics.ros.controller_factory import check_loop, make_controller
from kron_dynamics.ros.conversions import Stamp
from kron_dynamics.ros.description import publish_constraints
from kron_dynamics.ros.description_source import DescriptionSource
from kron_dynamics.ros.diagnostics import (
    CycleStatistics,
    DiagnosticsPublisher,
    activity,
    controller_values,
    state_values,
)
from kron_dynamics.ros.joint_parameters import dynamics_joint_parameters
from kron_dynamics.ros.main import run_node
from kron_dynamics.ros.node_parameters import DYNAMICS
from kron_dynamics.ros.outputs import CommandOutput, StateOutputs
from kron_dynamics.ros.parameter_set import ParameterSet
from kron_dynamics.ros.payload_service import PayloadService, carrying_robot
from kron_dynamics.ros.reference_interface import ReferenceInterface
from kron_dynamics.ros.services import provide_services
from kron_dynamics.ros.signals import stopped_at_once
from kron_dynamics.ros.state_supervision import StateSupervision
from kron_dynamics.ros.terms_output import TermsOutput
from kron_dynamics.ros.unknown_parameters import refuse_unknown_parameters
from kron_dynamics.ros.watchdog import Watchdog
from kron_dynamics.typing import FloatArray

_SUCCESS, _FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class DynamicsNode(LifecycleNode):
    """Configured: model and kernels are ready, services answer. Active: commands are sent."""

    def __init__(self) -> None:
        """Declare the parameters, and load the description if the parameters contain it.

        Raises:
            KronDynamicsError: a parameter, or the description in the parameters, is unusable.
        """
        super().__init__('dynamics_node')
        self._settings = ParameterSet(self)
        self._settings.declare(DYNAMICS)
        self._configured: ConfiguredRobot | None = None
        self._active = False
        self._descriptions = DescriptionSource(
            self,
            self._settings,
            commands=lambda: self._active,
            in_use=lambda: self._configured and self._configured.flexible,
            refused=lambda error: self._note_error('robot_description refused', error),
        )
        publish_constraints(self, self._settings)
        self._assembler: JointStateAssembler | None = None
        self._controller: TrackingController | None = None
        self._supervision: StateSupervision | None = None
        self._outputs: StateOutputs | None = None
        self._last_command, self._brakes = 0.0, False  # s; whether it brakes by a velocity
        self._time = 0.0
        self._notes: dict[str, str] = {}
        self._statistics = CycleStatistics()
        # For work longer than a cycle: shaping references, damping gains for another pose.
        self._background = ThreadPoolExecutor(max_workers=1, thread_name_prefix='control')
        self._solvers: Future[None] | None = None
        self._references = ReferenceInterface(
            self,
            self._settings,
            self._background,
            lambda: (self._controller if self._active else None, self._time),
        )
        self._commands = CommandOutput(self)
        self._terms = TermsOutput(self)
        self._diagnostics = DiagnosticsPublisher(self)
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._watchdog: Watchdog | None = None
        self._subscribe()
        self.create_service(Trigger, '~/clear_fault', self._on_clear_fault)
        provide_services(self, self._settings, lambda: self._configured)
        self._payloads = PayloadService(
            self,
            self._settings,
            self._steady,
            lambda: (self._configured, self._controller, self._assembler),
        )
        period = self._settings.value('diagnostics_period')
        self.create_timer(period, self._publish_diagnostics, clock=self._steady)
        if self._settings.value('autostart'):
            Autostart(
                self,
                self._steady,
                description=lambda: self._descriptions.robot,
                waits_for=self._activation_waits_for,
                failed=self._autostart_failed,
            )

    def _subscribe(self) -> None:
        self.create_subscription(
            JointState,
            'joint_states',
            self._on_joint_state,
            qos_profile_sensor_data,
            raw=True,
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
        )

    # Lifecycle

    @stopped_at_once()
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Compile the kernels of the description and make the publishers."""
        try:
            description = self._descriptions.latest()
        except KronDynamicsError as error:
            self._note_error('cannot configure', f'robot_description refused: {error}')
            return _FAILURE
        if description is None:
            self._note_error('cannot configure', 'no robot_description received yet')
            return _FAILURE
        if self._solvers is None and description.model.is_flexible:
            self._solvers = self._background.submit(load_solvers)
        link = self._settings.value('tip_frame') or description.model.tip_link
        try:
            configured = ConfiguredRobot(carrying_robot(self._settings, description, link), link)
            robot = configured.robot
            self._settings.declare(dynamics_joint_parameters(robot.joint_names))
            refuse_unknown_parameters(self)
            configured.prepare(self._settings.value('linearized_model_rate') > 0.0)
            check_loop(self._settings, robot, configured.flexible)
            self._outputs = StateOutputs(self, configured, self._settings, self._steady)
        except KronDynamicsError as error:
            self._note_error('cannot configure', error)
            return _FAILURE
        if self._solvers is not None:
            self._solvers.result()  # neither activation nor a reference must wait for an import
        timeout = self._settings.value('state_timeout')
        self._assembler = JointStateAssembler(robot.joint_names, timeout=timeout)
        self._supervision = StateSupervision(self, self._settings, robot, self._assembler)
        self._configured = configured
        self._commands.name_joints(robot.joint_names)
        self._notes.clear()
        self.get_logger().info(configured.summary())
        return _SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start to hold the measured position, or log why that is not possible."""
        assembler, configured, supervision = self._assembler, self._configured, self._supervision
        assert assembler is not None
        assert configured is not None
        assert supervision is not None
        now = time.monotonic()
        present, problem = assembler.state(now), supervision.obstacle(now)
        if self._simulated_time_forbidden():
            problem = 'use_sim_time is set and allow_commands_in_sim_time is not'
        if problem is not None:
            self._note_error('cannot activate', problem)
            return _FAILURE
        try:
            controller = make_controller(
                self._settings, configured.robot, configured.flexible, present.q, self._background
            )
            controller.start(present.q, present.effort)
        except KronDynamicsError as error:
            self._note_error('cannot activate', error)
            return _FAILURE
        timeout = present.timeout
        self._watchdog = Watchdog(self, self._steady, timeout, controller, self._watch)
        self._controller = controller
        supervision.take_up_settings()
        self._settings.lock('the node is active: deactivate it to change parameters')
        self._notes.clear()
        self._references.start(controller)
        self._terms.publish(controller.law.terms)
        self._active = True
        self.get_logger().info(f'active: efforts go to {self.resolve_topic_name("~/commands")}')
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Send one last safe command and stop commanding."""
        controller = self._controller
        self._payloads.finish()
        if controller is not None and self._supervision is not None:
            position = self._supervision.position(time.monotonic())
            self._send(controller.last_effort(position))
        self._stop_control()
        return super().on_deactivate(state)

    def _stop_control(self) -> None:
        self._references.drop('the node is not active any more')
        self._active, self._controller = False, None
        self._settings.lock(None)
        if self._watchdog is not None:
            self._watchdog.destroy()
            self._watchdog = None

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Discard the model; the description is kept for the next configuration."""
        if self._outputs is not None:
            self._outputs.destroy()
        self._configured = self._assembler = self._outputs = self._supervision = None
        return super().on_cleanup(state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop commanding and discard the model after an exception in a transition."""
        self.get_logger().error('a transition failed unexpectedly: the node is unconfigured')
        self._stop_control()
        super().on_deactivate(state)
        self.on_cleanup(state)
        return super().on_error(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Deactivate first if active, so that the machine gets a last safe command."""
        if self._active:
            self.on_deactivate(state)
        return super().on_shutdown(state)

    def stop(self) -> None:
        """Deactivate before the process ends, so that the machine gets a last safe command."""
        if self._active:
            self.trigger_deactivate()
            self._commands.flush()
        self._background.shutdown(wait=False, cancel_futures=True)

    def _activation_waits_for(self) -> str | None:
        """Return what activation waits for, as text; None if it can be attempted."""
        assembler, supervision = self._assembler, self._supervision
        assert assembler is not None  # the node is configured
        assert supervision is not None
        now = time.monotonic()
        if assembler.state(now).problem() is not None:
            return f'{self.resolve_topic_name("joint_states")}: {supervision.problem(now)}'
        if self._simulated_time_forbidden():
            return 'allow_commands_in_sim_time, as use_sim_time is set'
        return supervision.obstacle(now)

    def _autostart_failed(self) -> None:
        if not self._descriptions.from_topic:
            raise ParameterError(f'autostart failed: {self._notes.get("error", "see above")}')

    def _simulated_time_forbidden(self) -> bool:
        value = self._settings.value
        return bool(value('use_sim_time') and not value('allow_commands_in_sim_time'))

    def _note_error(self, what: str, error: Exception | str) -> None:
        self._notes['error'] = ' '.join(str(error).split())
        self.get_logger().error(f'{what}: {self._notes["error"]}')

    # Inputs

    def _on_joint_state(self, data: bytes, info: Mapping[str, Any]) -> None:
        started = time.perf_counter()
        now = time.monotonic()
        outputs, supervision = self._outputs, self._supervision
        if outputs is None or supervision is None:
            return
        present, stamp, time_, problem = supervision.receive(data, info, now)
        controller = self._controller if self._active else None
        if problem is not None and controller is not None:
            self._fault(controller, problem, now)
        self._time = time_ or self._time
        if present is None:
            return
        self._statistics.arrivals.append(now)
        command = None
        collision = outputs.external.update(stamp, self._time, present, controller)
        if collision is not None and controller is not None:
            self._fault(controller, collision, now)
        if controller is not None:
            problem = self._references.proceed(controller, present, self._time)
            self._fault(controller, problem, now)
        if controller is not None and not controller.latch.faulted:
            command = controller.update(present.q, present.qd, self._time, now)
            if command is None:
                self._report_fault(controller)
            else:
                self._commands.publish(stamp, command.effort)
                self._last_command, self._brakes = now, False
                self._statistics.compute.append(time.perf_counter() - started)
        if controller is not None and controller.latch.faulted:
            elapsed, age = now - self._last_command, float(present.ages[:2].max())
            effort = controller.fault_effort(present.q, present.qd, self._time, elapsed, age)
            self._send(effort, stamp)
        outputs.publish(stamp, self._time, present, command)

    # Faults

    def _watch(self) -> None:
        """Latch a fault if joint states are missing, and send efforts for a fault without states.

        A braking effort must not be held longer than `longest_brake`, one of the law not at all.
        """
        controller, supervision = self._controller, self._supervision
        watchdog = self._watchdog
        if controller is None or supervision is None or watchdog is None:
            return
        now = time.monotonic()
        problem = watchdog.confirmed(supervision.problem(now), now, supervision.accepted)
        self._fault(controller, problem, now)
        elapsed = now - self._last_command
        held = controller.longest_brake if self._brakes else 0.0
        if controller.latch.faulted and elapsed > held:
            self._send(controller.fault_effort_without_state(elapsed))

    def _fault(self, controller: TrackingController, reason: str | None, now: float) -> None:
        if reason is not None and controller.latch.trip(reason, now):
            self._report_fault(controller)

    def _report_fault(self, controller: TrackingController) -> None:
        action = self._settings.value('fault_action')
        self.get_logger().error(f'fault: {controller.latch.reason}; action: {action}')
        self._references.drop(f'a fault stopped the machine: {controller.latch.reason}')
        self._publish_diagnostics()

    def _send(self, effort: FloatArray | None, stamp: Stamp | None = None) -> None:
        """Send efforts, or nothing for None; without a state's stamp, use the node clock."""
        if effort is not None and self._configured is not None:
            self._brakes = stamp is not None
            if stamp is None:
                stamp = Stamp(*divmod(self.get_clock().now().nanoseconds, 10**9))
            self._commands.publish(stamp, effort)
            self._last_command = time.monotonic()

    def _on_clear_fault(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        controller, assembler, supervision = self._controller, self._assembler, self._supervision
        if controller is None or assembler is None or supervision is None:
            response.message = 'the node is not active'
        elif not controller.latch.faulted:
            response.success, response.message = True, 'there is no fault'
        else:
            now = time.monotonic()
            present, problem = assembler.state(now), supervision.obstacle(now)
            try:
                response.success = controller.clear(problem, present.q, present.effort)
            except KronDynamicsError as error:
                problem = ' '.join(str(error).split())
            response.message = problem or 'fault cleared: holding the measured position'
            self.get_logger().info(f'clear_fault: {response.message}')
            self._publish_diagnostics()
        return response

    # Reports

    def _publish_diagnostics(self) -> None:
        values = {'lifecycle state': self._state_machine.current_state[1], **self._notes}
        values |= self._references.values()
        level, message, hardware = DiagnosticStatus.WARN, 'not active', ''
        configured, assembler, outputs = self._configured, self._assembler, self._outputs
        if configured is not None and assembler is not None and outputs is not None:
            hardware = configured.robot.model.name
            values |= state_values(configured.robot, assembler, time.monotonic())
            values |= self._statistics.values() | outputs.values() | self._payloads.values()
        if self._supervision is not None:
            values |= self._supervision.values()
        if self._controller is not None:
            level, message = activity(self._controller, self._settings)
            values |= controller_values(self._controller, self._settings)
        self._diagnostics.publish(level, message, hardware, values)


def main(arguments: list[str] | None = None) -> int:
    """Run dynamics_node; return the process's exit code."""
    return run_node(DynamicsNode, arguments, DynamicsNode.stop)


if __name__ == '__main__':
    sys.exit(main())
