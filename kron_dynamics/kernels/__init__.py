# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels: equations recorded once and compiled to machine code.

In the order of a first call: `compiled.py` (the decorator of an equation), `collection.py`,
`kernel_factory.py`, `cache.py`; if the kernel is missing `kernel_builder.py`, which records it
(`trace.py`), writes C (`emit.py`), compiles it (`compiler_process.py`) and compares it with the
record (`check.py`). Every later call: `kernel.py` and `caller.c`. docs/kernels.md explains them.
"""

from kron_dynamics.kernels.collection import KernelCollection
from kron_dynamics.kernels.kernel import Kernel, KernelReport

__all__ = ['Kernel', 'KernelCollection', 'KernelReport']
