# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels: equations recorded once and compiled to machine code."""

from kron_dynamics.kernels.collection import KernelCollection
from kron_dynamics.kernels.kernel import Kernel, KernelReport

__all__ = ['Kernel', 'KernelCollection', 'KernelReport']
