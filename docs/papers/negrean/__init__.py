# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes tuan-2019.md: in this folder's parent, ``python -m tuan_2019``."""
