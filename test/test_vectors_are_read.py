# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Every expected entry of the reference vectors is read by a test.

This file is the last that pytest runs (`conftest.py`) and looks at what the others have read.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from public_vectors import CASES, READ, reads_vectors

TESTS = Path(__file__).parent


def all_readers_ran(session: pytest.Session) -> bool:
    """Whether no test of the files that read the vectors was left out."""
    option = session.config.option
    chosen = option.keyword or getattr(option, 'lf', False)
    chosen = chosen or '::' in ''.join(session.config.args)
    readers = {path for path in TESTS.rglob('test_*.py') if reads_vectors(path)}
    return not chosen and readers <= {item.path for item in session.items}


def test_every_entry_is_read(request: pytest.FixtureRequest) -> None:
    if not all_readers_ran(request.session):
        pytest.skip('only after all tests of the files that read the vectors')
    entries = {pair for case in CASES for pair in case['expected'].entries()}
    assert sorted(entries - READ) == []
