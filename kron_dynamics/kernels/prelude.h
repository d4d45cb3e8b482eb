/* Copyright 2026 The kron_dynamics Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Common part of all generated functions, C99 and C++: a check for IEEE arithmetic, and what differs
 * between compilers. It is followed by double.h or single.h.
 */
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#error "IEEE arithmetic is needed: check the compiler's options, such as -ffast-math in $CC"
#endif

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 0, or 16 where the processor has half precision as well: float and double as they are. */
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error "results need the precision of their type: check options such as -mfpmath=387"
#endif

#if defined(__GNUC__) && defined(__OPTIMIZE__)
/* gcc by itself inlines nothing into a function with optimizations of its own. */
#define HELPER static inline __attribute__((always_inline, unused))
#elif defined(__GNUC__)
#define HELPER static inline __attribute__((unused))
#else
#define HELPER static inline
#endif
#if defined(__GNUC__) && defined(__OPTIMIZE__)
/* Not inlined, so that the calling code stays small. */
#define SELDOM static __attribute__((noinline, cold, unused))
#else
/* Without optimization nothing is inlined, and what is declared inline is left out if unused. */
#define SELDOM HELPER
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
/* Scalars gathered in vectors: gathering takes longer than it saves. */
#pragma GCC optimize("no-tree-slp-vectorize")
/* Without branches these find nothing, but take a sixth of the time of compilation. */
#pragma GCC optimize("no-gcse", "no-tree-pre", "no-code-hoisting")
#if defined(__x86_64__)
/* Nor is anything gained on processors that reorder instructions themselves. */
#pragma GCC optimize("no-schedule-insns2")
#endif
#endif
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__FP_FAST_FMA) || defined(FP_FAST_FMA)
#define HAS_FMA
#endif

/* Sines and cosines of four angles, one after the other. */
#define DEFINE_SINCOS_FOUR(real)                                                                  \
  HELPER void sincos_four(real x0, real x1, real x2, real x3, real *sines, real *cosines) {       \
    sincos_one(x0, sines, cosines);                                                               \
    sincos_one(x1, sines + 1, cosines + 1);                                                       \
    sincos_one(x2, sines + 2, cosines + 2);                                                       \
    sincos_one(x3, sines + 3, cosines + 3);                                                       \
  }
