// Copyright 2026 The kron_dynamics Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computed torque on an exported robot: references, control law and last efforts. No ROS, no heap.

#ifndef COMPUTED_TORQUE_HPP
#define COMPUTED_TORQUE_HPP

#include "stacker_reclaimer_dynamics/stacker_reclaimer.hpp"

namespace computed_torque {

constexpr int size = stacker_reclaimer::size;
using Vector = stacker_reclaimer::Vector<size>;

// Positions, velocities and accelerations at one time; rad or m.
struct Reference {
  Vector q = Vector::Zero(), qd = Vector::Zero(), qdd = Vector::Zero();

  bool at_rest() const { return (qd.array() == 0.0).all() && (qdd.array() == 0.0).all(); }
};

// Efforts saturated at the limits of the description, N m or N. NaN is not changed.
inline Vector limited(Vector tau) {
  for (int k = 0; k < size; ++k) {
    const double limit = stacker_reclaimer_effort_limit[k];
    if (tau[k] > limit) tau[k] = limit;
    if (tau[k] < -limit) tau[k] = -limit;
  }
  return tau;
}

// Not thread-safe: use it only in the thread of the loop.
class Law {
 public:
  // A moving reference is valid for `timeout` seconds. Throws std::runtime_error if the library does not
  // have this fingerprint.
  Law(const char *fingerprint, const Vector &kp, const Vector &kd, double timeout)
      : robot_(fingerprint), kp_(kp), kd_(kd), timeout_(timeout) {}

  // Hold q from now on and discard the previous reference.
  void hold(const Vector &q) {
    reference_ = Reference();
    reference_.q = q;
  }

  void follow(const Reference &reference) {
    reference_ = reference;
    age_ = 0.0;
  }

  // Efforts of a cycle, `period` seconds after the previous one. If a moving reference is too old, its
  // sender has stopped, and the robot holds its present position; a reference at rest is the end of a
  // motion and does not expire. A NaN in the state gives NaN.
  Vector effort(const Vector &q, const Vector &qd, double period) {
    age_ += period;
    if (age_ > timeout_ && !reference_.at_rest() && q.allFinite()) hold(q);
    const Vector command = reference_.qdd + kp_.cwiseProduct(reference_.q - q) +
                           kd_.cwiseProduct(reference_.qd - qd);
    const Vector tau = robot_.inverse_dynamics(q, qd, command);
    return limited(tau + robot_.joint_friction(reference_.qd));
  }

  // Last efforts, for when the controller ends: gravity compensation at q. Zero if q is not finite, since
  // gravity compensation for a wrong position drives the robot.
  Vector rest(const Vector &q) const {
    const Vector weight = robot_.gravity_vector(q);
    return weight.allFinite() ? limited(weight) : Vector(Vector::Zero());
  }

 private:
  stacker_reclaimer::Robot robot_;
  Vector kp_, kd_;
  double timeout_, age_ = 0.0;
  Reference reference_;
};

}  // namespace computed_torque

#endif
