# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The robots that identification is for: trees of rigid links."""

from __future__ import annotations

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.model.robot_model import RobotModel


def require_rigid_tree(model: RobotModel) -> None:
    """Refuse robots whose efforts are not linear in the parameters of their bodies alone.

    Loops that the tree of a URDF+ or SDF leaves open carry efforts, too.

    Raises:
        ParameterError: a link is flexible, or the description closes loops.
    """
    if model.is_flexible or model.has_closed_loops:
        raise ParameterError(
            'identification is for trees of rigid links: remove flexible links and loops'
        )
    loops = next((found for found in model.warnings if found.kind == 'open_loops'), None)
    if loops is not None:
        raise ParameterError(
            f'identification is for trees of rigid links: {loops.subject}: {loops.finding}'
        )
