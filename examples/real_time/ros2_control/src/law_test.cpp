// Copyright 2026 The kron_dynamics Authors
// SPDX-License-Identifier: Apache-2.0
//
// The law without ROS, on the exported plant: its commands and its last efforts.

#include <cmath>
#include <cstdio>

#include "computed_torque.hpp"

using computed_torque::Law;
using computed_torque::Reference;
using computed_torque::size;
using computed_torque::Vector;

namespace {

constexpr double timeout = 0.1, step = 1e-3;  // s
const stacker_reclaimer::Robot plant;
int wrong = 0;

void expect(bool right, const char *what) {
  if (!right) {
    std::printf("wrong: %s\n", what);
    ++wrong;
  }
}

Law make() {
  return Law(STACKER_RECLAIMER_FINGERPRINT, Vector::Constant(4.0), Vector::Constant(4.0), timeout);
}

// Whether a law holds the machine at rest: its command equals gravity compensation.
bool holds(Law &law, const Vector &q) {
  const Vector weight = law.rest(q), tau = law.effort(q, Vector::Zero(), 0.0);
  return ((tau - weight).array().abs() <= 1e-12 * weight.cwiseAbs().maxCoeff()).all();
}

// Without friction the error obeys e'' + 4 e' + 4 e = 0, with a double pole at -2/s.
double error_beside_the_gains() {
  const double fine = 1e-4;
  Law law = make();
  Reference reference;
  reference.q << 100.0, 0.2, 0.05;
  law.follow(reference);
  Vector q = reference.q + Vector(0.01, -1e-4, 1e-4), qd = Vector::Zero();
  const Vector first = q - reference.q;
  for (int k = 0; k < 10000; ++k) {
    const Vector tau = law.effort(q, qd, fine);
    qd += fine * plant.forward_dynamics(q, qd, tau);
    q += fine * qd;
  }
  const Vector expected = first * (1.0 + 2.0) * std::exp(-2.0);
  return ((q - reference.q - expected).array() / first.array()).abs().maxCoeff();
}

void limits_are_kept(const Vector &q) {
  for (const double sign : {1.0, -1.0}) {
    Law law = make();
    law.hold(q + sign * Vector::Constant(1e4));
    const Vector tau = law.effort(q, Vector::Zero(), step);
    for (int k = 0; k < size; ++k) {
      expect(tau[k] == sign * stacker_reclaimer_effort_limit[k], "an effort beyond its limit");
    }
  }
}

void what_is_left_carries_the_weight(const Vector &q) {
  const Law law = make();
  const Vector weight = plant.gravity_vector(q), left = law.rest(q);
  bool carried = true;
  for (int k = 0; k < size; ++k) {
    const double limit = stacker_reclaimer_effort_limit[k];
    if (std::abs(weight[k]) > limit) {
      carried = false;
      expect(left[k] == std::copysign(limit, weight[k]), "what is left is not held at its limit");
    }
  }
  const Vector started = plant.forward_dynamics(q, Vector::Zero(), left);
  expect(!carried || started.cwiseAbs().maxCoeff() < 1e-9, "the machine leaves where it was left");
  if (!carried) std::printf("a weight is beyond its limit\n");
}

void nothing_is_left_where_the_position_is_not_known(const Vector &q) {
  const Law law = make();
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    // Gravity depends on the position of the boom only.
    Vector unknown = q;
    unknown[size - 1] = bad;
    expect((law.rest(unknown).array() == 0.0).all(), "an effort at an unknown position");
  }
}

void no_nan_is_hidden(const Vector &q) {
  for (int k = 0; k < size; ++k) {
    Law law = make();
    law.hold(q);
    Vector unknown = Vector::Zero();
    unknown[k] = std::nan("");
    expect(!law.effort(q, unknown, step).allFinite(), "a NaN of the velocities is hidden");
    expect(!law.effort(q + unknown, Vector::Zero(), step).allFinite(), "a NaN is hidden");
    expect(law.effort(q, Vector::Zero(), step).allFinite(), "a NaN stays for the cycles after it");
  }
}

void a_new_hold_forgets_the_old_reference(const Vector &q) {
  Law law = make();
  Reference far;
  far.q = q + Vector::Constant(0.5);
  far.qd = Vector::Constant(0.1);
  far.qdd = Vector::Constant(0.1);
  law.follow(far);
  expect(!holds(law, q), "a reference is not followed");
  law.hold(q);
  expect(holds(law, q), "the old reference survives");
}

// Whether a law has dropped a reference that is `age` s old, and holds its position.
bool given_up(double age, const Reference &reference, const Vector &q) {
  Law law = make();
  law.follow(reference);
  law.effort(q, Vector::Zero(), age);
  return holds(law, q);
}

void a_reference_that_moves_gets_old(const Vector &q) {
  Reference moving;
  moving.q = q + Vector::Constant(0.1);
  moving.qd = Vector::Constant(0.1);
  expect(!given_up(0.9 * timeout, moving, q), "a reference is dropped before its time");
  expect(given_up(1.1 * timeout, moving, q), "a stale reference is followed");
  Reference starting;
  starting.q = q;
  starting.qdd = Vector::Constant(0.1);
  expect(given_up(1.1 * timeout, starting, q), "a stale acceleration is followed");
  Reference end;
  end.q = moving.q;
  expect(!given_up(9.0 * timeout, end, q), "a reference at rest is dropped");

  // A reference that arrives in time resets the age; references also age while the state is NaN.
  Law law = make();
  law.follow(moving);
  law.effort(q, Vector::Zero(), 0.9 * timeout);
  law.follow(moving);
  law.effort(q, Vector::Zero(), 0.9 * timeout);
  expect(!holds(law, q), "age is not counted anew");
  law.effort(Vector::Constant(std::nan("")), Vector::Zero(), timeout);
  expect(holds(law, q), "it holds at a NaN");
}

}  // namespace

int main() {
  const double off = error_beside_the_gains();
  expect(off < 1e-3, "the error does not obey the gains");
  for (const Vector &q : {Vector(100.0, 0.2, 0.05), Vector(0.0, -1.5, -0.2), Vector(3.0, 2.0, 0.2)}) {
    limits_are_kept(q);
    what_is_left_carries_the_weight(q);
    nothing_is_left_where_the_position_is_not_known(q);
    no_nan_is_hidden(q);
    a_new_hold_forgets_the_old_reference(q);
    a_reference_that_moves_gets_old(q);
  }
  std::printf("law: %s, %.2g of the first error off\n", wrong ? "wrong" : "passed", off);
  return wrong ? 1 : 0;
}
