# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Readers of constraint descriptions: this package's own format and those of other tools."""

from kron_dynamics.constraints.formats.reading import read_constraints

__all__ = ['read_constraints']
