# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recomputation of a run: smoothed motion, efforts by inverse dynamics, tip acceleration."""
