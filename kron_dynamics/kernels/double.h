/* Copyright 2026 The kron_dynamics Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Common part of functions in double precision: fused multiply-add, and sine and cosine of one angle
 * and of several. gcc and clang compute several angles as vectors.
 */

/* Fails to compile with options such as -fsingle-precision-constant. */
typedef char ieee_double_literals_are_needed[sizeof(double) == 8 && sizeof(1.0) == 8 ? 1 : -1];

#ifdef HAS_FMA
#define fma_double(a, b, c) fma(a, b, c)
#else
#define fma_double(a, b, c) ((a) * (b) + (c))
#endif
#define same_double(x) (x)

/* Largest angle for which the argument reduction, with pi/2 in three parts of 33, 33 and 53 bits,
 * is exact: the number of quarter turns times either of the first two parts must not round. */
#define NEAR 823549.0

/* Sine and cosine for |x| <= NEAR, to 2.5 units in the last place (1.7 up to |x| = 1000; 4 within
 * 1e-9 of a zero); NaN for NaN. The last bits of x / (pi/2) + 1.5 * 2^52 are the number of quarter
 * turns; the polynomials are those of fdlibm. */
#define DEFINE_SINCOS(name, real, bits)                                                           \
  HELPER void name(const real x, real *sine, real *cosine) {                                      \
    const real shifted = fma_##real(x, same_##real(6.36619772367581382433e-01),                   \
        same_##real(6755399441055744.0));                                                         \
    const real turns = shifted - 6755399441055744.0;                                              \
    const real near = fma_##real(-turns, same_##real(6.07710050630396597660e-11),                 \
        fma_##real(-turns, same_##real(1.57079632673412561417e+00), x));                          \
    const real r = fma_##real(-turns, same_##real(2.02226624879595063154e-21), near);             \
    const real z = r * r, zz = z * z;                                                             \
    const real s1 = fma_##real(z, same_##real(8.33333333332248946124e-03),                        \
        same_##real(-1.66666666666666324348e-01));                                                \
    const real s2 = fma_##real(z, same_##real(2.75573137070700676789e-06),                        \
        same_##real(-1.98412698298579493134e-04));                                                \
    const real s3 = fma_##real(z, same_##real(1.58969099521155010221e-10),                        \
        same_##real(-2.50507602534068634195e-08));                                                \
    const real s = fma_##real(r * z, fma_##real(zz, fma_##real(zz, s3, s2), s1), r);              \
    const real c1 = fma_##real(z, same_##real(-1.38888888888741095749e-03),                       \
        same_##real(4.16666666666666019037e-02));                                                 \
    const real c2 = fma_##real(z, same_##real(-2.75573143513906633035e-07),                       \
        same_##real(2.48015872894767294178e-05));                                                 \
    const real c3 = fma_##real(z, same_##real(-1.13596475577881948265e-11),                       \
        same_##real(2.08757232129817482790e-09));                                                 \
    const real c = fma_##real(zz, fma_##real(zz, fma_##real(zz, c3, c2), c1),                     \
        fma_##real(z, same_##real(-0.5), same_##real(1.0)));                                      \
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
#if !defined(HAS_FMA)
#define FMA(lanes, a, b, c) return a * b + c;
#elif defined(__FMA__) && !defined(__clang__)
#define FMA(lanes, a, b, c) return FMA_##lanes(a, b, c);
#define FMA_4 __builtin_ia32_vfmaddpd256
/* All lanes, rounded as elsewhere. */
#define FMA_8(a, b, c) __builtin_ia32_vfmaddpd512_mask(a, b, c, -1, 4)
#else /* clang: one instruction */
#define FMA(lanes, a, b, c) \
  for (int k = 0; k < lanes; ++k) c[k] = fma(a[k], b[k], c[k]); \
  return c;
#endif

/* A type of vectors, the same number in every lane (compilers leave out a difference with 0, unlike
 * a sum), multiply-add, and sine and cosine. */
#define DEFINE_VECTOR(wide, lanes)                                                                \
  typedef double wide __attribute__((vector_size(8 * lanes)));                                    \
  typedef int64_t wide##_bits __attribute__((vector_size(8 * lanes)));                            \
  typedef uint64_t wide##_words __attribute__((vector_size(8 * lanes)));                          \
  HELPER wide same_##wide(double x) {                                                             \
    const wide zero = {0};                                                                        \
    return x - zero;                                                                              \
  }                                                                                               \
  HELPER wide fma_##wide(wide a, wide b, wide c) { FMA(lanes, a, b, c) }                          \
  DEFINE_SINCOS(sincos_near_##wide, wide, wide##_words)                                           \
  SELDOM void sincos_each_##wide(const wide *x, wide *sine, wide *cosine) {                       \
    for (int k = 0; k < lanes; ++k) {                                                             \
      double s, c;                                                                                \
      sincos_one((*x)[k], &s, &c);                                                                \
      (*sine)[k] = s;                                                                             \
      (*cosine)[k] = c;                                                                           \
    }                                                                                             \
  }                                                                                               \
  HELPER void sincos_##wide(wide x, wide *sine, wide *cosine) {                                   \
    const wide##_bits is_near = (x <= NEAR) & (x >= -NEAR);                                       \
    int64_t all = -1;                                                                             \
    for (int k = 0; k < lanes; ++k) all &= is_near[k];                                            \
    if (all) {                                                                                    \
      sincos_near_##wide(x, sine, cosine);                                                        \
    } else {                                                                                      \
      sincos_each_##wide(&x, sine, cosine);                                                       \
    }                                                                                             \
  }

/* The type `wide` has as many doubles as a vector register, `narrow` not more than four: filling
 * and emptying a vector of eight takes longer than computing two of four. */
#if defined(__AVX512F__)
#define LANES 8
#define NARROW 4
DEFINE_VECTOR(wide, 8)
DEFINE_VECTOR(narrow, 4)
#else
#if defined(__AVX__)
#define LANES 4
DEFINE_VECTOR(wide, 4)
#else
#define LANES 2
DEFINE_VECTOR(wide, 2)
#endif
#define NARROW LANES
#define sincos_narrow sincos_wide
typedef wide narrow;
#endif

/* Sines and cosines of four angles of one state. */
HELPER void sincos_four(
    double x0, double x1, double x2, double x3, double *sines, double *cosines) {
  narrow s[4 / NARROW], c[4 / NARROW];
#if NARROW == 4
  const narrow x = {x0, x1, x2, x3};
  sincos_narrow(x, s, c);
#else
  const narrow x = {x0, x1}, y = {x2, x3};
  sincos_narrow(x, s, c);
  sincos_narrow(y, s + 1, c + 1);
#endif
  memcpy(sines, s, sizeof s);
  memcpy(cosines, c, sizeof c);
}
#else
DEFINE_SINCOS_FOUR(double)
#endif

/* Those of any number of angles. */
HELPER void sincos_all(const double *x, double *sines, double *cosines, int count) {
  int k = 0;
  for (; k + 4 <= count; k += 4)
    sincos_four(x[k], x[k + 1], x[k + 2], x[k + 3], sines + k, cosines + k);
  for (; k < count; ++k) sincos_one(x[k], sines + k, cosines + k);
}
