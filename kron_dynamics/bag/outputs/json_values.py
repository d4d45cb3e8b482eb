# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Results as JSON text, with null for unknown values."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def json_text(value: Any) -> str:
    """Return results as indented JSON with a newline at the end.

    Args:
        value: JSON values, NumPy arrays and scalars; NaN and infinite numbers become null.
    """
    return json.dumps(_plain(value), indent=2, allow_nan=False) + '\n'


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
