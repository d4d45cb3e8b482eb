# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Tuning: gains from a bandwidth and a joint-state rate, with their stability limits."""
