# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of refused references says what the package says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / 'docs' / 'references.md').read_text(encoding='utf-8')
SECTION = PAGE.split('## Why a reference or a goal is refused')[1].split('\n## Goals')[0]
ROWS = [
    line.strip('|').split('|')
    for line in SECTION.splitlines()
    if line.startswith('| ') and not line.startswith('| reason')
]
# Who refuses references, but for what no reference asked of the node can come to.
REFUSING = (
    'ros/reference_input.py',
    'ros/reference_points.py',
    'ros/trajectory_goals.py',
    'control/reference/follower.py',
    'control/reference/planning.py',
    'control/goal_monitor.py',
)
UNASKED = {
    'there is no reference: the controller is not active',
    'a reference that is to be shaped cannot begin at once',
    'the trajectory names no joints',
}


@pytest.mark.parametrize('row', ROWS, ids=lambda row: row[0].strip()[:40])
def test_messages_and_codes_are_those_of_the_files_that_refuse(row):
    _, message, codes, places = row
    files = re.findall(r'`([\w/]+\.py)`', places)
    texts = [(ROOT / 'kron_dynamics' / file).read_text(encoding='utf-8') for file in files]
    # Numbers of an example stand where the message has its own.
    parts = [re.split(r'\d[\d.]*', text) for text in re.findall(r'`([^`]+)`', message)]
    said = [max(pieces, key=len).strip() for pieces in parts]
    assert all(len(words) > 5 for words in said)
    assert all(any(words in text for text in texts) for words in said)
    known = (ROOT / 'kron_dynamics' / 'control' / 'goal_code.py').read_text(encoding='utf-8')
    assert all(f'{code} =' in known for code in re.findall(r'`(\w+)`', codes))
    for function in re.findall(r'`(_?[a-z]+)`', places):
        assert any(f'def {function}(' in text for text in texts)


@pytest.mark.parametrize('file', REFUSING)
def test_every_refusal_is_in_the_table(file):
    text = (ROOT / 'kron_dynamics' / file).read_text(encoding='utf-8')
    found = re.findall(r"raise (?:Late)?TrajectoryError\(\s*f?'([^']+)'", text)
    assert found
    missing = [message for message in found if message not in UNASKED and not _told(message)]
    assert missing == []


def _told(message):
    """Whether the table has a message, or a part of it that is long enough to tell it."""
    told = re.findall(r'`([^`]+)`', SECTION)
    pieces = [max(re.split(r'\d[\d.]*', text), key=len).strip() for text in told]
    return any(piece in message for piece in pieces if len(piece) > 10)
