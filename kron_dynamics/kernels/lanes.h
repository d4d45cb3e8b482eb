/* Copyright 2026 The kron_dynamics Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Evaluation of many states at once, one per SIMD lane (vector extension of gcc and clang), and
 * the conversion between rows of states and lanes.
 */
#if LANES == 8
#define GATHER(x, n) \
  {(x)[0], (x)[(n)], (x)[2 * (n)], (x)[3 * (n)], (x)[4 * (n)], (x)[5 * (n)], (x)[6 * (n)], (x)[7 * (n)]}
#elif LANES == 4
#define GATHER(x, n) {(x)[0], (x)[(n)], (x)[2 * (n)], (x)[3 * (n)]}
#else
#define GATHER(x, n) {(x)[0], (x)[(n)]}
#endif

static inline wide tanh_wide(wide x) {
  for (int k = 0; k < LANES; ++k) x[k] = tanh(x[k]);
  return x;
}

/* Unrolled loops index arrays of vectors by constants, which keeps these in registers. */
#define UNROLL _Pragma("GCC unroll 8")

#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (wide_bits){__VA_ARGS__})
#endif

/* Transposes a matrix of LANES x LANES numbers with its rows in t: swaps the off-diagonal blocks,
 * then recursively those of each block, down to single numbers. */
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

#if defined(__OPTIMIZE__)
#define NOT_INLINED static __attribute__((noinline))
#else
#define NOT_INLINED static inline
#endif

/* Writes results of LANES states, given as one vector per result, as one row per state. There are
 * at least LANES results; if width is not a multiple of it, the last square overlaps the one
 * before. */
NOT_INLINED void scatter_squares(
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

/* Like scatter_squares, for any number of results. */
static inline void scatter(const wide *y, double *restrict out, int width) {
  if (width >= LANES) {
    scatter_squares(y, out, width);
  } else {
    UNROLL
    for (int l = 0; l < LANES; ++l)
      for (int k = 0; k < width; ++k) out[l * width + k] = y[k][l];
  }
}

/* Copies rows k to count - 1, fewer than LANES, and repeats the last one until there are LANES. */
static inline void fill_up(
    const double *rows, double *filled, int size, ptrdiff_t k, ptrdiff_t count) {
  for (int l = 0; l < LANES; ++l) {
    const ptrdiff_t row = k + l < count ? k + l : count - 1;
    for (int j = 0; j < size; ++j) filled[l * size + j] = rows[row * size + j];
  }
}
