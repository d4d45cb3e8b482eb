# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kinematics of robots with flexible links: the same functions as for rigid ones.

A section of a link moves with the beam's root and the modal coordinates; the joints and frames on
it are as for rigid robots. Importing this module registers the `FlexibleModel` implementations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kron_dynamics.dual import jacobian_of
from kron_dynamics.flexible.deformation import ModalState, move_section, place_section
from kron_dynamics.flexible.flexible_body import FlexibleBody
from kron_dynamics.flexible.flexible_model import FlexibleModel
from kron_dynamics.flexible.link_modes import CrossSection
from kron_dynamics.kinematics.automatic_derivatives import (
    derived_jacobian_dot,
    derived_kinematic_hessian,
    derived_relative_hessian,
)
from kron_dynamics.kinematics.forward import JointPlacement, forward_kinematics, joint_placements
from kron_dynamics.kinematics.hessian import jacobian_dot, kinematic_hessian
from kron_dynamics.kinematics.jacobian import jacobian
from kron_dynamics.kinematics.motion import (
    FrameMotion,
    frame_motion,
    frame_velocity,
    given_rates,
    motion_of_base,
)
from kron_dynamics.kinematics.relative import (
    PlacedTree,
    placed_tree,
    relative_hessian,
    relative_jacobian,
    relative_pose,
)
from kron_dynamics.kinematics.relative_motion import MovingTree, moving_tree, relative_velocity
from kron_dynamics.kinematics.scalars import as_scalars, zeros_like
from kron_dynamics.typing import ArrayLike, ScalarArray


class Section(NamedTuple):
    """A section of a flexible link in one modal state.

    Attributes:
        link: the flexible link.
        state: its modal coordinates.
        at: constants of the section.
        placed: placement of the section on the beam's root, beam axes.
    """

    link: FlexibleBody
    state: ModalState
    at: CrossSection
    placed: JointPlacement

    @property
    def axes(self) -> ScalarArray:
        """Axes of the bodies on the section in beam axes, (3, 3); undeformed, the link's axes."""
        return self.placed.rotation @ self.link.axes.T


class Configuration(NamedTuple):
    """Placements of the bodies of a flexible robot.

    Attributes:
        placements: placements of the skeleton's bodies on their parents.
        sections: sections of the beams, by index of the body attached to them.
        states: modal coordinates of each flexible link.
    """

    placements: list[JointPlacement]
    sections: dict[int, Section]
    states: list[ModalState]


def configuration(model: FlexibleModel, *derivatives: ScalarArray) -> Configuration:
    """Return the placement of every body on its parent, on deformed sections of the beams.

    Args:
        model: the robot.
        derivatives: the coordinates and any number of their derivatives, shape (n,) each.
    """
    placements = joint_placements(model.skeleton, derivatives[0])
    states = model.states(*derivatives)
    sections = {}
    for link, state in zip(model.flexible_links, states, strict=True):
        root = link.root
        for k, at in link.sections.items():
            placed = place_section(state, at)
            sections[k] = Section(link, state, at, placed)
            placements[k] = placements[k]._replace(
                rotation=root.rotation @ sections[k].axes,
                offset=root.offset + root.rotation @ placed.offset,
            )
    return Configuration(placements, sections, states)


def motions_of(
    model: FlexibleModel,
    where: Configuration,
    rates: Sequence[ScalarArray],
    base_acceleration: ScalarArray,
) -> list[FrameMotion]:
    """Return the motion of every body's origin, body axes, as a table of the skeleton.

    Args:
        model: the robot.
        where: the configuration, with the derivatives of the modal coordinates.
        rates: first, second and third derivatives of the coordinates, shape (n,) each; motions
            have as many orders.
        base_acceleration: acceleration of the base, shape (3,), base axes, m/s^2.
    """
    base = motion_of_base(len(rates), base_acceleration)
    motions: list[FrameMotion] = model.skeleton.table(base)
    for k, joint in model.skeleton.outward():
        motions[k] = _moved(model, where, rates, k, motions[joint.parent])
    return motions


def _moved(
    model: FlexibleModel,
    where: Configuration,
    rates: Sequence[ScalarArray],
    k: int,
    before: FrameMotion,
) -> FrameMotion:
    """Return the motion of a body of the skeleton from the motion of its parent."""
    section = where.sections.get(k)
    if section is None:
        c = model.skeleton.joints[k].coordinate
        return before.moved(where.placements[k], [rate[c] for rate in rates])
    root = root_motion(section.link, before)
    return move_section(root, section.state, section.at).turned(section.axes.T)


@moving_tree.register
def _flexible_moving_tree(
    model: FlexibleModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike | None,
    qddd: ArrayLike | None,
) -> MovingTree:
    rates = given_rates(qd, qdd, qddd)
    where = configuration(model, as_scalars(q), *rates)

    def moved(k: int, before: FrameMotion) -> FrameMotion:
        return _moved(model, where, rates, k, before)

    return MovingTree(model.skeleton, where.placements, moved)


def root_motion(link: FlexibleBody, body: FrameMotion) -> FrameMotion:
    """Return the motion of a beam's root, beam axes, from that of the body it is fixed to."""
    return body.carried(link.translation).turned(link.rotation.T)


@forward_kinematics.register
def _flexible_forward_kinematics(model: FlexibleModel, q: ArrayLike, link: str) -> ScalarArray:
    return relative_pose(model, q, link, model.root_link)


@placed_tree.register
def _flexible_placed_tree(model: FlexibleModel, q: ArrayLike) -> PlacedTree:
    return PlacedTree(model.skeleton, configuration(model, as_scalars(q)).placements)


@frame_motion.register
def _flexible_frame_motion(
    model: FlexibleModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike | None,
    qddd: ArrayLike | None,
    link: str,
    point: ArrayLike | None = None,
) -> FrameMotion:
    rates = given_rates(qd, qdd, qddd)
    frame = model.skeleton.frame(link)
    where = configuration(model, as_scalars(q), *rates)
    motions = motions_of(model, where, rates, np.zeros(3, dtype=int))
    turn = np.eye(3, dtype=int)
    for k in reversed(model.skeleton.path(frame.body)):
        turn = where.placements[k].rotation @ turn
    return motions[frame.body].carried(frame.locate(point)).turned(turn)


@jacobian.register
def _flexible_jacobian(
    model: FlexibleModel, q: ArrayLike, link: str, point: ArrayLike | None = None
) -> ScalarArray:
    def velocity(qd: ScalarArray) -> ScalarArray:
        return frame_velocity(model, q, qd, link, point)

    return jacobian_of(velocity, zeros_like(q, (model.n,)))[1]


@relative_jacobian.register
def _flexible_relative_jacobian(
    model: FlexibleModel,
    q: ArrayLike,
    link: str,
    reference: str,
    axes: str | None = None,
    point: ArrayLike | None = None,
) -> ScalarArray:
    def velocity(qd: ScalarArray) -> ScalarArray:
        return relative_velocity(model, q, qd, link, reference, axes, point)

    return jacobian_of(velocity, zeros_like(q, (model.n,)))[1]


kinematic_hessian.register(FlexibleModel, derived_kinematic_hessian)
jacobian_dot.register(FlexibleModel, derived_jacobian_dot)
relative_hessian.register(FlexibleModel, derived_relative_hessian)
