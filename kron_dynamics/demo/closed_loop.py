# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Closed loop of a controller and the simulated machine, without ROS, faster than real time."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control.tracking_controller import TrackingController
from kron_dynamics.demo.motion import RATED_ACCELERATION, VELOCITY_SHARE
from kron_dynamics.demo.residual import EXCITED
from kron_dynamics.exceptions import ParameterError, TrajectoryError
from kron_dynamics.robot import Robot
from kron_dynamics.simulation.plant import Plant
from kron_dynamics.typing import ArrayLike, FloatArray

# Lengths of the moves, rad: short, but long enough for a phase of constant velocity.
WAYS = {'slew': 0.06, 'luff': 0.012}
# Waiting times before and after a move, and the window in which its vibration is measured, s.
_BEFORE, _AFTER, _MEASURED = 0.5, 4.0, 3.6
# Longest integration step, s.
_STEP = 0.01


class ClosedLoop:
    """A controller and the simulated machine, whose n coordinates end with the modal ones.

    Each period the controller reads the joint states; its efforts are held until the next
    period. States, references and estimated deflections are recorded.

    Attributes:
        plant: the machine.
        controller: follows references; started with the machine at rest.
        time: time of the next state, s.
    """

    def __init__(
        self,
        machine: Robot,
        controller: TrackingController,
        position: ArrayLike,
        *,
        period: float,
        resolution: ArrayLike = 0.0,
        start_time: float = 0.0,
    ) -> None:
        """Start at rest, with measured efforts that balance gravity.

        Args:
            machine: simulated machine; it may differ from the controller's model.
            controller: controller for this loop only.
            position: joint positions, shape (n_j,), rad or m.
            period: control period, s.
            resolution: quantum of the measured positions, shape (n_j,) or a scalar, rad or m; 0
                for exact positions.
            start_time: time of the first state, s.

        Raises:
            ParameterError: a start position is outside its limits.
            ModelError: flexible links buckle under their weight.
        """
        self.plant = Plant(machine, position)
        self.controller = controller
        self.time = self._start = start_time
        self._period = period
        self._count = machine.model.joint_count
        self._resolution = np.broadcast_to(np.asarray(resolution, np.float64), self._count)
        q = self.plant.q
        controller.start(q[: self._count].copy(), machine.gravity_vector(q)[: self._count])
        self._times: list[float] = []
        self._states: list[FloatArray] = []
        self._references: list[FloatArray] = []
        self._deflections: list[FloatArray] = []

    @property
    def times(self) -> FloatArray:
        """Times of the N states recorded so far, shape (N,), s."""
        return np.array(self._times)

    @property
    def states(self) -> FloatArray:
        """True coordinates, shape (N, n), rad or m."""
        return np.array(self._states).reshape(-1, self.plant.robot.n)

    @property
    def references(self) -> FloatArray:
        """Reference positions of the joints, shape (N, n_j), rad or m."""
        return np.array(self._references).reshape(-1, self._count)

    @property
    def deflections(self) -> FloatArray:
        """Modal coordinates estimated by the controller, shape (N, n - n_j), m.

        NaN if its law does not estimate them.
        """
        return np.array(self._deflections).reshape(-1, self.plant.robot.n - self._count)

    def coordinate(self, name: str) -> FloatArray:
        """Return a true coordinate by name, shape (N,), rad or m.

        Raises:
            ParameterError: the machine has no such coordinate.
        """
        return self.states[:, self._index(name)]

    def advance(self, duration: float) -> None:
        """Run the loop for a duration, s, rounded to whole periods.

        Raises:
            TrajectoryError: the controller stopped because of a fault.
            NonFiniteError: the simulation diverged.
        """
        for _ in range(round(duration / self._period)):
            q, qd = self.plant.q, self.plant.qd
            steps, measured = self._resolution > 0.0, q[: self._count].copy()
            size = self._resolution[steps]
            measured[steps] = size * np.rint(measured[steps] / size)
            command = self.controller.update(measured, qd[: self._count], self.time, self.time)
            if command is None:
                raise TrajectoryError(
                    f'the controller stopped at {self.time:g} s: {self.controller.latch.reason}'
                )
            none = np.full(len(q) - self._count, np.nan)
            self._times.append(self.time)
            self._states.append(q)
            self._references.append(command.q_ref)
            self._deflections.append(command.deflection[0] if command.deflection else none)
            self.plant.advance(command.effort, self._period, _STEP)
            self.time = self._start + len(self._times) * self._period

    def move(self, joint: str, way: float) -> tuple[float, float]:
        """Send a move with trapezoidal velocity that starts at the current reference.

        Accelerations are the rated ones and switch without ramps, which excites the boom most.

        Args:
            joint: travel, slew or luff.
            way: length of the move, rad or m, above 0 and long enough to cruise.

        Returns:
            End times of the move as requested and of the (shaped) reference that is followed, s.

        Raises:
            ParameterError: the machine has no such joint, or the way is too short to cruise.
            TrajectoryError: the machine cannot follow.
        """
        if joint not in RATED_ACCELERATION:
            rated = ', '.join(RATED_ACCELERATION)
            raise ParameterError(f"'{joint}' has no rated acceleration, only {rated} have")
        k = self._index(joint)
        speed = VELOCITY_SHARE * float(self.plant.robot.model.velocity_limit[k])
        ramp, cruise = speed / RATED_ACCELERATION[joint], way / speed
        if not cruise > ramp:
            raise ParameterError(
                f"'{joint}' cannot cruise in {way:g}, expected a way above {speed * ramp:g}"
            )
        axis = np.eye(self._count)[k]
        after = [0.0, speed * ramp / 2.0, way - speed * ramp / 2.0, way]
        rates = [0.0, speed, speed, 0.0]
        start, times = self.time, [0.0, ramp, cruise, cruise + ramp]
        begin = self.controller.reference_at(start)[0]
        followed = self.controller.set_reference(
            times, begin + np.outer(after, axis), np.outer(rates, axis), None, start_time=start
        )
        return start + times[-1], start + followed.duration

    def hit(self, name: str, impulse: float) -> None:
        """Apply an impulse, N s or N m s, to a coordinate by name.

        Raises:
            ParameterError: the machine has no such coordinate.
        """
        impulses = impulse * np.eye(self.plant.robot.n)[self._index(name)]
        M = self.plant.robot.mass_matrix(self.plant.q)
        self.plant.qd = self.plant.qd + np.linalg.solve(M, impulses)

    def amplitude(self, name: str, begin: float, duration: float) -> float:
        """Return half the peak-to-peak range of a coordinate in a time window, rad or m.

        Args:
            name: name of the coordinate.
            begin: begin of the window on the loop's clock, s.
            duration: length of the window, s.

        Raises:
            ParameterError: the machine has no such coordinate, or the window has no state.
        """
        times = self.times
        inside = (times > begin) & (times < begin + duration)
        if not inside.any():
            raise ParameterError(f'no state within {duration:g} s after {begin:g} s')
        return float(np.ptp(self.coordinate(name)[inside]) / 2.0)

    def settling_time(self, name: str, begin: float, share: float) -> float:
        """Return the time after which a deviation stays below a share of its largest value.

        Args:
            name: name of the coordinate.
            begin: time of a state, s; deviations are relative to that state.
            share: share of the largest deviation, 0 to 1.

        Returns:
            Settling time since `begin`, s; inf if the coordinate does not settle.

        Raises:
            ParameterError: the machine has no such coordinate, or there is no later state.
        """
        inside = self.times >= begin - self._period / 2.0
        if np.count_nonzero(inside) < 2:  # the first one is that of the beginning
            raise ParameterError(f'no state after {begin:g} s')
        times, values = self.times[inside], self.coordinate(name)[inside]
        deviation = np.abs(values - values[0])
        outside = np.flatnonzero(deviation > share * deviation.max())
        if len(outside) == 0:
            return 0.0
        return float(times[outside[-1]] - begin) if outside[-1] + 1 < len(times) else np.inf

    def _index(self, name: str) -> int:
        names = self.plant.robot.joint_names
        if name not in names:
            raise ParameterError(f"no coordinate '{name}', expected one of {', '.join(names)}")
        return names.index(name)


def left_behind(loop: ClosedLoop, joint: str) -> float:
    """Move a joint and return the residual vibration.

    Args:
        loop: a machine at rest.
        joint: slew or luff; it moves by its distance in `WAYS` after a short wait.

    Returns:
        Amplitude of the excited mode in about three periods after the end of the reference that
        is followed, m at the tip.

    Raises:
        TrajectoryError: the machine cannot follow, or the controller stopped because of a fault.
    """
    loop.advance(_BEFORE)
    _, end = loop.move(joint, WAYS[joint])
    loop.advance(end - loop.time + _AFTER)
    return loop.amplitude(EXCITED[joint], end, _MEASURED)
