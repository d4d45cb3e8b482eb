# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Descriptions of constraints: this package's own, and those that robots come with."""

from kron_dynamics.constraints.formats.reading import read_constraints

__all__ = ['read_constraints']
