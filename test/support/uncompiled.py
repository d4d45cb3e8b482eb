# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Robots that are asked a few times only: to compile their linearization would take longer."""

from __future__ import annotations

from typing import Any

import numpy as np

import kron_dynamics as kd
from kron_dynamics import dynamics


class Uncompiled(kd.Robot):
    """A robot whose linearization is evaluated on floats."""

    def linearization(self, q: Any, qd: Any, qdd: Any, *, out: Any = None) -> Any:
        return dynamics.linearization(self.model, *map(np.asarray, (q, qd, qdd)))


def uncompiled(text: str, **options: Any) -> Uncompiled:
    """As `kd.loads`."""
    return Uncompiled(kd.loads(text, **options).model)
