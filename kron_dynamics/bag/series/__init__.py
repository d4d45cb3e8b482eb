# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Time series from messages: assignment to runs and robots, clocks, gaps and losses."""
