// Copyright 2026 The kron_dynamics Authors
// SPDX-License-Identifier: Apache-2.0
//
// Fixed-step RK4 integration of a machine's motion: `motion.py` in C, on the robot's compiled
// kernels, which are called by their addresses. The caller owns all memory.

#include <stddef.h>

typedef void (*Kernel)(ptrdiff_t count, const double *const *in, double *const *out);

// Same layout as `_Machine` of stepper.py. Arrays have n elements unless noted.
typedef struct {
  ptrdiff_t n, joints;                      // number of coordinates; of joints, which come first
  ptrdiff_t brakes_set;                     // 1: brakes engaged, drives off
  Kernel friction, forward, inverse, mass;  // inverse: only for brakes with flexible links
  double brake_rate, stop_frequency;        // 1/s, rad/s
  const double *effort;                     // drive efforts; zero for modal coordinates
  const double *lower, *upper;
  double *q, *qd, *qdd;  // state; accelerations at the end of the last step
  double *work;          // 8 n + 2 n n elements
} Machine;

// Solve A x = b in rows and columns first ... n-1 of a positive definite n x n matrix, in place:
// x holds b on entry, A is overwritten.
static void solve(ptrdiff_t first, ptrdiff_t n, double *A, double *x) {
  for (ptrdiff_t k = first; k < n; ++k)
    for (ptrdiff_t i = k + 1; i < n; ++i) {
      const double factor = A[i * n + k] / A[k * n + k];
      for (ptrdiff_t j = k; j < n; ++j) A[i * n + j] -= factor * A[k * n + j];
      x[i] -= factor * x[k];
    }
  for (ptrdiff_t i = n - 1; i >= first; --i) {
    for (ptrdiff_t j = i + 1; j < n; ++j) x[i] -= A[i * n + j] * x[j];
    x[i] /= A[i * n + i];
  }
}

// What a stop does to one coordinate, as an acceleration: a spring and a damper that only push.
static double stop(const Machine *m, ptrdiff_t i, double q, double qd) {
  const double below = q < m->lower[i] ? q - m->lower[i] : 0.0;
  const double depth = q > m->upper[i] ? q - m->upper[i] : below;
  if (depth == 0.0) return 0.0;
  const double push = m->stop_frequency * (m->stop_frequency * depth + 2.0 * qd);
  const int pulls = depth > 0.0 ? push < 0.0 : push > 0.0;
  return pulls ? 0.0 : -push;
}

// Inertia of coordinate i if all others are free: 1 / (M^-1)_ii. A and x are overwritten.
static double free_inertia(ptrdiff_t i, ptrdiff_t n, const double *M, double *A, double *x) {
  for (ptrdiff_t k = 0; k < n * n; ++k) A[k] = M[k];
  for (ptrdiff_t k = 0; k < n; ++k) x[k] = k == i;
  solve(0, n, A, x);
  return 1.0 / x[i];
}

// Add the efforts of the stops to tau.
static void add_stops(
    const Machine *m, const double *q, const double *qd, double *tau, double *rest) {
  const ptrdiff_t n = m->n;
  double *x = rest, *M = x + n, *A = M + n * n;
  m->mass(1, (const double *const[]){q}, (double *const[]){M});
  for (ptrdiff_t i = 0; i < n; ++i) {
    const double push = stop(m, i, q[i], qd[i]);
    if (push != 0.0) tau[i] += push * free_inertia(i, n, M, A, x);
  }
}

static void drive(const Machine *m, const double *q, const double *qd, double *qdd, double *rest) {
  double *friction = rest, *tau = friction + m->n;
  int at_stop = 0;  // M is needed only there
  m->friction(1, (const double *const[]){qd}, (double *const[]){friction});
  for (ptrdiff_t i = 0; i < m->n; ++i) {
    tau[i] = m->effort[i] - friction[i];
    at_stop |= q[i] < m->lower[i] || q[i] > m->upper[i];
  }
  if (at_stop) add_stops(m, q, qd, tau, tau + m->n);
  m->forward(1, (const double *const[]){q, qd, tau}, (double *const[]){qdd});
}

// Brakes of unlimited force prescribe the joints' accelerations, where no stop pushes; those of
// flexible links follow from the modal rows of the equations of motion.
static void brake(const Machine *m, const double *q, const double *qd, double *qdd, double *rest) {
  double *friction = rest, *tau = friction + m->n, *M = tau + m->n;
  for (ptrdiff_t i = 0; i < m->n; ++i) {
    const double stopped = i < m->joints ? stop(m, i, q[i], qd[i]) : 0.0;
    const double slowed = i < m->joints ? -m->brake_rate * qd[i] : 0.0;
    qdd[i] = stopped != 0.0 ? stopped : slowed;
  }
  if (m->joints == m->n) return;
  m->inverse(1, (const double *const[]){q, qd, qdd}, (double *const[]){tau});
  m->friction(1, (const double *const[]){qd}, (double *const[]){friction});
  m->mass(1, (const double *const[]){q}, (double *const[]){M});
  for (ptrdiff_t i = m->joints; i < m->n; ++i) qdd[i] = -(tau[i] + friction[i]);
  solve(m->joints, m->n, M, qdd);
}

static void accelerate(
    const Machine *m, const double *q, const double *qd, double *qdd, double *rest) {
  (m->brakes_set ? brake : drive)(m, q, qd, qdd, rest);
}

// Take `steps` classical RK4 steps of h seconds.
void kron_steps(const Machine *m, ptrdiff_t steps, double h) {
  static const double weight[] = {1.0, 2.0, 2.0, 1.0}, reach[] = {0.5, 0.5, 1.0, 0.0};
  const ptrdiff_t n = m->n;
  double *q = m->q, *qd = m->qd;
  // One stage's position, velocity and acceleration; weighted sums of the last two.
  double *p = m->work, *v = p + n, *a = v + n, *sum_v = a + n, *sum_a = sum_v + n;
  double *rest = sum_a + n;
  for (; steps > 0; --steps) {
    for (ptrdiff_t i = 0; i < n; ++i) {
      p[i] = q[i];
      v[i] = qd[i];
      sum_v[i] = sum_a[i] = 0.0;
    }
    for (int stage = 0; stage < 4; ++stage) {
      accelerate(m, p, v, a, rest);
      for (ptrdiff_t i = 0; i < n; ++i) {
        sum_v[i] += weight[stage] * v[i];
        sum_a[i] += weight[stage] * a[i];
        p[i] = q[i] + reach[stage] * h * v[i];
        v[i] = qd[i] + reach[stage] * h * a[i];
      }
    }
    for (ptrdiff_t i = 0; i < n; ++i) {
      q[i] += h / 6.0 * sum_v[i];
      qd[i] += h / 6.0 * sum_a[i];
    }
  }
  accelerate(m, q, qd, m->qdd, rest);
}
