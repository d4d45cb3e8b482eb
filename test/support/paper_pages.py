# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The generators of the pages about papers, which are no part of the package."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PAPERS = Path(__file__).parents[2] / 'docs' / 'papers'


@contextmanager
def generator_of(
    package: str, asked_twice: Callable[[Any], Sequence[tuple[Any, Sequence[str]]]]
) -> Iterator[Any]:
    """Yield a generator's module `page`, and forget it and whatever it imported afterwards.

    Args:
        package: its name.
        asked_twice: of the module, the owners and names of functions that the page and the tests
            of what it says call with the same arguments: they are computed once.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(PAPERS)
        page = importlib.import_module(f'{package}.page')
        for owner, names in asked_twice(page):
            for name in names:
                patch.setattr(owner, name, functools.cache(getattr(owner, name)))
        yield page
    ours = {path.name for path in PAPERS.iterdir() if path.is_dir()}
    for name in [name for name in sys.modules if name.split('.')[0] in ours]:
        del sys.modules[name]
