# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Campaigns: many bags analysed with the same options, in parallel, locally or on a cluster."""
