# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Models out of pickles and copies: the same equations, closed to writing again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from kron_dynamics.exceptions import ModelError


def restored_model(kind: type[Any], fingerprint: str, values: dict[str, Any]) -> Any:
    """Return a model made of the values of its fields.

    Args:
        kind: its class.
        fingerprint: that it had.
        values: by field; their arrays are closed to writing, which pickles forget.

    Raises:
        ModelError: it has another fingerprint than before, or other fields.
    """
    try:
        model = kind(**values)
        is_same = model.fingerprint == fingerprint
    except (AttributeError, TypeError):
        is_same = False
    if not is_same:
        raise ModelError(
            f'a pickled {kind.__name__} does not give the equations that it gave: it was made by '
            'another version of kron_dynamics; load the robot description again'
        )
    _close(values)
    return model


def _close(value: Any) -> None:
    """Close all arrays in a value to writing."""
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif isinstance(value, Mapping):
        _close(tuple(value.values()))
    elif isinstance(value, (tuple, list)):
        for item in value:
            _close(item)
    elif is_dataclass(value):
        _close([getattr(value, field.name) for field in fields(value)])
