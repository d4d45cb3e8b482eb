# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The machines that supervision is tried on: the one shipped, and public arms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import kron_dynamics
from kron_dynamics import Robot

URDF = Path(__file__).parents[3] / 'urdf'


@pytest.fixture(scope='session')
def machine(kernel_cache: Path) -> Callable[[str], Robot]:
    """Load a machine by the name of its file."""
    made: dict[str, Robot] = {}

    def load(name: str) -> Robot:
        if name not in made:
            if name == 'stacker_reclaimer':
                made[name] = kron_dynamics.load(URDF / f'{name}.urdf')
            else:
                oracle = pytest.importorskip('pinocchio_oracle')
                made[name] = kron_dynamics.loads(oracle.arm_text(name))
        return made[name]

    return load
