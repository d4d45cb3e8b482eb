# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The compiler: found, failing, hanging, lying."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kron_dynamics import KernelBuildError
from kron_dynamics.kernels import Kernel, build
from kron_dynamics.kernels.build import compiler_identity, find_compiler


def make_kernel() -> Kernel:
    return Kernel('product', [('x', 2)], lambda x: [x[0] * x[1]], 'test_build')


def test_compiler_is_taken_from_cc_with_its_options(fake_compiler: Any) -> None:
    path = fake_compiler('exit 0')
    assert find_compiler() == (str(path),)


def test_options_in_cc_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('CC', 'cc -O1 "-DNAME=two words"')
    command = find_compiler()
    assert command is not None
    assert Path(command[0]).name == 'cc'
    assert command[1:] == ('-O1', '-DNAME=two words')


@pytest.mark.parametrize('value', ['', ' '])
def test_empty_cc_means_cc(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('CC', value)
    command = find_compiler()
    assert command is not None
    assert Path(command[0]).name == 'cc'


def test_missing_compiler_is_none(no_compiler: None) -> None:
    assert find_compiler() is None


def test_identity_changes_with_the_compiler(fake_compiler: Any) -> None:
    path = fake_compiler('exit 0')
    first = compiler_identity((str(path),))
    assert compiler_identity((str(path), '-O1')) != first
    fake_compiler('exit 00')
    assert compiler_identity((str(path),)) != first


def test_failing_compiler_is_an_error_with_its_message(
    fake_compiler: Any, own_cache: Path
) -> None:
    fake_compiler('echo "disk of the compiler is on fire" >&2; exit 3')
    with pytest.raises(KernelBuildError, match='exit code 3: disk of the compiler is on fire'):
        make_kernel()
    left = {path.suffix for path in own_cache.iterdir()}
    assert left <= {'.lock'}


def test_failure_is_not_remembered(
    fake_compiler: Any, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_compiler('exit 1')
    with pytest.raises(KernelBuildError):
        make_kernel()
    monkeypatch.delenv('CC')
    np.testing.assert_array_equal(make_kernel()([2.0, 3.0]), [6.0])


def test_hanging_compiler_times_out(
    fake_compiler: Any, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_compiler('exec sleep 60')
    monkeypatch.setattr(build, '_TIME_LIMIT', 0.2)
    started = time.monotonic()
    with pytest.raises(KernelBuildError, match=r'longer than 0\.2 s'):
        make_kernel()
    assert time.monotonic() - started < 30


def test_compiler_that_cannot_be_run(fake_compiler: Any, own_cache: Path) -> None:
    path = fake_compiler('')
    path.write_text('#!/nonexistent/interpreter\n', encoding='utf-8')
    with pytest.raises(KernelBuildError, match='could not be run'):
        make_kernel()


def test_compiler_that_writes_nothing(fake_compiler: Any, own_cache: Path) -> None:
    fake_compiler('exit 0')
    with pytest.raises(KernelBuildError):
        make_kernel()


def test_compiler_that_writes_no_library(fake_compiler: Any, own_cache: Path) -> None:
    fake_compiler('while [ "$1" != -o ]; do shift; done; echo garbage > "$2"')
    with pytest.raises(KernelBuildError):
        make_kernel()


def test_cc_that_cannot_be_parsed(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('CC', '"cc')
    with pytest.raises(KernelBuildError, match='CC'):
        make_kernel()
