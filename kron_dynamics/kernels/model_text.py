# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Text of all that a model holds, for users' equations, which may read any of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from kron_dynamics.model.robot_model import RobotModel

_PLAIN = (str, int, float, np.number, type(None))


def model_text(model: RobotModel) -> str:
    """Return a text that only models with the same numbers and names share.

    The fingerprint alone leaves out what no equation of the package reads, such as position
    limits. The text leaves out warnings, and functions of constraints, which the fingerprint
    tells apart.
    """
    return f'{model.fingerprint} {_text(model)}'


def _text(value: Any) -> str:
    """Return an exact text of numbers and names in a value; '' if it has none."""
    if isinstance(value, np.ndarray):
        return repr((value.shape, value.dtype.str, value.tobytes()))
    if isinstance(value, _PLAIN):
        return repr(value)
    if is_dataclass(value):
        names = [field.name for field in fields(value)]
        return repr([(name, _text(getattr(value, name, None))) for name in names])
    if isinstance(value, Mapping):
        return repr([(_text(key), _text(part)) for key, part in value.items()])
    if isinstance(value, tuple | list):
        return repr([_text(part) for part in value])
    return ''
