# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes negrean-2012.md: in this folder's parent, ``python -m negrean_2012``."""
