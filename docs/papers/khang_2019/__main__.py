# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Write the page and its pictures beside this folder."""

from __future__ import annotations

from pathlib import Path

from . import maps
from .page import page

_FOLDER = Path(__file__).parents[1]
(_FOLDER / 'khang-2019.md').write_text(page(), encoding='utf-8')
for name in maps.NAMES:
    maps.write(_FOLDER, name)
    maps.draw(_FOLDER, name, _FOLDER)
