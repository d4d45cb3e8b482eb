# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A run recomputed: smoothed motion, the efforts it takes, the acceleration of the tip."""
