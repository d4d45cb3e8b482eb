# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Names for kernels that are made from constraints."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from types import MethodType
from typing import cast

from kron_dynamics.constraints.constraint import Constraint, Geometry
from kron_dynamics.constraints.system import ConstraintSystem
from kron_dynamics.kernels.captured import captured_text
from kron_dynamics.kernels.collection import KernelCollection
from kron_dynamics.kernels.late_imports import IMPORTING
from kron_dynamics.kernels.origins import is_ours, origins_of
from kron_dynamics.kernels.sources import sources_digest
from kron_dynamics.kernels.specification import KernelSpecification
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import FloatArray


def kernel_name(kind: str, system: ConstraintSystem, *more: object) -> str:
    """Return a name that only kernels of the same function share, as kernels are known by name.

    If data of a constraint, or globals that it reads, have no exact text, the name is a new one
    in every call: its kernels are compiled anew for every robot.

    Args:
        kind: the first part of the name.
        system: the constraints.
        more: what else the kernels depend on, with exact and complete texts.
    """
    sources = sources_digest(*{origin for c in system.constraints for origin in origins_of(c)})
    data = os.urandom(16).hex() if system.description is None else system.description
    read = [text for c in system.constraints for text in _texts_of(c, system.model)]
    digest = hashlib.sha256(f'{data!r}{more!r}{sources}{read!r}'.encode())
    return f'{kind}.{digest.hexdigest()[:16]}'


def _texts_of(constraint: Constraint, model: RobotModel) -> list[str]:
    """Return texts of the model, code and globals that a user's constraint reads."""
    if is_ours(constraint.geometry):
        return []
    with IMPORTING:
        from kron_dynamics.kernels.model_text import model_text
        from kron_dynamics.kernels.read_attributes import functions_read

    method = cast('MethodType', constraint.geometry)
    functions = method.__func__, *functions_read(method)
    return [model_text(model), *map(captured_text, functions)]


def geometry_of(
    system: ConstraintSystem, kernels: KernelCollection
) -> Callable[[FloatArray, FloatArray], Geometry]:
    """Return the function of q and qd, shape (n,), for all constraints' geometry.

    It is a kernel if the data of the constraints have an exact text.

    Args:
        system: the constraints.
        kernels: the kernels of their robot.
    """
    if not system.geometric or system.description is None:
        return system.geometry
    function, arguments = system.geometry_function, ('q', 'qd')
    name = kernel_name('constraints', system)
    known = KernelSpecification(name, arguments, function, Geometry, has_loops=False)
    call: Callable[[FloatArray, FloatArray], Geometry] = kernels.get(known).call
    return call
