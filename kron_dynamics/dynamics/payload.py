# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Payloads as arguments of the equations, which may change at run time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any, cast

import numpy as np

from kron_dynamics.dynamics.composite import Inertia
from kron_dynamics.dynamics.regressor import PARAMETERS_PER_BODY
from kron_dynamics.kinematics.scalars import as_scalars
from kron_dynamics.model.inertia import rotational_inertia
from kron_dynamics.model.rigid_model import RigidModel, rigid_tree
from kron_dynamics.model.robot_model import Body, Frame, RobotModel, read_only
from kron_dynamics.typing import ArrayLike, FloatArray, ScalarArray


@singledispatch
def carrying(model: RobotModel, links: Sequence[str], payload: ArrayLike) -> RobotModel:
    """Return a model for the equations of motion whose links carry payloads.

    Its M, C*, C, c, g, efforts, energies and linear models are those of the robot plus a part
    that is linear in the payload. Its `bodies` are not accessible, as the payload is not added to
    the inertias of the links.

    Args:
        model: the robot, or its stand-in while a kernel is traced with loops.
        links: names of the links that carry payloads, all different.
        payload: ten inertial parameters for each of the l links, shape (10 l,), in the order of
            `inertial_parameters`, about the link's origin and in its axes; any number type.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    return carrying_tree(rigid_tree(model), links, payload)


def carrying_tree(model: RigidModel, links: Sequence[str], payload: ArrayLike) -> RigidModel:
    """Return the tree of rigid bodies whose links carry payloads; see `carrying`."""
    added, numbers = [], as_scalars(payload)
    for k, link in enumerate(links):
        frame, first = model.frame(link), PARAMETERS_PER_BODY * k
        own = np.array([numbers[first + i] for i in range(PARAMETERS_PER_BODY)])
        added.append((frame.body, placed(inertia_of(own), frame)))
    return cast(RigidModel, _CarryingTree(model, added))


class _CarryingTree:
    """Proxy of a model that adds payloads to the inertias of its bodies."""

    def __init__(self, model: RigidModel, added: Sequence[tuple[int, Inertia]]) -> None:
        self._model = model
        self._added = added

    def __getattr__(self, name: str) -> Any:
        if name == 'bodies' or name.startswith('_'):
            raise AttributeError(f'{name}: bodies do not include payloads, per_body does')
        return getattr(self._model, name)

    def per_body(self, function: Callable[[RigidModel], list[Inertia]]) -> Any:
        """Return the bodies' inertias computed by a function of the model, with the payloads."""
        inertias = self._model.per_body(function)
        if not isinstance(inertias, list):  # constants of a trace with loops
            table = self._model.table()
            for k, _ in self._model.outward():
                table[k] = inertias[k]
            inertias = table
        for body, inertia in self._added:
            inertias[body] = inertias[body] + inertia
        return inertias


def inertia_of(parameters: ScalarArray) -> Inertia:
    """Return the `Inertia` with the given ten inertial parameters.

    Args:
        parameters: mass, first moment, inertia, shape (10,), ordered as `inertial_parameters`.
    """
    mass, first, (xx, xy, xz, yy, yz, zz) = parameters[0], parameters[1:4], parameters[4:]
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Inertia(mass, first, (xx + yy + zz) / 2 * np.eye(3, dtype=int) - inertia)


def parameters_of_inertia(inertia: Inertia) -> FloatArray:
    """Return the ten parameters of an `Inertia`, shape (10,): see `inertial_parameters`."""
    turning = rotational_inertia(inertia.second)
    return np.array([inertia.mass, *inertia.first, *turning[np.triu_indices(3)]], dtype=np.float64)


@singledispatch
def with_inertias(model: RobotModel, parameters: FloatArray) -> RobotModel:
    """Return a copy of a model whose bodies have the given inertias.

    Args:
        model: the robot.
        parameters: inertial parameters, shape (10 b + ...,), ordered as `inertial_parameters`;
            of a rigid tree those after the bodies' are ignored.
    """
    tree, bodies = rigid_tree(model), list[Body]()
    for k, body in enumerate(tree.bodies):
        own = inertia_of(parameters[PARAMETERS_PER_BODY * k : PARAMETERS_PER_BODY * (k + 1)])
        center = own.first / own.mass if own.mass > 0 else np.zeros(3)
        turning = rotational_inertia(own.second - own.mass * np.outer(center, center))
        bodies.append(Body(float(own.mass), read_only(center), read_only(turning), body.links))
    return replace(tree, bodies=tuple(bodies))


def placed(inertia: Inertia, frame: Frame) -> Inertia:
    """Return moments given in a link's frame, transformed to the frame of its body."""
    if (frame.rotation != np.eye(3)).any():
        inertia = inertia.turned(frame.rotation)
    return inertia.about(frame.translation) if frame.translation.any() else inertia
