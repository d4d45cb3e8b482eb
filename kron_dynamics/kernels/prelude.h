/* Copyright 2026 The kron_dynamics Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Common part of all generated functions: a check for IEEE arithmetic, and sine and cosine of one
 * angle and of several. C99 and C++; gcc and clang compute several angles as vectors.
 */
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "IEEE arithmetic is needed: check the compiler's options, such as -ffast-math in $CC"
#endif

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Fails to compile if double, literals or intermediate results are not IEEE double precision. */
typedef char ieee_double[sizeof(double) == 8 && sizeof(1.0) == 8 && FLT_EVAL_METHOD == 0 ? 1 : -1];

#if defined(__GNUC__)
#define HELPER static inline __attribute__((unused))
/* Not inlined, so that the calling code stays small. */
#define SELDOM static __attribute__((noinline, cold, unused))
#else
#define HELPER static inline
#define SELDOM static
#endif
#if defined(__cplusplus)
#define restrict __restrict
#endif

/* Largest angle for which the argument reduction, with pi/2 in three parts of 33, 33 and 53 bits,
 * is exact: the number of quarter turns times either of the first two parts must not round. */
#define NEAR 823549.0

/* Sine and cosine for |x| <= NEAR, to 2.5 units in the last place (1.7 up to |x| = 1000; 4 within
 * 1e-9 of a zero); NaN for NaN. The last bits of x / (pi/2) + 1.5 * 2^52 are the number of quarter
 * turns; the polynomials are those of fdlibm. */
#define DEFINE_SINCOS(name, real, bits)                                                           \
  HELPER void name(const real x, real *sine, real *cosine) {                                      \
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

SELDOM void sincos_far(double x, double *sine, double *cosine) {
  *sine = sin(x);
  *cosine = cos(x);
}

HELPER void sincos_one(double x, double *sine, double *cosine) {
  if (fabs(x) <= NEAR) {
    sincos_near(x, sine, cosine);
  } else {
    sincos_far(x, sine, cosine);
  }
}

#define tanh_double tanh

#if defined(__GNUC__)
/* Number of doubles in a vector register. */
#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif

typedef double wide __attribute__((vector_size(8 * LANES)));
typedef int64_t wide_bits __attribute__((vector_size(8 * LANES)));
typedef uint64_t wide_words __attribute__((vector_size(8 * LANES)));

DEFINE_SINCOS(sincos_near_wide, wide, wide_words)

SELDOM void sincos_far_wide(const wide *x, wide *sine, wide *cosine) {
  for (int k = 0; k < LANES; ++k) {
    (*sine)[k] = sin((*x)[k]);
    (*cosine)[k] = cos((*x)[k]);
  }
}

HELPER void sincos_wide(wide x, wide *sine, wide *cosine) {
  const wide_bits is_near = (x <= NEAR) & (x >= -NEAR);
  int64_t all = -1;
  for (int k = 0; k < LANES; ++k) all &= is_near[k];
  if (all) {
    sincos_near_wide(x, sine, cosine);
  } else {
    sincos_far_wide(&x, sine, cosine);
  }
}

/* Sines and cosines of several angles at once. */
HELPER void sincos_all(const double *angles, double *sines, double *cosines, int count) {
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
#else
HELPER void sincos_all(const double *angles, double *sines, double *cosines, int count) {
  for (int k = 0; k < count; ++k) sincos_one(angles[k], sines + k, cosines + k);
}
#endif
