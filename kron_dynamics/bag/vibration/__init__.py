# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Identification of natural frequencies and damping of flexible links from a recording."""
