# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The extension that calls kernels over time: memory, threads, and life without it."""

from __future__ import annotations

import gc
import hashlib
import logging
import os
import sys
import sysconfig
import threading
import time
import tracemalloc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import handmade
import numpy as np
import pytest
from handmade import Five, make_call
from long_runs import some_of

from kron_dynamics import KernelBuildError
from kron_dynamics.kernels import Kernel, caller, compiler_process
from kron_dynamics.kernels.caller import call_type

pytestmark = pytest.mark.hurried

X, Y, Z = np.arange(36.0).reshape(3, 4, 3) - 7

CASES = {
    'new': ('muladd', (X[0], Y[0], Z[0]), {}),
    'out': ('muladd', (X[0], Y[0], Z[0]), {'out': np.empty(3)}),
    'batch': ('muladd', (X, Y, Z), {}),
    'tuple': ('five', (X[0], Y[0], Z[0]), {}),
    'tuple out': ('five', (X, Y, Z), {'out': Five(*np.empty((5, 4, 3)))}),
    'slow': ('muladd', ([1.0, 2.0, 3.0], Y[0], Z[0]), {}),
}


@pytest.mark.parametrize('case', CASES)
def test_nothing_leaks(case: str, request: pytest.FixtureRequest) -> None:
    times = 40 if request.config.getoption('--long') else 1
    name, args, kwargs = CASES[case]
    call = handmade.make(name).call
    held = [*args, *kwargs.values(), call, Five, np.ndarray]
    if case != 'slow':  # np.empty itself forgets a reference to its type in some NumPys
        held.append(np.dtype(float))

    def work(count: int) -> None:
        for _ in range(count):
            call(*args, **kwargs)

    work(1000)
    gc.collect()
    before = [sys.getrefcount(item) for item in held]
    tracemalloc.start()
    try:
        work(100)
        first = tracemalloc.get_traced_memory()[0]
        # Whatever a call leaves, of 16 bytes and more, is several times what is allowed.
        work(times * (2500 if case != 'slow' else 1000))
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - first
    finally:
        tracemalloc.stop()
    assert [sys.getrefcount(item) for item in held] == before
    assert grown < 10_000


def test_kernel_and_call_are_collected_together() -> None:
    made = handmade.make('muladd')
    assert type(made.call) is call_type()
    kernel, call = weakref.ref(made), weakref.ref(made.call)
    gc.collect()
    del made
    assert kernel() is not None  # each holds the other
    gc.collect()
    assert kernel() is None
    assert call() is None


def test_kept_call_keeps_its_kernel() -> None:
    call = handmade.make('muladd').call
    gc.collect()
    np.testing.assert_array_equal(call(list(X[0]), Y[0], Z[0]), X[0] + Y[0] * Z[0])


@pytest.mark.parametrize(('states', 'released'), [(15, False), (16, True)])
def test_other_threads_run_during_a_batch(states: int, released: bool) -> None:
    toil = make_call('toil')
    x = np.full((states, 1), 0.2 / states)
    stamps: list[float] = []
    stop = threading.Event()

    def tick() -> None:
        while not stop.is_set():
            stamps.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    time.sleep(0.05)
    spans = []
    # The interpreter itself does not switch threads meanwhile, however busy the computer is.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(100.0)
    try:
        for _ in range(9):
            started = time.perf_counter()
            toil(x)
            spans.append((started, time.perf_counter()))
    finally:
        sys.setswitchinterval(interval)
    stop.set()
    thread.join()
    assert min(ended - started for started, ended in spans) > 0.02
    during = [sum(started < stamp < ended for stamp in stamps) for started, ended in spans]
    # A busy computer may keep the other thread from running.
    assert max(during) >= 3 if released else max(during) == 0


def forget() -> None:
    caller._state.type, caller._state.try_again = None, 0.0


@pytest.fixture
def fresh() -> Iterator[None]:
    """The extension is looked for anew, and again afterwards."""
    forget()
    yield
    forget()


def hide_headers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv('KRON_DYNAMICS_CACHE', str(tmp_path / 'cache'))
    monkeypatch.setattr(sysconfig, 'get_path', lambda name: str(tmp_path))


def break_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / 'caller.c').write_text('this is no C', encoding='ascii')
    monkeypatch.setattr(caller, '__file__', str(tmp_path / 'caller.py'))


def lose_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(caller, '__file__', str(tmp_path / 'caller.py'))


def spoil_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def compile_library(command: Any, source: str, target: Path, *_: Any) -> None:
        target.write_bytes(b'no library')

    monkeypatch.setenv('KRON_DYNAMICS_CACHE', str(tmp_path / 'cache'))
    monkeypatch.setattr(compiler_process, 'compile_library', compile_library)


def lose_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv('CC', '/nonexistent')


@pytest.mark.parametrize(
    'spoil', [hide_headers, break_source, lose_source, spoil_library, lose_compiler]
)
def test_without_the_extension_ctypes_gives_the_same_numbers(
    spoil: Any,
    fresh: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    expected = handmade.make('five').call
    forget()
    spoil(monkeypatch, tmp_path)
    with caplog.at_level(logging.INFO):
        found = [handmade.make('five') for _ in range(2)]
    assert [record.levelname for record in caplog.records] == ['INFO']
    assert 'ctypes' in caplog.text
    for kernel in found:
        assert kernel.call is kernel
        assert isinstance(kernel, Kernel)
        for states in ((X, Y, Z), (X[0], Y[0], Z[0]), (X[:0], Y[:0], Z[:0])):
            np.testing.assert_array_equal(kernel.call(*states), expected(*states))
            out = Five(*np.empty((5, *states[0].shape)))
            assert kernel.call(*states, out=out) is out
            np.testing.assert_array_equal(out, expected(*states))


def test_extension_is_found_in_the_cache(
    own_cache: Path, fresh: None, compiled_once: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any) -> None:
        raise KernelBuildError('compiled again')

    assert call_type() is not None
    assert len(list(own_cache.glob('*.so'))) == 1
    forget()
    monkeypatch.setattr(compiler_process, 'compile_library', refuse)
    assert call_type() is not None
    # Of another NumPy it is another extension.
    forget()
    monkeypatch.setattr(caller.np, '__version__', '0.1')
    assert call_type() is None


def test_fault_that_passes_is_not_remembered_for_ever(
    own_cache: Path,
    fresh: None,
    compiled_once: list[str],
    monkeypatch: pytest.MonkeyPatch,
    fake_compiler: Any,
    tmp_path: Path,
) -> None:
    tried = tmp_path / 'tried'
    works = os.environ.get('CC', 'cc')
    fake_compiler(f'echo >> {tried}; echo "No space left on device"; exit 1')
    now = time.monotonic()
    monkeypatch.setattr(caller.time, 'monotonic', lambda: now)
    assert [call_type() for _ in range(5)] == [None] * 5
    assert len(tried.read_text(encoding='ascii')) == 1
    monkeypatch.setenv('CC', works)
    now += 61.0
    assert call_type() is not None


@pytest.mark.parametrize('spoil', some_of(['another', 'half', 'pipe'], ['half', 'pipe']))
def test_extension_that_was_spoilt_is_made_again(
    spoil: str, own_cache: Path, fresh: None, compiled_once: list[str]
) -> None:
    assert call_type() is not None
    compiled_once.clear()
    (library,) = own_cache.glob('*.so')
    right = library.read_bytes()
    library.unlink()
    if spoil == 'pipe':
        os.mkfifo(library)
    else:
        library.write_bytes(right[: len(right) // 2] if spoil == 'half' else b'another')
    forget()
    assert call_type() is not None
    assert len(compiled_once) == 1
    (made,) = own_cache.glob('*.so')
    assert made.is_file()
    assert made.stem == hashlib.sha256(made.read_bytes()).hexdigest()
