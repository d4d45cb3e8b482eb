# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes parsa-2007.md: in this folder's parent, ``python -m parsa_2007``."""
