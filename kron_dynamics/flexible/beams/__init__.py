# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Single Euler-Bernoulli beams: modes and their integrals, independent of robots."""
