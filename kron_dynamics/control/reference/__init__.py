# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Reference trajectories: piecewise polynomials through waypoints, within limits."""
