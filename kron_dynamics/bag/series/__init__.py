# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages as time series: which run and robot they are of, clocks, gaps and losses."""
