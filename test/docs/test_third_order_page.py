# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/third-order.md shows what runs and names what there is."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics import dynamics

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / 'docs' / 'third-order.md').read_text(encoding='utf-8')


def test_example_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (example,) = re.findall(r'^```python\n(.*?)^```', PAGE, flags=re.MULTILINE | re.DOTALL)
    exec(compile(example, 'third-order.md', 'exec'), {'kd': kd, 'np': np})


def test_functions_exist() -> None:
    names = re.findall(r'`(dynamics|robot)\.(\w+)', PAGE)
    assert len(names) > 8
    for owner, name in names:
        assert hasattr({'dynamics': dynamics, 'robot': kd.Robot}[owner], name), name
