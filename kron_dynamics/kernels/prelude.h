/* Copyright 2026 The kron_dynamics Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What every kernel stands on: vectors of LANES doubles, one state per SIMD lane (GNU C's vector
 * extension, of gcc and clang), sine and cosine for both, and the way between rows and lanes.
 */
#if defined(__GNUC__) && !defined(__clang__)
/* Dead stores: there are none, and looking for them takes a fifth of the compiler's time. */
#pragma GCC optimize("no-dse", "no-tree-dse")
#endif

#if defined(__FAST_MATH__) || __FINITE_MATH_ONLY__
#error "kernels need IEEE arithmetic: check the options in $CC, such as -ffast-math"
#endif

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Another double, constants of another type, or registers of another precision. */
typedef char ieee_double[sizeof(double) == 8 && sizeof(1.0) == 8 && FLT_EVAL_METHOD == 0 ? 1 : -1];

#if defined(__AVX512F__)
#define LANES 8
#define GATHER(x, n) \
  {(x)[0], (x)[(n)], (x)[2 * (n)], (x)[3 * (n)], (x)[4 * (n)], (x)[5 * (n)], (x)[6 * (n)], (x)[7 * (n)]}
#elif defined(__AVX__)
#define LANES 4
#define GATHER(x, n) {(x)[0], (x)[(n)], (x)[2 * (n)], (x)[3 * (n)]}
#else
#define LANES 2
#define GATHER(x, n) {(x)[0], (x)[(n)]}
#endif

typedef double wide __attribute__((vector_size(8 * LANES)));
typedef int64_t wide_bits __attribute__((vector_size(8 * LANES)));

/* Beyond this the argument's reduction, three parts of pi/2 of 33, 33 and 53 bits, is not exact:
 * the number of quarter turns must leave the first two products without rounding. */
#define NEAR 823549.0

/* Sine and cosine for |x| <= NEAR, to 2.5 units in the last place (1.7 up to |x| = 1000; 4 within
 * 1e-9 of a zero); NaN for NaN. The number of quarter turns stands in the last bits of
 * x / (pi/2) + 1.5 * 2^52; polynomials of fdlibm. */
#define DEFINE_SINCOS(name, real, bits)                                                           \
  static inline void name(const real x, real *sine, real *cosine) {                               \
    const real shifted = x * 6.36619772367581382433e-01 + 6755399441055744.0;                     \
    const real turns = shifted - 6755399441055744.0;                                              \
    const real r = ((x - turns * 1.57079632673412561417e+00) -                                    \
                    turns * 6.07710050630396597660e-11) - turns * 2.02226624879595063154e-21;     \
    const real z = r * r, zz = z * z;                                                             \
    const real s = r + (r * z) *                                                                  \
        ((-1.66666666666666324348e-01 + z * 8.33333333332248946124e-03) + zz *                    \
        ((-1.98412698298579493134e-04 + z * 2.75573137070700676789e-06) + zz *                    \
         (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));                        \
    const real c = (1.0 - 0.5 * z) + zz *                                                         \
        ((4.16666666666666019037e-02 + z * -1.38888888888741095749e-03) + zz *                    \
        ((2.48015872894767294178e-05 + z * -2.75573143513906633035e-07) + zz *                    \
         (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)));                        \
    bits n, s_bits, c_bits;                                                                       \
    memcpy(&n, &shifted, sizeof n);                                                               \
    memcpy(&s_bits, &s, sizeof s);                                                                \
    memcpy(&c_bits, &c, sizeof c);                                                                \
    const bits swap = (s_bits ^ c_bits) & -(n & 1);                                               \
    s_bits ^= swap ^ ((n & 2) << 62);                                                             \
    c_bits ^= swap ^ (((n + 1) & 2) << 62);                                                       \
    memcpy(sine, &s_bits, sizeof s);                                                              \
    memcpy(cosine, &c_bits, sizeof c);                                                            \
  }

DEFINE_SINCOS(sincos_near, double, uint64_t)
DEFINE_SINCOS(sincos_near_wide, wide, wide_bits)

/* Apart, so that the code around stays small. */
#define SELDOM static __attribute__((noinline, cold))

SELDOM void sincos_far(double x, double *sine, double *cosine) {
  *sine = sin(x);
  *cosine = cos(x);
}

SELDOM void sincos_far_wide(const wide *x, wide *sine, wide *cosine) {
  for (int k = 0; k < LANES; ++k) {
    (*sine)[k] = sin((*x)[k]);
    (*cosine)[k] = cos((*x)[k]);
  }
}

static inline void sincos_one(double x, double *sine, double *cosine) {
  if (fabs(x) <= NEAR) {
    sincos_near(x, sine, cosine);
  } else {
    sincos_far(x, sine, cosine);
  }
}

static inline void sincos_wide(wide x, wide *sine, wide *cosine) {
  const wide_bits is_near = (x <= NEAR) & (x >= -NEAR);
  int64_t all = -1;
  for (int k = 0; k < LANES; ++k) all &= is_near[k];
  if (all) {
    sincos_near_wide(x, sine, cosine);
  } else {
    sincos_far_wide(&x, sine, cosine);
  }
}

#define tanh_double tanh

static inline wide tanh_wide(wide x) {
  for (int k = 0; k < LANES; ++k) x[k] = tanh(x[k]);
  return x;
}

/* Vectors are named by constants, or they are memory. */
#define UNROLL _Pragma("GCC unroll 8")

/* The same number in every lane. */
#define WIDE(x) ((x) + (wide){0})

/* Sines and cosines of several angles at once. */
static inline void sincos_all(const double *angles, double *sines, double *cosines, int count) {
  for (int k = 0; k < count; k += LANES) {
    wide x = {0}, s, c;
    for (int l = 0; l < LANES && k + l < count; ++l) x[l] = angles[k + l];
    sincos_wide(x, &s, &c);
    for (int l = 0; l < LANES && k + l < count; ++l) {
      sines[k + l] = s[l];
      cosines[k + l] = c[l];
    }
  }
}

#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (wide_bits){__VA_ARGS__})
#endif

/* A square of LANES x LANES numbers, rows in t, turned about its diagonal: its off-diagonal
 * quarters change places, then theirs, down to single numbers. */
static inline void transpose(wide *t) {
#if LANES == 8
  UNROLL
  for (int i = 0; i < 4; ++i) {
    const wide a = t[i], b = t[i + 4];
    t[i] = SHUFFLE(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
    t[i + 4] = SHUFFLE(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
  }
  UNROLL
  for (int k = 0; k < 4; ++k) {
    const int i = k + (k & 2); /* 0, 1, 4, 5 */
    const wide a = t[i], b = t[i + 2];
    t[i] = SHUFFLE(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
    t[i + 2] = SHUFFLE(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
  }
  UNROLL
  for (int i = 0; i < 8; i += 2) {
    const wide a = t[i], b = t[i + 1];
    t[i] = SHUFFLE(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
    t[i + 1] = SHUFFLE(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
  }
#elif LANES == 4
  UNROLL
  for (int i = 0; i < 2; ++i) {
    const wide a = t[i], b = t[i + 2];
    t[i] = SHUFFLE(a, b, 0, 1, 4, 5);
    t[i + 2] = SHUFFLE(a, b, 2, 3, 6, 7);
  }
  UNROLL
  for (int i = 0; i < 4; i += 2) {
    const wide a = t[i], b = t[i + 1];
    t[i] = SHUFFLE(a, b, 0, 4, 2, 6);
    t[i + 1] = SHUFFLE(a, b, 1, 5, 3, 7);
  }
#else
  const wide a = t[0], b = t[1];
  t[0] = SHUFFLE(a, b, 0, 2);
  t[1] = SHUFFLE(a, b, 1, 3);
#endif
}

/* Results of LANES states, one result a vector, as one row a state; at least LANES of them. The
 * last square overlaps the one before it where the width is no multiple. */
static __attribute__((noinline)) void scatter_squares(
    const wide *y, double *restrict out, int width) {
  for (int start = 0; start < width; start += LANES) {
    const int k = start + LANES <= width ? start : width - LANES;
    wide t[LANES];
    UNROLL
    for (int l = 0; l < LANES; ++l) t[l] = y[k + l];
    transpose(t);
    UNROLL
    for (int l = 0; l < LANES; ++l) memcpy(out + l * width + k, t + l, sizeof t[l]);
  }
}

/* The same for any number of results. */
static inline void scatter(const wide *y, double *restrict out, int width) {
  if (width >= LANES) {
    scatter_squares(y, out, width);
  } else {
    UNROLL
    for (int l = 0; l < LANES; ++l)
      for (int k = 0; k < width; ++k) out[l * width + k] = y[k][l];
  }
}

/* Rows k to count - 1, fewer than LANES, and the last of them again until there are LANES. */
static inline void fill_up(
    const double *rows, double *filled, int size, ptrdiff_t k, ptrdiff_t count) {
  for (int l = 0; l < LANES; ++l) {
    const ptrdiff_t row = k + l < count ? k + l : count - 1;
    for (int j = 0; j < size; ++j) filled[l * size + j] = rows[row * size + j];
  }
}
