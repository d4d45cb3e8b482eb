# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Results computed ahead: in order, each once, by two threads."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from kron_dynamics.bag.ahead import computed_ahead

LONG = 60.0  # s, ends a test whose threads wait for each other


def test_results_are_in_order_and_each_is_computed_once():
    begun = []

    def task(number):
        begun.append(number)
        return number * number

    found = list(computed_ahead(partial(task, k) for k in range(50)))
    assert found == [k * k for k in range(50)]
    assert sorted(begun) == list(range(50))


def test_the_caller_works_while_the_other_thread_does():
    # Each of the first two tasks ends only when both have begun.
    both = threading.Barrier(2, timeout=LONG)
    threads = []

    def task(number):
        if number < 2:
            both.wait()
            threads.append(threading.current_thread())
        return number

    assert list(computed_ahead(partial(task, k) for k in range(8))) == list(range(8))
    assert len(set(threads)) == 2
    assert threading.current_thread() in threads


def test_few_results_wait_for_their_use():
    made, most = [], 0
    for used, _ in enumerate(computed_ahead(partial(made.append, k) for k in range(200)), start=1):
        most = max(most, len(made) - used)
    assert most <= 4


def test_an_error_is_told_where_its_result_is_used():
    def task(number):
        if number == 3:
            raise ValueError('the fourth')
        return number

    found = []
    with pytest.raises(ValueError, match='the fourth'):  # noqa: PT012
        for result in computed_ahead(partial(task, k) for k in range(9)):
            found.append(result)
    assert found == [0, 1, 2]
