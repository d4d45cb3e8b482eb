# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes of the demonstration that end by themselves: what is told of them."""

from __future__ import annotations

import time

import pytest

from kron_dynamics.ros.demo.processes import NodeProcess, ProcessError


@pytest.mark.parametrize(
    ('text', 'last_words'),
    [
        (
            'import sys\nprint("first")\nprint("second")\nsys.exit("no robot here")\n',
            'no robot here',
        ),
        ('import sys\nsys.exit(1)\n', 'no output'),
    ],
)
def test_the_last_words_of_a_process_are_told(text, last_words, tmp_path, monkeypatch):
    (tmp_path / 'ends_at_once.py').write_text(text)
    monkeypatch.setenv('PYTHONPATH', str(tmp_path))
    process = NodeProcess('plant', 'ends_at_once', [], tmp_path / 'plant.log')
    said = f'^plant ended with exit code 1: {last_words}$'
    end = time.monotonic() + 30.0
    with pytest.raises(ProcessError, match=said):
        while time.monotonic() < end:
            process.check()
            time.sleep(0.01)
    with pytest.raises(ProcessError, match=said):
        process.stop()
