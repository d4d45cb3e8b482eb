# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The folder that results are written to, unless another one is given."""

from __future__ import annotations

from pathlib import Path

from kron_dynamics.bag.reading.storage_files import STORAGE_SUFFIXES


def beside(bag: Path, what: str) -> Path:
    """Return the default folder for results, beside the bag.

    It is named after the bag: after a file without its suffix, unless another bag is named so.

    Args:
        bag: folder or file.
        what: kind of results, such as 'analysis'.
    """
    bag = bag.resolve()
    # Results of run/ and run.mcap must not replace one another.
    others = {bag.with_suffix(suffix) for suffix in ('', *STORAGE_SUFFIXES)} - {bag}
    is_whole = bag.is_dir() or any(other.exists() for other in others)
    return bag.with_name(f'{bag.name if is_whole else bag.stem}_{what}')
