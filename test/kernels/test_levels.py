# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Levels of optimization: $CC may ask for another one, which changes no bit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compiled_together import compile_together
from hurried_compiler import OPTIONS
from long_runs import some_of
from same_bits import assert_same_bits

import kron_dynamics
from kron_dynamics.kernels.kernel import BATCH

QUANTITIES = {
    'inverse_dynamics': 3,
    'forward_dynamics': 3,
    'velocity_free_coriolis_matrix': 1,
    'linearization': 3,
    'regressor': 3,
}
NAMES = sorted(path.stem for path in (Path(__file__).parents[1] / 'robots').glob('*.urdf'))


def results(text: str, states: np.ndarray) -> list[np.ndarray]:
    """Results of all quantities: of single states, then of a batch."""
    robot, found = kron_dynamics.loads(text), []
    compile_together(robot, robot.model.tip_link, *QUANTITIES, batches=True)
    for name, arrays in QUANTITIES.items():
        call = getattr(robot, name)
        for some in (*states.transpose(1, 0, 2), states):
            returned = call(*some[:arrays])
            found += returned if isinstance(returned, tuple) else [returned]
    return [np.asarray(array) for array in found]


# The fewest joints of both kinds: larger robots have more code, but no other. Those of
# export/test_library.py are held against kernels of another level, too.
@pytest.mark.parametrize('name', some_of(NAMES, ['rrp']))
def test_kernels_have_the_same_bits_at_every_level(
    name: str,
    own_cache: Path,
    logging_compiler: Any,
    robot_text: Any,
    rng: Any,
    monkeypatch: Any,
    pytestconfig: Any,
) -> None:
    text = robot_text(name)
    states = rng.uniform(-2, 2, (3, BATCH, kron_dynamics.loads(text).n))
    expected = results(text, states)
    command, compilations = os.environ['CC'], len(logging_compiler())
    # Beside the usual one, the extremes; the lowest as other tests have it.
    levels = (OPTIONS, '-O1', '-O3') if pytestconfig.getoption('--long') else (OPTIONS, '-O3')
    for count, level in enumerate(levels, start=2):
        monkeypatch.setenv('CC', f'{command} {level}')
        found = results(text, states)
        assert len(logging_compiler()) == count * compilations > 0
        for array, right in zip(found, expected, strict=True):
            assert_same_bits(array, right)
