# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What the laws and references need of SciPy: imported in one place, before a machine moves."""

from __future__ import annotations


def load_solvers() -> None:
    """Import what this room needs of SciPy; it takes some tenths of a second.

    A program that controls a machine calls this before the machine may move: no reference and no
    fault then waits for an import.
    """
    import scipy.interpolate
    import scipy.linalg
    import scipy.optimize  # noqa: F401
