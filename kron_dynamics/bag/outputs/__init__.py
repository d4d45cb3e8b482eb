# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Output of a bag's analysis: text report, HTML page with plots, JSON, CSV, Parquet and MCAP."""
