# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Run-time checks of a driven machine: measured states, their publishers, tracking errors."""
