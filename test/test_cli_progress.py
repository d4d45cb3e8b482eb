# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The bar of long commands: only on terminals, with the time that is left."""

from __future__ import annotations

import io
import sys
from contextlib import closing

import pytest

from kron_dynamics.cli import progress as showing
from kron_dynamics.cli.progress import ProgressBar, progress_line


class Terminal(io.StringIO):
    def __init__(self, is_terminal):
        super().__init__()
        self.isatty = lambda: is_terminal


@pytest.mark.parametrize('is_terminal', [True, False])
def test_terminals_alone_have_a_bar(is_terminal, monkeypatch):
    stream = Terminal(is_terminal)
    monkeypatch.setattr(sys, 'stderr', stream)
    clock = iter(range(1000))
    monkeypatch.setattr(showing.time, 'monotonic', lambda: float(next(clock)))
    with closing(ProgressBar()) as progress:
        for step in range(5):
            progress('reading', step / 4)
    text = stream.getvalue()
    assert ('reading' in text) == is_terminal
    assert text.endswith('\r\x1b[K') == is_terminal  # and nothing of it stays


def test_time_left():
    assert progress_line('reading', 0.25, 30.0).endswith('25 %, 1 min 30 s left')
    assert progress_line('reading', 0.5, 7.0).endswith('50 %, 7 s left')
    assert progress_line('reading', 0.0, 7.0).endswith('] 0 %')
    assert progress_line('reading', 1.5, 7.0).endswith('100 %, 0 s left')
