# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Write the page beside this folder."""

from __future__ import annotations

from pathlib import Path

from .page import page

(Path(__file__).parents[1] / 'negrean-2012.md').write_text(page(), encoding='utf-8')
