# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Restoring models from pickles and copies, checked and with read-only arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from kron_dynamics.exceptions import ModelError


def restored_model(kind: type[Any], fingerprint: str, values: dict[str, Any]) -> Any:
    """Return a model made from the values of its fields.

    Args:
        kind: class of the model.
        fingerprint: fingerprint of the pickled model.
        values: values by field name; their arrays become read-only, which pickles do not keep.

    Raises:
        ModelError: the fingerprint or the fields have changed.
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
    """Make all arrays in a value read-only."""
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif isinstance(value, Mapping):
        _close(tuple(value.values()))
    elif isinstance(value, (tuple, list)):
        for item in value:
            _close(item)
    elif is_dataclass(value):
        _close([getattr(value, field.name) for field in fields(value)])
