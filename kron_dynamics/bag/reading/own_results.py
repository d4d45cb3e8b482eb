# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Results of an analysis in a folder of recordings, told from a recording of the same name."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from kron_dynamics.bag.reading.mcap_records import CHANNEL, RECORD, summary_of, text_at

OWN_FILE = 'analysis.mcap'
# All topics of results are below this one.
PREFIX = '/analysis'


def is_own_result(path: Path) -> bool:
    """Return whether a file is the series of an analysis, which are written as a whole only.

    Args:
        path: path of a file.
    """
    if path.name != OWN_FILE:
        return False
    try:
        topics = list(_topics(path))
    except (OSError, struct.error, UnicodeDecodeError):
        return False
    return bool(topics) and all(topic.startswith(f'{PREFIX}/') for topic in topics)


def _topics(path: Path) -> Iterator[str]:
    """Yield the topics of which the summary of an MCAP file tells."""
    with path.open('rb') as file:
        summary = summary_of(file)
    at = 0
    while at + RECORD.size <= len(summary):
        kind, size = RECORD.unpack_from(summary, at)
        at += RECORD.size
        if kind == CHANNEL:
            yield text_at(summary, at + 4)
        at += size
