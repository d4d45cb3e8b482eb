# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a model beside its description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from kron_dynamics.model.payload import Payload
from kron_dynamics.typing import ArrayLike


class ModelOptions(TypedDict, total=False):
    """Options of `load_model`, `load_flexible_model` and `build_model`.

    Attributes:
        gravity: gravity acceleration in the root link's axes, shape (3,), m/s^2.
        joints: order of the generalized coordinates by joint name; None takes the joints depth
            first in document order.
        armature: rotor inertia reflected to the joint, by joint name, kg m^2 or kg; overrides the
            transmissions of the URDF.
        payload: payloads by link name, as for `with_payloads`.
        hold_base: whether a floating or planar joint at the root is held at its zero position.
        strict: whether every warning (not hint) is an error.
        allow: kinds of warnings that `strict` accepts.
    """

    gravity: ArrayLike
    joints: Sequence[str] | None
    armature: Mapping[str, float] | None
    payload: Mapping[str, Payload] | None
    hold_base: bool
    strict: bool
    allow: Sequence[str]
