// Copyright 2026 The kron_dynamics Authors
// SPDX-License-Identifier: Apache-2.0

#include <math.h>
#include <stdio.h>

#include "@package@/@prefix@.h"

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "with options such as -ffast-math this test would not see a NaN"
#endif

@numbers@
#if @upper@_WORKSPACE
static @real@ workspace[@upper@_WORKSPACE];
#endif
static int wrong = 0;
static double worst = 0.0;

/* Compares state k of `count` expected states; the error is relative to their largest number, or to
 * `least` if that is larger. */
static void compare(const char *what, const @real@ *got, const double *expected, int size, int count,
                    int k, double least, double tolerance) {
  double largest = least, difference = 0.0;
  for (int i = 0; i < size * count; ++i) largest = fmax(largest, fabs(expected[i]));
  for (int i = 0; i < size; ++i) {
    const double apart = fabs((double)got[i] - expected[size * k + i]);
    if (apart <= difference) continue;
    difference = apart;
    if (isnan(difference)) break;
  }
  const double share = difference > 0.0 ? difference / largest : difference;
  if (!(share <= tolerance)) {
    printf("%s: state %d is off by %.3g, expected at most %.3g\n", what, k, share, tolerance);
    wrong = 1;
  }
  worst = fmax(worst, share / tolerance);
}

int main(void) {
  const int code = @prefix@_check(@upper@_FINGERPRINT, @upper@_EXPORT);
  if (code != 0 || @prefix@_check("another model", @upper@_EXPORT) != 1 ||
      @prefix@_check(@upper@_FINGERPRINT, "another export") != 2) {
    printf("@prefix@: header and library do not match\n");
    return 2;
  }
@calls@  printf("@prefix@ %s: %s, largest error %.2g of its tolerance\n", @prefix@_version(),
         wrong ? "wrong" : "passed", worst);
  return wrong;
}
