# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Write the tables into the page beside this folder."""

from __future__ import annotations

from pathlib import Path

from .tables import gust_table, robustness_table, with_table

_PAGE = Path(__file__).parents[1] / 'flexible-links.md'
text = _PAGE.read_text(encoding='utf-8')
for name, table in (('robustness', robustness_table()), ('gusts', gust_table())):
    text = with_table(text, name, table)
_PAGE.write_text(text, encoding='utf-8')
