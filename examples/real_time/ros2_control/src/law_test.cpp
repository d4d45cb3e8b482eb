// Copyright 2026 The kron_dynamics Authors
// SPDX-License-Identifier: Apache-2.0
//
// The law without ROS: on the exported plant its error obeys the gains, and a NaN is not hidden.

#include <cmath>
#include <cstdio>

#include "computed_torque.hpp"

int main() {
  using computed_torque::Vector;
  const Vector kp = Vector::Constant(4.0), kd = Vector::Constant(4.0);
  const computed_torque::Law law(STACKER_RECLAIMER_FINGERPRINT, kp, kd);
  const stacker_reclaimer::Robot plant;
  computed_torque::Reference reference;
  reference.q << 100.0, 0.2, 0.05;
  Vector q = reference.q, qd = Vector::Zero();
  q += Vector(0.01, -1e-4, 1e-4);
  // Without friction the error is that of e'' + 4 e' + 4 e = 0, a double pole at -2/s.
  const Vector first = q - reference.q;
  const double step = 1e-4;
  for (int k = 0; k < 10000; ++k) {
    const Vector tau = law.effort(q, qd, reference);
    qd += step * plant.forward_dynamics(q, qd, tau);
    q += step * qd;
  }
  const Vector expected = first * (1.0 + 2.0) * std::exp(-2.0);
  const double off = ((q - reference.q - expected).array() / first.array()).abs().maxCoeff();
  q[0] = std::nan("");
  const bool passed = off < 1e-3 && std::isnan(law.effort(q, qd, reference)[0]);
  std::printf("law: %s, %.2g of the first error off\n", passed ? "passed" : "wrong", off);
  return passed ? 0 : 1;
}
