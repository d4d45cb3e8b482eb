# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The analysis of a bag for people and programs: text, plots, JSON and CSV."""
