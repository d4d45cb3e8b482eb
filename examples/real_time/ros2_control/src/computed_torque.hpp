// Copyright 2026 The kron_dynamics Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computed torque on an exported robot, what it follows and what it leaves behind: no ROS, no heap.

#ifndef COMPUTED_TORQUE_HPP
#define COMPUTED_TORQUE_HPP

#include "stacker_reclaimer_dynamics/stacker_reclaimer.hpp"

namespace computed_torque {

constexpr int size = stacker_reclaimer::size;
using Vector = stacker_reclaimer::Vector<size>;

// Positions, rates and accelerations of one moment; rad or m.
struct Reference {
  Vector q = Vector::Zero(), qd = Vector::Zero(), qdd = Vector::Zero();

  bool at_rest() const { return (qd.array() == 0.0).all() && (qdd.array() == 0.0).all(); }
};

// Efforts within the limits of the description, N m or N. A NaN is beyond neither limit, and stays.
inline Vector limited(Vector tau) {
  for (int k = 0; k < size; ++k) {
    const double limit = stacker_reclaimer_effort_limit[k];
    if (tau[k] > limit) tau[k] = limit;
    if (tau[k] < -limit) tau[k] = -limit;
  }
  return tau;
}

// One thread uses it: that of the loop.
class Law {
 public:
  // A reference that moves is good for `timeout` seconds. Throws std::runtime_error where the library
  // is not of the model with this fingerprint.
  Law(const char *fingerprint, const Vector &kp, const Vector &kd, double timeout)
      : robot_(fingerprint), kp_(kp), kd_(kd), timeout_(timeout) {}

  // Stays at q from now on. What was followed before is forgotten.
  void hold(const Vector &q) {
    reference_ = Reference();
    reference_.q = q;
  }

  void follow(const Reference &reference) {
    reference_ = reference;
    age_ = 0.0;
  }

  // Efforts of a cycle, `period` seconds after the one before. Where a reference that moves is too
  // old, its sender has gone, and the robot holds where it is: one at rest is where it was to end.
  // A NaN in the state gives NaN.
  Vector effort(const Vector &q, const Vector &qd, double period) {
    age_ += period;
    if (age_ > timeout_ && !reference_.at_rest() && q.allFinite()) hold(q);
    const Vector command = reference_.qdd + kp_.cwiseProduct(reference_.q - q) +
                           kd_.cwiseProduct(reference_.qd - qd);
    const Vector tau = robot_.inverse_dynamics(q, qd, command);
    return limited(tau + robot_.joint_friction(reference_.qd));
  }

  // Efforts to leave behind when nobody computes new ones: they carry the weight at q. None where q
  // is not known, since a weight at a wrong place drives the robot.
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
