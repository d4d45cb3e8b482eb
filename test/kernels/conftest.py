# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Compilers that misbehave, caches of one's own, and no compiler at all."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def fake_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Make a shell script of these lines the C compiler."""

    def install(script: str) -> Path:
        path = tmp_path / 'fake-cc'
        path.write_text(f'#!/bin/sh\n{script}\n', encoding='utf-8')
        path.chmod(0o755)
        monkeypatch.setenv('CC', str(path))
        return path

    return install


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that this test alone uses, what stands in for it included."""
    folder = tmp_path / 'cache'
    monkeypatch.setenv('KRON_DYNAMICS_CACHE', str(folder))
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    return folder


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('CC', '/nonexistent')
