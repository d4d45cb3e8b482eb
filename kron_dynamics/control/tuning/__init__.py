# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Gains from a bandwidth and a rate of the joint states, and what is stable there."""
