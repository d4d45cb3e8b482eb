# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Robots with interpreted equations, for few evaluations, where compiling takes longer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import kron_dynamics as kd
from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.frame import RelativeFrame
from kron_dynamics.kernels.compiled import Compiled, compiled_methods


def _evaluated(method: Compiled[Any, Any]) -> Callable[..., Any]:
    def call(self: Any, *arrays: Any, out: Any = None) -> Any:
        function = method.specification(self).function
        return function(self.model, *(np.asarray(array, dtype=float) for array in arrays))

    return call


class RelativeFrameOnFloats(RelativeFrame):
    """A relative frame whose equations are evaluated on floats."""


class FrameOnFloats(kd.RobotFrame):
    """A link's frame whose equations are evaluated on floats, one state at a time."""

    def relative_to(self, reference: str, **place: Any) -> RelativeFrameOnFloats:
        seen = super().relative_to(reference, **place)
        return RelativeFrameOnFloats(
            seen.name, seen.reference, seen.axes, seen.point, seen.model, self._kernels
        )


class OnFloats(kd.Robot):
    """A robot whose equations are evaluated on floats, one state at a time."""

    def frame(self, link: str) -> FrameOnFloats:
        known = super().frame(link)
        return FrameOnFloats(known.name, known.model, known._kernels)


for _class, _parent in (
    (OnFloats, kd.Robot),
    (FrameOnFloats, kd.RobotFrame),
    (RelativeFrameOnFloats, RelativeFrame),
):
    for _name, _method in compiled_methods(_parent).items():
        setattr(_class, _name, _evaluated(_method))


class ConstrainedOnFloats(ConstrainedRobot):
    """A constrained robot whose constraints are evaluated on floats."""

    @property
    def _geometry(self) -> Any:
        return self._system.geometry

    def _conditions(self, q: Any, t: float) -> Any:
        return self._system.conditions(q, t) if self.constraints else super()._conditions(q, t)


def uncompiled(text: str, **options: Any) -> OnFloats:
    """Load a robot as `kd.loads`, without compiled kernels."""
    return OnFloats(kd.loads(text, **options).model)
