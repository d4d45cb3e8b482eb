# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a model may be made with besides its description."""

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
        armature: rotor inertia at the joint by joint name, kg m^2 or kg, in place of what the
            transmissions of the URDF give.
        payload: what links carry, by their names, as for `with_payloads`.
        hold_base: whether a floating or planar joint at the root is held where it is.
        strict: whether every warning is an error.
        allow: kinds of warnings that `strict` lets pass.
    """

    gravity: ArrayLike
    joints: Sequence[str] | None
    armature: Mapping[str, float] | None
    payload: Mapping[str, Payload] | None
    hold_base: bool
    strict: bool
    allow: Sequence[str]
