# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes equations.md: in this folder's parent, ``python -m equation_index``."""
