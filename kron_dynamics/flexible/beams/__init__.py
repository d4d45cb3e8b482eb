# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""One beam: Euler-Bernoulli theory, its modes and their integrals. Knows no robot."""
