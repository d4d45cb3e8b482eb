/* Copyright 2026 The kron_dynamics Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Common part of functions in single precision; sine and cosine are the C library's.
 */

/* Fails to compile if float is not IEEE single precision. */
typedef char ieee_float_is_needed[sizeof(float) == 4 ? 1 : -1];

#if defined(HAS_FMA) || defined(__FP_FAST_FMAF) || defined(FP_FAST_FMAF)
#define fma_float(a, b, c) fmaf(a, b, c)
#else
#define fma_float(a, b, c) ((a) * (b) + (c))
#endif

HELPER void sincos_one(float x, float *sine, float *cosine) {
  *sine = sinf(x);
  *cosine = cosf(x);
}

DEFINE_SINCOS_FOUR(float)

HELPER void sincos_all(const float *angles, float *sines, float *cosines, int count) {
  for (int k = 0; k < count; ++k) sincos_one(angles[k], sines + k, cosines + k);
}

#define tanh_float tanhf
