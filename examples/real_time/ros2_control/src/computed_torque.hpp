// Copyright 2026 The kron_dynamics Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computed torque on an exported robot: no ROS, no heap, no branch that depends on the state but the
// limits of the efforts.

#ifndef COMPUTED_TORQUE_HPP
#define COMPUTED_TORQUE_HPP

#include "stacker_reclaimer_dynamics/stacker_reclaimer.hpp"

namespace computed_torque {

constexpr int size = stacker_reclaimer::size;
using Vector = stacker_reclaimer::Vector<size>;

// Positions, rates and accelerations of one moment; rad or m.
struct Reference {
  Vector q = Vector::Zero(), qd = Vector::Zero(), qdd = Vector::Zero();
};

class Law {
 public:
  // Throws std::runtime_error where the library is not of the model with this fingerprint.
  Law(const char *fingerprint, const Vector &kp, const Vector &kd)
      : robot_(fingerprint), kp_(kp), kd_(kd) {}

  // Efforts within the limits of the description, N m or N. A NaN in the state gives NaN.
  Vector effort(const Vector &q, const Vector &qd, const Reference &reference) const {
    const Vector command = reference.qdd + kp_.cwiseProduct(reference.q - q) +
                           kd_.cwiseProduct(reference.qd - qd);
    Vector tau = robot_.inverse_dynamics(q, qd, command);
    tau += robot_.joint_friction(reference.qd);
    // A NaN is beyond neither limit, and stays.
    for (int k = 0; k < size; ++k) {
      const double limit = stacker_reclaimer_effort_limit[k];
      if (tau[k] > limit) tau[k] = limit;
      if (tau[k] < -limit) tau[k] = -limit;
    }
    return tau;
  }

 private:
  stacker_reclaimer::Robot robot_;
  Vector kp_, kd_;
};

}  // namespace computed_torque

#endif
