# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What flexible links need of SciPy: imported in one place, before a machine moves.

Stiff links need none of it: neither laws, nor references without shaping, nor fault actions.
"""

from __future__ import annotations


def load_solvers() -> None:
    """Import shaping, vibration damping and their solvers; it takes some tenths of a second.

    A program that controls a machine with links that bend calls this before the machine may move:
    no reference then waits for an import.
    """
    # Modules of this package first: their own imports of SciPy are in functions.
    import scipy.interpolate
    import scipy.linalg
    import scipy.optimize  # noqa: F401

    import kron_dynamics.control.shaping.shape
    import kron_dynamics.control.vibration.gain_schedule  # noqa: F401
