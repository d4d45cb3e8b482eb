# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Large descriptions: work in proportion to their size, no recursion, no backtracking."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from kron_dynamics import ModelError
from kron_dynamics.model import load_model


def chain(parts: Any, kind: str, count: int) -> str:
    """One joint after the other, each link behind the last."""
    return parts.robot(*_rows(parts, kind, count, lambda k: f'l{k - 1}' if k else 'arm'))


def star(parts: Any, kind: str, count: int) -> str:
    """All joints on one link."""
    return parts.robot(*_rows(parts, kind, count, lambda k: 'arm'))


def _rows(parts: Any, kind: str, count: int, parent: Callable[[int], str]) -> list[str]:
    return [
        parts.link(f'l{k}') + parts.joint(f'j{k}', kind, parent(k), f'l{k}') for k in range(count)
    ]


def calls_of(function: Callable[[], object]) -> int:
    """Calls of functions, of those written in C too; it does not matter what else runs."""
    count = 0

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ('call', 'c_call')

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize('kind', ['fixed', 'revolute'])
@pytest.mark.parametrize('shape', [chain, star])
def test_work_grows_with_the_file(shape: Any, kind: str, parts: Any) -> None:
    texts = [shape(parts, kind, count) for count in (50, 100, 200)]
    small, middle, large = (calls_of(lambda t=text: load_model(t)) for text in texts)
    assert large - middle == pytest.approx(2 * (middle - small), rel=0.02)


@pytest.mark.parametrize('kind', ['fixed', 'revolute'])
def test_deep_chain(kind: str, parts: Any) -> None:
    model = load_model(chain(parts, kind, 1500))
    assert model.tip_link == 'l1499'
    assert len(model.link_names) == 1502
    assert model.path(len(model.joints) - 1) == tuple(range(len(model.joints)))


@pytest.mark.parametrize('digits', ['1' * 1_000_000, '0.' + '3' * 1_000_000, '7' * 40_000 + 'x'])
def test_numbers_of_any_length(digits: str, parts: Any) -> None:
    text = parts.robot(arm=parts.link('arm', mass=digits))
    if digits.startswith('0.'):
        assert load_model(text).total_mass == float(digits)
        return
    with pytest.raises(ModelError, match="'arm'") as caught:
        load_model(text)
    assert len(str(caught.value)) < 300
