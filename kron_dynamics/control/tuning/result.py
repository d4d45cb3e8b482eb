# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What tuning finds."""

from __future__ import annotations

from dataclasses import dataclass

from kron_dynamics.control.gravity_hold import DampingRange
from kron_dynamics.control.supervision.tolerances import TrackingTolerances
from kron_dynamics.typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Tuning:
    """Gains of computed torque at a rate, and what they can do; arrays of shape (n,).

    Attributes:
        joint_names: in the order of the robot.
        joint_types: revolute, continuous or prismatic.
        bandwidth: natural frequency of each joint's error, Hz: kp = (2 pi f)^2.
        kp: position gains, 1/s^2.
        kd: velocity gains, 1/s.
        damping_ratio: of the error, 1 for critical damping.
        rate: of the joint states, Hz.
        delay: from a state until its efforts act, s.
        model_error: share by which inertias and masses of the model may be off.
        poses: how many were looked at.
        stable_from: bandwidths from which the loop is stable, those of the others in proportion,
            Hz; 0 where there is no such bound.
        stable_to: up to which it is stable with such a model, Hz.
        exact_to: up to which it is stable with an exact model, Hz.
        single_to: the same of one joint alone with stiff links, Hz.
        least_rate: of the joint states with which it is stable, with the delay in proportion, Hz.
        longest_delay: with which it is stable at the rate, s.
        lowest_mode: of flexible links with the joints held, in any pose, Hz; inf for stiff links.
        saturating_step: of the position that asks for all of an effort limit in one of the poses.
        overloaded: share of the poses in which the weight alone exceeds an effort limit.
        effort_limit: N m or N.
        effort_rate_limit: N m/s or N/s.
        start_tolerance: between reference and machine when a reference begins, rad or m.
        tolerances: of the tracking error.
        hold: dampings at which the fault action hold_gravity is stable.
        hold_damping: the one in the middle, 1/s.
        effort_lead: half a period, and the delay where that is known, s.
        state_timeout: s.
        pd_inertia_ratio: largest eigenvalue of M^-1 diag(M): what the law pd makes of the gains.
        pd_unstable: share of the poses in which the law pd is unstable with them.
        warnings: what leaves little room, as sentences.
    """

    joint_names: tuple[str, ...]
    joint_types: tuple[str, ...]
    bandwidth: FloatArray
    kp: FloatArray
    kd: FloatArray
    damping_ratio: float
    rate: float
    delay: float
    model_error: float
    poses: int
    stable_from: FloatArray
    stable_to: FloatArray
    exact_to: FloatArray
    single_to: float
    least_rate: float
    longest_delay: float
    lowest_mode: float
    saturating_step: FloatArray
    overloaded: float
    effort_limit: FloatArray
    effort_rate_limit: FloatArray
    start_tolerance: FloatArray
    tolerances: TrackingTolerances
    hold: DampingRange
    hold_damping: float
    effort_lead: float
    state_timeout: float
    pd_inertia_ratio: float
    pd_unstable: float
    warnings: tuple[str, ...]
