# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What is left of truncated and damaged files, and the note about it."""

from __future__ import annotations

from pathlib import Path

from kron_dynamics.bag.reading.mcap_records import MAGIC
from kron_dynamics.bag.reading.mcap_recovery import McapRecovery
from kron_dynamics.bag.reading.sqlite_recovery import SqliteRecovery
from kron_dynamics.exceptions import BagError


def recovered(path: Path) -> McapRecovery | SqliteRecovery:
    """Return the reader of what can be read of a storage file.

    Args:
        path: path of the file.

    Raises:
        BagError: no message is left.
    """
    with path.open('rb') as file:
        is_mcap = file.read(len(MAGIC)) == MAGIC
    return McapRecovery(path) if is_mcap else SqliteRecovery(path)


def recovery_note(name: str, rest: McapRecovery | SqliteRecovery, error: BagError | None) -> str:
    """Return a note about what can be read.

    Args:
        name: name of the file.
        rest: the reader of what is left.
        error: why the whole file cannot be read; None if its end is missing.
    """
    left = sum(connection.msgcount for connection in rest.connections)
    lost = f', without {rest.lost} damaged {rest.PART}' if rest.lost else ''
    if error is None:
        what = f'is cut off (recorder not closed?): its first {left} messages are read'
    else:
        why = one_line(error.__cause__ or error)
        what = f'cannot be read as a whole ({why}): {left} messages are read'
    return f"'{name}' {what}{lost}"


def one_line(error: BaseException) -> str:
    """Return the message of an error, or its type if it has none."""
    return ' '.join(str(error).split()) or type(error).__name__
