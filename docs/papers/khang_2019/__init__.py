# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes khang-2019.md: in this folder's parent, ``python -m khang_2019``."""
