# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The page that says where things are names files that there are."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_file_and_name_of_the_map_exists() -> None:
    text = (ROOT / 'docs' / 'map.md').read_text(encoding='utf-8')
    files = re.findall(r'`([\w/]+\.(?:py|c))`', text)
    assert len(files) > 25
    for name in files:
        assert (ROOT / 'kron_dynamics' / name).is_file(), name
    for page in re.findall(r'\]\(([\w/.-]+\.(?:md|py))\)', text):
        assert (ROOT / 'docs' / page).is_file(), page
    code = '\n'.join((ROOT / 'kron_dynamics' / name).read_text(encoding='utf-8') for name in files)
    words = set(re.findall(r'\w+', code))
    for name in re.findall(r'`(\w{5,})`', text):
        assert name in words, name


def test_every_folder_and_part_is_on_the_map() -> None:
    text = (ROOT / 'docs' / 'map.md').read_text(encoding='utf-8')
    package = ROOT / 'kron_dynamics'
    for folder in {path.parent for path in package.rglob('*.py')} - {package}:
        assert f'`{folder.relative_to(package)}/' in text, folder
    parts = [part.lower() for part in re.findall(r'^## (.+)$', text, flags=re.MULTILINE)]
    for part in parts:
        assert f'[{part}](#{part.replace(" ", "-")})' in text
    assert len(re.findall(r'\]\(#', text)) == len(parts)
