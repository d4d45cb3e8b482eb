/* Copyright 2026 The kron_dynamics Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Common part of all generated functions in single precision; sine and cosine are the C library's.
 */
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#error "IEEE arithmetic is needed: check the compiler's options, such as -ffast-math in $CC"
#endif

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* Fails to compile if float or intermediate results are not IEEE single precision. */
typedef char ieee_float[sizeof(float) == 4 && FLT_EVAL_METHOD == 0 ? 1 : -1];

#if defined(__GNUC__) && defined(__OPTIMIZE__)
/* gcc by itself inlines nothing into a function with optimizations of its own. */
#define HELPER static inline __attribute__((always_inline, unused))
#elif defined(__GNUC__)
#define HELPER static inline __attribute__((unused))
#else
#define HELPER static inline
#endif
#if defined(__cplusplus)
#define restrict __restrict
#endif

/* a * b + c, rounded once on processors that have such an instruction, so that all compilers give
 * the same bits; they may fuse no other product. */
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__FP_FAST_FMAF) || defined(FP_FAST_FMAF)
#define fma_float(a, b, c) fmaf(a, b, c)
#else
#define fma_float(a, b, c) ((a) * (b) + (c))
#endif

HELPER void sincos_one(float x, float *sine, float *cosine) {
  *sine = sinf(x);
  *cosine = cosf(x);
}

HELPER void sincos_all(const float *angles, float *sines, float *cosines, int count) {
  for (int k = 0; k < count; ++k) sincos_one(angles[k], sines + k, cosines + k);
}

#define tanh_float tanhf
