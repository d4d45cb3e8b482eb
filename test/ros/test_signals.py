# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a signal ends at once, and what it does not."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator

import pytest

from kron_dynamics.ros.signals import listen, stopped_at_once


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.setattr(sys, 'unraisablehook', sys.unraisablehook)
    event = listen()
    yield event
    event.clear()
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_only_what_it_may(told: threading.Event, number: signal.Signals) -> None:
    reached = []
    with stopped_at_once():
        reached.append('undisturbed')
    signal.raise_signal(number)  # a callback goes on to its end
    assert told.is_set()
    told.clear()
    with pytest.raises(KeyboardInterrupt), stopped_at_once():
        reached.append('before')
        signal.raise_signal(number)
        reached.append('after')
    assert told.is_set()
    assert reached == ['undisturbed', 'before']


def test_a_signal_before_is_not_forgotten(told: threading.Event) -> None:
    signal.raise_signal(signal.SIGINT)

    @stopped_at_once()
    def work() -> None:
        raise AssertionError

    with pytest.raises(KeyboardInterrupt):
        work()


def test_the_way_out_is_not_interrupted(told: threading.Event) -> None:
    reached = []
    with pytest.raises(KeyboardInterrupt), stopped_at_once():
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(signal.SIGTERM)
            reached.append('in order')
    assert reached == ['in order']


def test_an_interrupt_taken_for_an_error_is_one(told: threading.Event) -> None:
    with pytest.raises(KeyboardInterrupt), stopped_at_once():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError('half a module') from None
    told.clear()
    with pytest.raises(ImportError, match='no module'), stopped_at_once():
        raise ImportError('no module')


def test_an_interrupt_that_is_swallowed_is_one(told: threading.Event) -> None:
    with pytest.raises(KeyboardInterrupt), stopped_at_once():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            pass


def test_other_threads_hear_no_signal(told: threading.Event) -> None:
    done = []

    def work() -> None:
        with stopped_at_once():
            done.append(True)

    signal.raise_signal(signal.SIGINT)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
