# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Test parameters: some are used in every run, all of them in `make test-long`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def some_of(every: Iterable[Any], chosen: Collection[Any]) -> list[Any]:
    """Return all values of a parameter; those not chosen are marked as long.

    Raises:
        AssertionError: a chosen value is not one of all values.
    """
    values = list(every)
    assert all(value in values for value in chosen), f'{chosen} are not all among {values}'
    return [
        value
        if value in chosen
        else pytest.param(
            *(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.long
        )
        for value in values
    ]
