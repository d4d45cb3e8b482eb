# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""SciPy modules that the control of flexible links needs, imported before the machine moves.

Rigid links need no SciPy: neither control laws, nor unshaped references, nor fault actions.
"""

from __future__ import annotations


def load_solvers() -> None:
    """Import shaping, vibration damping and their solvers; it takes some tenths of a second.

    A program that controls a machine with flexible links calls this before the machine may move,
    so that no reference waits for an import.
    """
    # SciPy explicitly: this package's modules import it inside functions only.
    import scipy.interpolate
    import scipy.linalg
    import scipy.optimize  # noqa: F401

    import kron_dynamics.control.shaping.shape
    import kron_dynamics.control.vibration.gain_schedule  # noqa: F401
