# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Every expected entry of the reference vectors is read by a test, but for those that are not yet.

This file is the last that pytest runs (`conftest.py`) and looks at what the others have read.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from equation_index.papers import VECTOR_KINDS_NOT_YET
from public_vectors import CASES, READ, reads_vectors

TESTS = Path(__file__).parent


def not_yet() -> set[tuple[str, str]]:
    """Case and entry of what no test reads."""
    return {
        (name, entry)
        for case in CASES
        for name, entry in case['expected'].entries()
        if case['kind'] in VECTOR_KINDS_NOT_YET
    }


def all_readers_ran(session: pytest.Session) -> bool:
    """Whether no test of the files that read the vectors was left out."""
    option = session.config.option
    chosen = option.keyword or getattr(option, 'lf', False)
    chosen = chosen or '::' in ''.join(session.config.args)
    readers = {path for path in TESTS.rglob('test_*.py') if reads_vectors(path)}
    return not chosen and readers <= {item.path for item in session.items}


def test_no_list_names_what_there_is_not() -> None:
    assert set(VECTOR_KINDS_NOT_YET) <= {case['kind'] for case in CASES}


def test_what_is_listed_as_not_yet_is_unread() -> None:
    assert sorted(not_yet() & READ) == [], 'a test reads them: take them off the list'


def test_every_other_entry_is_read(request: pytest.FixtureRequest) -> None:
    if not all_readers_ran(request.session):
        pytest.skip('only after all tests of the files that read the vectors')
    entries = {pair for case in CASES for pair in case['expected'].entries()}
    assert sorted(entries - READ - not_yet()) == []
