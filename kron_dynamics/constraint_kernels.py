# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Names for kernels that are made from constraints."""

from __future__ import annotations

import hashlib
import os

from kron_dynamics.constraints.system import ConstraintSystem
from kron_dynamics.kernels.origins import origins_of
from kron_dynamics.kernels.sources import sources_digest


def kernel_name(kind: str, system: ConstraintSystem, *more: object) -> str:
    """Return a name that only kernels of the same function share, as kernels are known by name.

    If the data of a constraint have no exact text, the name is a new one in every call: its
    kernels are compiled anew for every robot.

    Args:
        kind: the first part of the name.
        system: the constraints.
        more: what else the kernels depend on, with exact and complete texts.
    """
    sources = sources_digest(*{origin for c in system.constraints for origin in origins_of(c)})
    data = os.urandom(16).hex() if system.description is None else system.description
    digest = hashlib.sha256(f'{data!r}{more!r}{sources}'.encode())
    return f'{kind}.{digest.hexdigest()[:16]}'
