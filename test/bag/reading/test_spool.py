# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables that are too long for memory are the same in a file."""

from __future__ import annotations

import io
import os
import subprocess
import sys
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
    monkeypatch.setattr(spool, '_ROOM', (2,))
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


def test_a_table_has_less_room_where_large_files_are_not_allowed(tmp_path):
    done = _limited(('RLIMIT_FSIZE', '2_500_000'), None, tmp_path)
    assert (done.returncode, done.stdout) == (0, 'whole\n'), done.stderr
    done = _limited(('RLIMIT_FSIZE', '500_000'), None, tmp_path)
    assert 'File too large; allow larger files (ulimit -f)' in done.stderr
    assert 'BagError' in done.stderr


def test_too_few_open_files_are_told(tmp_path):
    limit = 'RLIMIT_NOFILE', 'next_file()'
    for limits in ((limit, None), (None, limit)):  # the file cannot be made, or not mapped
        done = _limited(*limits, tmp_path)
        assert 'BagError' in done.stderr
        assert 'Too many open files' in done.stderr
        assert 'allow more open files (ulimit -n)' in done.stderr


def _limited(at_first, then, folder):
    """Make a table of 1.2 MB in a process with limits before and after its first 240 kB."""
    script = f"""
import os, resource, tempfile
import numpy as np
from kron_dynamics.bag.reading import spool

def next_file():
    number = os.dup(0)
    os.close(number)
    return number

def limit(name=None, value=None):
    if name is not None:
        kind = getattr(resource, name)
        resource.setrlimit(kind, (eval(value), resource.getrlimit(kind)[1]))

spool.IN_MEMORY = 200_000
made, rows = spool.Spool(float, 3), np.arange(30_000.0).reshape(-1, 3)
tempfile.gettempdir()
limit(*{at_first or ()})
made.append(rows)
limit(*{then or ()})
for _ in range(4):
    made.append(rows)
print('whole' if np.array_equal(made.table(), np.concatenate(5 * [rows])) else 'wrong')
"""
    return subprocess.run(
        [sys.executable, '-c', script],
        env={**os.environ, 'TMPDIR': str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_full_disk_is_told(bag, monkeypatch):
    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(28, 'No space left on device')

    monkeypatch.setattr(spool, 'IN_MEMORY', 1000)
    monkeypatch.setattr(tempfile, 'TemporaryFile', lambda **_: Full())
    with pytest.raises(BagError, match=r'temporary file in .*No space left.*TMPDIR') as caught:
        read_bag(bag)
    assert '\n' not in str(caught.value)
