# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables that are too long for memory are the same in a file."""

from __future__ import annotations

import io
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


def test_a_table_grows_in_its_file(monkeypatch):
    # The file is made anew with more room several times, in pieces that end within a column.
    monkeypatch.setattr(spool, 'IN_MEMORY', 1000)
    monkeypatch.setattr(spool, '_ROOM', 2)
    monkeypatch.setattr(spool, '_PIECE', 600)
    rng = np.random.default_rng(1)
    for kind in (float, np.int64):
        for columns in (1, 2, 5):
            table = (1000.0 * rng.normal(size=(3000, columns))).astype(kind)
            made = spool.Spool(kind, columns)
            for part in np.split(table, np.sort(rng.integers(0, 3000, 60))):
                made.append(part)
            found = made.table()
            assert found.dtype == kind
            assert not found.flags.writeable  # it is in the file
            assert np.array_equal(found, table)
            assert all(found[:, k].flags.c_contiguous for k in range(columns))


def test_room_takes_no_space_on_the_disk(monkeypatch, tmp_path):
    files = []

    def opened(prefix):
        files.append((tmp_path / prefix).open('w+b'))
        return files[-1]

    monkeypatch.setattr(tempfile, 'TemporaryFile', opened)
    made = spool.Spool(float, 18)
    rows = np.ones((200_000, 18))
    made.append(rows)
    used = (tmp_path / 'kron_dynamics').stat()
    assert used.st_size > 10 * rows.nbytes
    assert 512 * used.st_blocks < 1.1 * rows.nbytes
    assert np.array_equal(made.table(), rows)


def test_a_full_disk_is_told(bag, monkeypatch):
    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(28, 'No space left on device')

    monkeypatch.setattr(spool, 'IN_MEMORY', 1000)
    monkeypatch.setattr(tempfile, 'TemporaryFile', lambda **_: Full())
    with pytest.raises(BagError, match=r'temporary file in .*No space left.*TMPDIR') as caught:
        read_bag(bag)
    assert '\n' not in str(caught.value)
