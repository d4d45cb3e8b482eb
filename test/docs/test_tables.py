# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of the documentation have as many cells in every row as in their first."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob('*.md'), *(ROOT / 'docs').rglob('*.md'), *(ROOT / 'examples').rglob('*.md')]


def uneven_rows(text: str) -> list[str]:
    """Rows of Markdown tables with other numbers of cells; bars in formulas divide cells, too."""
    found, width, is_code = [], 0, False
    for line in text.splitlines():
        is_code ^= line.startswith('```')
        if is_code or not line.startswith('|'):
            width = 0
            continue
        cells = len(re.findall(r'(?<!\\)\|', line)) - 1
        width = width or cells
        if cells != width or not line.endswith('|'):
            found.append(line)
    return found


def test_rows_have_the_cells_of_their_heads() -> None:
    assert len(PAGES) > 25
    texts = {page.name: page.read_text(encoding='utf-8') for page in PAGES}
    assert {name: rows for name, text in texts.items() if (rows := uneven_rows(text))} == {}
    assert uneven_rows('| a | b |\n|---|---|\n| 1 2 |\n| 1 | 2 |\n') == ['| 1 2 |']
