# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/kernels.md: the functions that it names are met, in that order, on the way to a kernel."""

from __future__ import annotations

import importlib
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.kernels.caller import call_type

PAGE = Path(__file__).parents[2] / 'docs' / 'kernels.md'
NAMED = re.findall(r'^\| \d+ \| `([\w.]+)` \|', PAGE.read_text(encoding='utf-8'), re.M)


def function(name: str) -> Callable[..., Any]:
    """Return the function that the page names."""
    parts = name.split('.')
    found = importlib.import_module('kron_dynamics.' + '.'.join(parts[:2]))
    for part in parts[2:]:
        found = vars(found)[part] if isinstance(found, type) else getattr(found, part)
    return found  # type: ignore[return-value]


def test_at_most_ten_functions() -> None:
    assert 5 < len(NAMED) <= 10


def test_they_are_met_in_this_order(
    robot_text: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setenv('KRON_DYNAMICS_CACHE', str(tmp_path))
    call_type()  # the extension is compiled beside the first kernel, by the same compiler
    codes = {function(name).__code__: name for name in NAMED}
    robot = kd.loads(robot_text('planar_2r'))
    met: list[str] = []

    def watch(frame: Any, event: str, argument: object) -> None:
        if event == 'call' and (name := codes.get(frame.f_code)) and name not in met:
            met.append(name)

    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        robot.inverse_dynamics([0.1, 0.2], np.zeros(2), np.zeros(2))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert met == NAMED
