# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables that are too long for memory are the same in a file."""

from __future__ import annotations

import tempfile

import numpy as np
import pytest

from kron_dynamics.bag import read_bag
from kron_dynamics.bag.reading import spool
from kron_dynamics.exceptions import BagError


@pytest.fixture
def bag(make_bag, arm_motion):
    with make_bag() as made:
        made.motion('/js', arm_motion(4.0))
    return made.path


def test_tables_in_files_hold_the_same(bag, arm, monkeypatch):
    in_memory = read_bag(bag).joint_states['/js']
    monkeypatch.setattr(spool, 'IN_MEMORY', 1000)
    in_files = read_bag(bag).joint_states['/js']
    for _ in range(2):
        for quantity in ('position', 'velocity', 'effort'):
            found, right = (
                states.values(arm.joint_names, quantity) for states in (in_files, in_memory)
            )
            assert np.array_equal(found, right)
        assert np.array_equal(in_files.stamp, in_memory.stamp)
        spool.release()  # read again from the file


def test_a_full_disk_is_told(bag, monkeypatch):
    class Full:
        def write(self, data):
            raise OSError(28, 'No space left on device')

    monkeypatch.setattr(spool, 'IN_MEMORY', 1000)
    monkeypatch.setattr(tempfile, 'TemporaryFile', lambda **_: Full())
    with pytest.raises(BagError, match=r'temporary file in .*No space left.*TMPDIR') as caught:
        read_bag(bag)
    assert '\n' not in str(caught.value)
