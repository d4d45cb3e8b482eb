/* Copyright 2026 The kron_dynamics Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Common part of all generated functions in single precision; sine and cosine are the C library's.
 */
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "IEEE arithmetic is needed: check the compiler's options, such as -ffast-math in $CC"
#endif

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* Fails to compile if float or intermediate results are not IEEE single precision. */
typedef char ieee_float[sizeof(float) == 4 && FLT_EVAL_METHOD == 0 ? 1 : -1];

#if defined(__GNUC__)
#define HELPER static inline __attribute__((unused))
#else
#define HELPER static inline
#endif
#if defined(__cplusplus)
#define restrict __restrict
#endif

HELPER void sincos_one(float x, float *sine, float *cosine) {
  *sine = sinf(x);
  *cosine = cosf(x);
}

HELPER void sincos_all(const float *angles, float *sines, float *cosines, int count) {
  for (int k = 0; k < count; ++k) sincos_one(angles[k], sines + k, cosines + k);
}

#define tanh_float tanhf
