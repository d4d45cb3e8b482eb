# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels with loops, for robots of ten joints and more; `docs/kernels.md` explains them."""
