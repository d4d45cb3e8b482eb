# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Third-order dynamics: effort rates of a motion with jerk, and the jerk from effort rates.

The recursion of `inverse_dynamics` is differentiated with respect to time in body axes, where
inertias, joint axes and most offsets are constant; a moving joint rotates the wrench it transmits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from kron_dynamics.dynamics.composite import Inertia, Wrench, regrouped_inertias
from kron_dynamics.dynamics.forward import forward_dynamics, solve_positive_definite
from kron_dynamics.dynamics.mass_matrix import mass_matrix
from kron_dynamics.kinematics.forward import JointPlacement, joint_placements
from kron_dynamics.kinematics.motion import FrameMotion, body_motions, rate_vectors
from kron_dynamics.kinematics.scalars import as_scalars, number_vector, zeros_like
from kron_dynamics.kronecker import cross, skew
from kron_dynamics.model.rigid_model import RigidModel, rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


@singledispatch
def inverse_dynamics_rate(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike
) -> ScalarArray:
    """Return d(tau)/dt, shape (n,), N m/s or N/s: the rate of `inverse_dynamics` along a motion.

    ``M qddd + (dM/dq)(qdd (x) qd) + C* (qdd (x) qd + qd (x) qdd) + (dC*/dq)(qd (x) qd (x) qd)
    + (dg/dq) qd``, exact, without forming these derivatives; [N] eq. (65). Without friction.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: first derivatives, shape (n,).
        qdd: second derivatives, shape (n,).
        qddd: third derivatives, shape (n,), rad/s^3 or m/s^3.
    """
    return _newton_euler_rate(rigid_tree(model), q, qd, qdd, qddd)


def forward_jerk(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, tau_rate: ArrayLike
) -> ScalarArray:
    """Return qddd, shape (n,), rad/s^3 or m/s^3, from efforts and their rates, without friction.

    ``M^-1 (tau_rate - r)`` with r the `inverse_dynamics_rate` for the accelerations that tau
    causes and zero jerk: the inverse of `inverse_dynamics_rate`.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
        tau: joint efforts, shape (n,), N m or N.
        tau_rate: their rates, shape (n,), N m/s or N/s.

    Raises:
        InvalidInertiaError: a joint moves no mass, so that M is singular.
    """
    qdd = forward_dynamics(model, q, qd, tau)
    left = inverse_dynamics_rate(model, q, qd, qdd, zeros_like(q, (model.n,)))
    tau_rate = number_vector(tau_rate, 'tau_rate', model.n)
    return solve_positive_definite(mass_matrix(model, q), tau_rate - left)


@dataclass(frozen=True, slots=True, eq=False)
class _AccelerationRate:
    """Rates of the components of a body's accelerations in its own, rotating axes.

    Attributes:
        linear: rate of the acceleration of the origin, shape (3,).
        angular: rate of the angular acceleration, shape (3,).
    """

    linear: ScalarArray
    angular: ScalarArray

    def field(self, motion: FrameMotion) -> ScalarArray:
        """Return d/dt (wd~ + w~ w~), shape (3, 3), for the body's motion in the same axes."""
        w, wd = motion.angular
        products = np.outer(w, wd)
        across: ScalarArray = products + products.T - 2 * (w @ wd) * np.eye(3, dtype=int)
        return skew(self.angular) + across

    def moved(self, before: FrameMotion, body: JointPlacement, rates: Any) -> _AccelerationRate:
        """Return the rates of a child body whose joint moves with rates (qd, qdd, qddd).

        Args:
            before: motion of this body.
            body: placement of the child body on this one.
            rates: first to third derivative of the joint's coordinate.
        """
        qd, qdd, qddd = rates
        s, z = body.linear_axis, body.angular_axis
        carried = before.carried(body.offset).turned(body.rotation.T)
        a, (w, wd) = carried.linear[1], carried.angular
        turning = z * qd
        w_rate = wd - cross(turning, w)
        linear = body.rotation.T @ (self.linear + self.field(before) @ body.offset)
        # The joint slides along s, so the child's origin moves relative to this body.
        sliding = cross(wd, s) + cross(w, cross(w, s)) + 2 * cross(w_rate, s)
        return _AccelerationRate(
            linear - cross(turning, a) + s * qddd + cross(w, s) * (2 * qdd) + sliding * qd,
            body.rotation.T @ self.angular
            - cross(turning, wd)
            + (z * qddd + cross(w, z) * qdd + cross(w_rate, z) * qd),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _ChangingWrench:
    """A wrench on a body with the rates of its components, in the body's axes."""

    wrench: Wrench
    rate: Wrench

    def __add__(self, other: _ChangingWrench) -> _ChangingWrench:
        return _ChangingWrench(self.wrench + other.wrench, self.rate + other.rate)

    def to_parent(self, body: JointPlacement, qd: Any) -> _ChangingWrench:
        """Return the wrench transmitted to the parent body by a joint that moves with qd."""
        force, moment = self.wrench.force, self.wrench.moment
        turning, sliding = body.angular_axis * qd, body.linear_axis * qd
        rate = self.rate + Wrench(
            cross(turning, force), cross(turning, moment) + cross(sliding, force)
        )
        return _ChangingWrench(self.wrench.to_parent(body), rate.to_parent(body))


def _newton_euler_rate(
    model: RigidModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike
) -> ScalarArray:
    placements = joint_placements(model, number_vector(q, 'q', model.n))
    inertias = model.per_body(regrouped_inertias)
    motions = body_motions(model, placements, (qd, qdd), -model.gravity)
    qd, qdd, qddd = rate_vectors(qd, qdd, qddd, length=model.n)
    rest = np.zeros(3, dtype=int)
    # Gravity's components are constant in base axes, which are at rest.
    rates = model.table(_AccelerationRate(rest, rest))
    wrenches = model.table(_ChangingWrench(Wrench(rest, rest), Wrench(rest, rest)))
    for k, joint in model.outward():
        c = joint.coordinate
        steps = qd[c], qdd[c], qddd[c]
        rates[k] = rates[joint.parent].moved(motions[joint.parent], placements[k], steps)
        wrenches[k] = _body_wrench(inertias[k], motions[k], rates[k])
    # In the common number type of all four: some may be floats.
    tau_rate = zeros_like(as_scalars(q) + qd + qdd + qddd, (model.n,))
    for k, joint in model.inward():
        c = joint.coordinate
        tau_rate[c] += wrenches[k].rate.joint_effort(placements[k])
        wrenches[joint.parent] += wrenches[k].to_parent(placements[k], qd[c])
    for k in model.coordinates():
        tau_rate[k] += model.armature[k] * qddd[k]
    return tau_rate


def _body_wrench(
    inertia: Inertia, motion: FrameMotion, rate: _AccelerationRate
) -> _ChangingWrench:
    """Return a body's inertia wrench and its rate; its mass moments are constant in its axes."""
    return _ChangingWrench(
        inertia.moments(motion.linear[1], motion.field(1)).wrench,
        inertia.moments(rate.linear, rate.field(motion)).wrench,
    )
