# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A custom control law on a simulated machine: sliding mode with a boundary layer.

python custom_law.py robot.urdf
"""

import sys

import numpy as np

import kron_dynamics as kd
from kron_dynamics.control import JointReference, StatelessLaw, Trajectory, point_to_point
from kron_dynamics.simulation import Plant
from kron_dynamics.typing import FloatArray

PERIOD = 0.01  # s


class SlidingMode(StatelessLaw):
    """tau = M (qdd_ref + s ed + k sat(r / layer)) + c + g, with r = ed + s e."""

    def __init__(self, robot: kd.Robot, slope: float, gain: float, layer: float) -> None:
        """Set slope in 1/s, gain in rad/s^2 or m/s^2, and layer in rad/s or m/s."""
        self.robot, self.slope, self.gain, self.layer = robot, slope, gain, layer

    def effort(self, q: FloatArray, qd: FloatArray, reference: JointReference) -> FloatArray:
        """Return the efforts, shape (n,), N m or N."""
        q_ref, qd_ref, qdd_ref = reference
        error, rate = q_ref - q, qd_ref - qd
        reach = self.gain * np.clip((rate + self.slope * error) / self.layer, -1.0, 1.0)
        return self.robot.inverse_dynamics(q, qd, qdd_ref + self.slope * rate + reach)


robot = kd.load(sys.argv[1])
model = robot.model
start = np.clip(0.0, model.position_lower, model.position_upper)
reach = np.clip(start + 0.3, model.position_lower, model.position_upper)
duration = point_to_point(start, reach, model.velocity_limit / 4, model.velocity_limit / 4)
still = np.zeros((2, robot.n))
path = Trajectory.from_points(robot.joint_names, [0.0, duration], [start, reach], still, still)
law, plant = SlidingMode(robot, 4.0, 2.0, 0.2), Plant(robot, start)
state = law.start(plant.q)
worst = np.zeros(robot.n)
for t in np.arange(0.0, path.duration + 1.0, PERIOD):
    reference = path.sample(t)
    worst = np.maximum(worst, np.abs(plant.q - reference[0]))
    tau = law(plant.q, plant.qd, reference, state, PERIOD)
    plant.advance(tau, PERIOD, 0.001)
for joint, largest, left in zip(robot.joint_names, worst, reach - plant.q, strict=True):
    print(f'{joint:<20} off by {largest:.2e} at most, by {abs(left):.1e} at the end')
