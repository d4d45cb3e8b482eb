// Copyright 2026 The kron_dynamics Authors
// SPDX-License-Identifier: Apache-2.0
//
// `minimize` of interior_point.py in C: the same steps, up to rounding. The caller owns all memory.

#include <math.h>
#include <stddef.h>

// Same layout as `_Problem` of compiled_minimization.py. K windows of three neighbouring unknowns,
// with r rows each; there are K + 2 unknowns.
typedef struct {
  ptrdiff_t windows, rows, moving, most;  // K; r; rows whose bound moves, the last ones; steps
  double first, gap, to_bound, centered, stuck, least_dual;
  const double *coefficients, *constant, *places;  // (3, K, r), (K, r), (3, K, 2)
  const ptrdiff_t *which;                          // place of each moving bound
  const double *weights, *ends;                    // (K + 2), (2, 3)
  double *c, *duals;                               // (K + 2), (K, r): start, then result
  double *slack, *jacobian;                        // (K, r), (K, 3, r)
  double *ratio, *change, *dual_change;            // (K, r)
  double *step, *gradient, *pulls, *factor;        // (K + 2), (K + 2), (K + 2), (K + 2, 3)
} Problem;

static double greatest(double a, double b) { return b > a ? b : a; }

// Shortens a step so that it takes a value above 0 at most to 0.
static double kept_above(double length, double value, double change) {
  return value + length * change < 0.0 ? -value / change : length;
}

// Slacks of all rows at c, and their negated Jacobian.
static void relax(const Problem *p) {
  const ptrdiff_t K = p->windows, r = p->rows, steady = r - p->moving;
  for (ptrdiff_t k = 0; k < K; ++k) {
    const double *c = p->c + k, *a = p->coefficients + k * r, *b = p->constant + k * r;
    double bound[2], slope[2][3], *slack = p->slack + k * r, *row = p->jacobian + 3 * k * r;
    for (ptrdiff_t s = 0; s < 2 && p->moving; ++s) {
      const double *place = p->places + 2 * k + s;
      const double x = place[0] * c[0] + place[2 * K] * c[1] + place[4 * K] * c[2];
      bound[s] = 1.0 / sqrt(x);
      for (ptrdiff_t i = 0; i < 3; ++i) slope[s][i] = place[2 * K * i] * (0.5 * bound[s] / x);
    }
    for (ptrdiff_t i = 0; i < 3; ++i)
      for (ptrdiff_t j = 0; j < r; ++j) row[i * r + j] = a[i * K * r + j];
    for (ptrdiff_t j = 0; j < r; ++j)
      slack[j] = 1.0 - (row[j] * c[0] + row[r + j] * c[1] + row[2 * r + j] * c[2] + b[j]);
    for (ptrdiff_t j = steady; j < r; ++j) {
      const ptrdiff_t s = p->which[j - steady];
      slack[j] += bound[s] - 1.0;
      for (ptrdiff_t i = 0; i < 3; ++i) row[i * r + j] += slope[s][i];
    }
  }
}

// The cost at c; its gradient and the lower bands of its Hessian.
static double differentiate(const Problem *p) {
  const ptrdiff_t count = p->windows + 2;
  double cost = 0.0;
  for (ptrdiff_t k = 0; k < count; ++k) {
    const double share = p->weights[k] / sqrt(p->c[k]);
    cost += share;
    p->gradient[k] = -0.5 * share / p->c[k];
    p->factor[3 * k] = -1.5 * p->gradient[k] / p->c[k];
    p->factor[3 * k + 1] = p->factor[3 * k + 2] = 0.0;
  }
  p->factor[3 * count - 3] = 1.0;
  for (ptrdiff_t end = 0; end < 2; ++end) {
    const ptrdiff_t at = end * (count - 4);
    const double *e = p->ends + 3 * end, *c = p->c + at;
    const double product = e[0] * c[0] + e[1] * c[1] + e[2] * c[2];
    for (ptrdiff_t i = 0; i < 3; ++i) {
      p->gradient[at + i] += product * e[i];
      for (ptrdiff_t l = 0; l <= i; ++l) p->factor[3 * (at + l) + i - l] += e[i] * e[l];
    }
  }
  return cost;
}

// Sums over the rows for one Newton step: adds the rows' part of the matrix to its lower bands, and
// stores the transposed Jacobian times the duals in `pulls`. Returns duals times slacks.
static double assemble(const Problem *p) {
  const ptrdiff_t r = p->rows;
  double products = 0.0;
  for (ptrdiff_t k = 0; k < p->windows + 2; ++k) p->pulls[k] = 0.0;
  for (ptrdiff_t k = 0; k < p->windows; ++k) {
    const double *a = p->jacobian + 3 * k * r, *b = a + r, *c = b + r;
    double aa = 0.0, ab = 0.0, ac = 0.0, bb = 0.0, bc = 0.0, cc = 0.0, ad = 0.0, bd = 0.0, cd = 0.0;
    for (ptrdiff_t j = 0, at = k * r; j < r; ++j, ++at) {
      const double dual = p->duals[at], ratio = dual / p->slack[at];
      p->ratio[at] = ratio;
      p->dual_change[at] = 0.0;
      products += dual * p->slack[at];
      ad += a[j] * dual;
      bd += b[j] * dual;
      cd += c[j] * dual;
      aa += a[j] * ratio * a[j];
      ab += a[j] * ratio * b[j];
      ac += a[j] * ratio * c[j];
      bb += b[j] * ratio * b[j];
      bc += b[j] * ratio * c[j];
      cc += c[j] * ratio * c[j];
    }
    const double sums[] = {aa, ab, ac, bb, bc, 0.0, cc};
    for (ptrdiff_t i = 0; i < 7; ++i) p->factor[3 * k + i] += sums[i];
    p->pulls[k] += ad;
    p->pulls[k + 1] += bd;
    p->pulls[k + 2] += cd;
  }
  return products;
}

// Replaces the lower bands of Newton's matrix by its Cholesky factor. Returns 0 if the matrix is
// not positive definite.
static int factorize(const Problem *p) {
  const ptrdiff_t count = p->windows + 2;
  double *band = p->factor;
  for (ptrdiff_t k = 0; k < count; ++k, band += 3) {
    if (!(band[0] > 0.0)) return 0;
    band[0] = sqrt(band[0]);
    for (ptrdiff_t i = 1; i < 3 && k + i < count; ++i) {
      band[i] /= band[0];
      for (ptrdiff_t l = 1; l <= i; ++l) band[3 * l + i - l] -= band[i] * band[l];
    }
  }
  return 1;
}

// Newton's step against the gradient and `pulls`, the slacks' change, and the duals' change
// towards targets / slack; `dual_change` holds these quotients on entry. Returns the longest
// step, at most 1, that keeps slacks, unknowns and duals above 0.
static double solve(const Problem *p) {
  const ptrdiff_t r = p->rows, count = p->windows + 2;
  double *x = p->step, length = 1.0;
  for (ptrdiff_t k = 0; k < count; ++k) {
    x[k] = -p->gradient[k] - p->pulls[k];
    for (ptrdiff_t d = 1; d < 3 && d <= k; ++d) x[k] -= p->factor[3 * (k - d) + d] * x[k - d];
    x[k] /= p->factor[3 * k];
  }
  for (ptrdiff_t k = count; k-- > 0;) {
    for (ptrdiff_t d = 1; d < 3 && k + d < count; ++d) x[k] -= p->factor[3 * k + d] * x[k + d];
    x[k] /= p->factor[3 * k];
  }
  for (ptrdiff_t k = 0; k < count; ++k) length = kept_above(length, p->c[k], x[k]);
  for (ptrdiff_t k = 0; k < p->windows; ++k) {
    const double *row = p->jacobian + 3 * k * r;
    for (ptrdiff_t j = 0, at = k * r; j < r; ++j, ++at) {
      const double change = -(row[j] * x[k] + row[r + j] * x[k + 1] + row[2 * r + j] * x[k + 2]);
      p->change[at] = change;
      p->dual_change[at] -= p->duals[at] + p->ratio[at] * change;
      length = kept_above(length, p->slack[at], change);
      length = kept_above(length, p->duals[at], p->dual_change[at]);
    }
  }
  return length;
}

// Targets of the corrector, and the transposed Jacobian times these, for a complementarity `aim`.
static void retarget(const Problem *p, double aim) {
  const ptrdiff_t r = p->rows;
  for (ptrdiff_t k = 0; k < p->windows; ++k) {
    const double *a = p->jacobian + 3 * k * r, *b = a + r, *c = b + r;
    double first = 0.0, second = 0.0, third = 0.0;
    for (ptrdiff_t j = 0, at = k * r; j < r; ++j, ++at) {
      const double target = (aim - p->dual_change[at] * p->change[at]) / p->slack[at];
      p->dual_change[at] = target;
      first += a[j] * target;
      second += b[j] * target;
      third += c[j] * target;
    }
    p->pulls[k] += first;
    p->pulls[k + 1] += second;
    p->pulls[k + 2] += third;
  }
}

// A predictor step, and the step taken from c and the duals. Returns 0 if that is too short.
static int advance(const Problem *p, double products, double lacking) {
  const ptrdiff_t all = p->windows * p->rows;
  double left = 0.0, length = solve(p);
  for (ptrdiff_t at = 0; at < all; ++at)
    left +=
        (p->duals[at] + length * p->dual_change[at]) * (p->slack[at] + length * p->change[at]);
  const double share = left < products ? left / products : 1.0;
  retarget(p, greatest(share * share * share * products, p->centered * lacking) / all);
  length = p->to_bound * solve(p);
  if (length < p->stuck) return 0;
  for (ptrdiff_t k = 0; k < p->windows + 2; ++k) p->c[k] += length * p->step[k];
  for (ptrdiff_t at = 0; at < all; ++at)
    p->duals[at] = greatest(p->duals[at] + length * p->dual_change[at], p->least_dual);
  return 1;
}

// Minimizes from c, with duals of all rows or zeros, in at most `most` steps.
void kron_minimize(const Problem *p) {
  const ptrdiff_t all = p->windows * p->rows, count = p->windows + 2;
  relax(p);
  double cost = differentiate(p);
  for (ptrdiff_t at = 0; at < all; ++at)
    p->duals[at] = greatest(p->duals[at], p->first * cost / count / p->slack[at]);
  for (ptrdiff_t n = 0; n < p->most; ++n) {
    const double products = assemble(p);
    double lacking = 0.0;
    for (ptrdiff_t k = 0; k < count; ++k) {
      lacking += fabs((p->gradient[k] + p->pulls[k]) * p->c[k]);
      p->pulls[k] = 0.0;
    }
    if (products < p->gap * cost && lacking < 2.0 * p->gap * cost) return;
    if (!factorize(p)) return;  // because of rounding errors close to the optimum
    if (!advance(p, products, lacking)) return;
    relax(p);
    cost = differentiate(p);
  }
}
