# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Write the page and its pictures beside this folder."""

from __future__ import annotations

from pathlib import Path

from .machine import draw
from .page import page

_FOLDER = Path(__file__).parents[1]
(_FOLDER / 'khang-2019.md').write_text(page(), encoding='utf-8')
draw(_FOLDER)
