# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What flexible links need of SciPy: imported in one place, before a machine moves.

Stiff links need none of it: neither the laws, nor references without shaping, nor the fault action.
"""

from __future__ import annotations


def load_solvers() -> None:
    """Import what shaping and vibration damping need of SciPy; it takes some tenths of a second.

    A program that controls a machine with links that bend calls this before the machine may move:
    no reference then waits for an import.
    """
    import scipy.interpolate
    import scipy.linalg
    import scipy.optimize  # noqa: F401
