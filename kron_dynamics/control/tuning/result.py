# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Result of tuning."""

from __future__ import annotations

from dataclasses import dataclass

from kron_dynamics.control.gravity_hold import DampingRange
from kron_dynamics.control.supervision.tolerances import TrackingTolerances
from kron_dynamics.typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Tuning:
    """Gains of computed torque at a joint-state rate, and their limits; arrays of shape (n,).

    Attributes:
        joint_names: names in the order of the robot.
        joint_types: kinds of the joints, as in `JOINT_KINDS`.
        bandwidth: natural frequency f of each joint's error, Hz: kp = (2 pi f)^2.
        kp: position gains, 1/s^2.
        kd: velocity gains, 1/s.
        damping_ratio: damping ratio of the error, 1 for critical damping.
        rate: rate of the joint states, Hz.
        delay: time from a state until its efforts act, s.
        model_error: relative error of the model's inertias and masses.
        poses: number of poses analysed.
        stable_from: lowest stable bandwidths, with a fixed ratio between the joints, Hz; 0 if
            there is no lower bound.
        stable_to: highest stable bandwidths with model errors, same ratio, Hz.
        exact_to: highest stable bandwidths with an exact model, same ratio, Hz.
        single_to: highest stable bandwidth of a single joint with rigid links, Hz.
        least_rate: lowest stable rate of the joint states with constant delay / period, Hz.
        longest_delay: longest stable delay at the rate, s.
        lowest_mode: lowest frequency of flexible links with clamped joints over all poses, Hz; inf
            for rigid links.
        saturating_step: smallest position step that saturates an effort in one of the poses, rad
            or m.
        overloaded: share of the poses in which gravity alone exceeds an effort limit.
        effort_limit: N m or N.
        effort_rate_limit: N m/s or N/s.
        start_tolerance: allowed distance between reference and machine at the start of a
            reference, rad or m.
        tolerances: tolerances of the tracking error.
        hold: stable range of the damping of the fault action hold_gravity.
        hold_damping: geometric mean of that range, 1/s.
        effort_lead: half a period, plus the delay if it is known, s.
        state_timeout: s.
        pd_inertia_ratio: largest eigenvalue of M^-1 diag(M), the largest gain error of the law pd.
        pd_unstable: share of the poses in which the law pd is unstable with these gains.
        warnings: small stability margins and other limitations, as sentences.
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
