# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a loop does, independent of the numbers of its nodes and memories."""

from __future__ import annotations
