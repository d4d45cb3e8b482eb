// Copyright 2026 The kron_dynamics Authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls a function repeatedly, without Python in between.

#include <stddef.h>

typedef void (*Kernel)(ptrdiff_t count, const double *const *in, double *const *out);

void loop(Kernel kernel, ptrdiff_t repeat, const double *const *in, double *const *out) {
  for (ptrdiff_t i = 0; i < repeat; ++i) kernel(1, in, out);
}
