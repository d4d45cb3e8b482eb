# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`CarryingRobot`: a robot whose payloads change while it moves, without another compilation."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import numpy as np

from kron_dynamics.arguments import instance, real_number
from kron_dynamics.dynamics.composite import Inertia
from kron_dynamics.dynamics.payload import parameters_of_inertia, placed
from kron_dynamics.dynamics.regressor import PARAMETERS_PER_BODY
from kron_dynamics.exceptions import ModelError, ParameterError
from kron_dynamics.messages import clipped, named
from kron_dynamics.model import RobotModel
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.payload import Payload, RigidPayload, look_at_payload, rigid_payload
from kron_dynamics.payload_kernels import PayloadKernels
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.closed_loops import ClosedLoopModel
    from kron_dynamics.flexible import FlexibleModel


class CarryingRobot(Robot):
    """A robot that takes up and puts down payloads; all methods are those of `Robot`.

    What links carry is an argument of the kernels: ten inertial parameters for each body that may
    carry something. `set_payload` changes them at once, between two calls, for every thread that
    uses the robot. The kernels are compiled for the bodies of the links that are named in
    advance; a payload on another body has them compiled anew, and until then all is as it was.

    M, C*, C, c, g, efforts, energies and linear models have the payloads; so do forward dynamics
    and the `control_step` of frames. `model` describes the robot without any, and `symbolic` and
    `regressor` are of it; `inertial_parameters` has them, so that ``tau = Y pi`` holds. With
    flexible links the payload acts on the section that its link rides on. The modes stay those
    of `model`: shapes to choose from, whose frequencies under a payload are upper bounds.
    """

    _kernels: PayloadKernels

    def __init__(self, robot: Robot, *links: str) -> None:
        """Start with a robot that carries nothing.

        Args:
            robot: the robot; it stays as it is.
            links: what is to carry payloads; until others do, kernels serve the bodies of these
                alone.

        Raises:
            ArgumentTypeError: robot is no `Robot`, or a link no text.
            UnknownFrameError: the robot has no such link.
            ModelError: a link does not move, or bends.
        """
        instance(robot, Robot, 'robot', 'a Robot')
        super().__init__(robot.model, threads=robot._threads)
        carriers = [carrier_of(self.model, link) for link in links]
        self._kernels = PayloadKernels(self.model, self._threads, tuple(dict.fromkeys(carriers)))
        self._payloads: dict[str, RigidPayload] = {}
        self._links = links

    @property
    def payloads(self) -> Mapping[str, RigidPayload]:
        """What links carry, by their names; only those that carry something."""
        return MappingProxyType(self._payloads)

    @cached_property
    def rigid(self) -> Robot:
        """The same robot with stiff links and the same payloads: itself where none bends."""
        if not self.model.is_flexible:
            return self
        stiff = CarryingRobot(super().rigid, *self._links)
        return stiff.with_payloads(self._payloads)

    def inertial_parameters(self) -> FloatArray:
        """Return pi with the payloads, shape (10 b + n,): see `Robot.inertial_parameters`."""
        parameters = super().inertial_parameters()
        for link, own in zip(*self._kernels.in_effect, strict=True):
            first = PARAMETERS_PER_BODY * tree_of(self.model).frame(link).body
            parameters[first : first + PARAMETERS_PER_BODY] += own
        return parameters

    def set_payload(
        self, link: str, payload: Payload, *, strict: bool = False, allow: Iterable[str] = ()
    ) -> None:
        """Have a link carry a payload instead of what it carries; it is in effect on return.

        Args:
            link: what carries it.
            payload: kg at the link's origin; (kg, place in the link's frame, shape (3,), m); or a
                `RigidPayload`. No mass: the link carries nothing.
            strict: whether a warning about the payload is an error.
            allow: kinds of warnings that `strict` lets pass.

        Raises:
            ArgumentTypeError: link is no text, or payload no payload.
            UnknownFrameError: the robot has no such link.
            ModelError: the link does not move, or bends.
            InvalidInertiaError: the mass is negative, or `strict` forbids an inertia that no body
                has.
            KernelBuildError: the link needs other kernels, and the compiler failed.
        """
        after = self.with_payload(link, payload, strict=strict, allow=allow, stacklevel=3)
        PayloadChange(self, after).advance(1.0)

    def with_payload(
        self,
        link: str,
        payload: Payload,
        *,
        strict: bool = False,
        allow: Iterable[str] = (),
        stacklevel: int = 2,
    ) -> CarryingRobot:
        """Return another robot that carries a payload besides, and compile what it needs.

        It shares its kernels with this one, which stays as it is; see `set_payload`.
        """
        carrier_of(self.model, link)
        body = rigid_payload(link, payload)
        findings = Findings(strict, allow)
        look_at_payload(self.model, link, body, findings)
        for warning in findings.finish():
            warnings.warn(warning, stacklevel=stacklevel)
        others = {name: other for name, other in self._payloads.items() if name != link}
        return self.with_payloads({**others, link: body} if body.mass > 0.0 else others)

    def with_payloads(self, payloads: Mapping[str, RigidPayload]) -> CarryingRobot:
        """Return another robot that carries other payloads, by link; see `with_payload`."""
        other = CarryingRobot(self, *self._links)
        other._payloads = dict(payloads)
        other._kernels = self._kernels.with_parameters(_by_carrier(self.model, payloads))
        if self.model.is_flexible:
            stiff = self.rigid
            assert isinstance(stiff, CarryingRobot)
            other.__dict__['rigid'] = stiff.with_payloads(payloads)
        return other


class PayloadChange:
    """The way of a robot from its payloads to those of another, in as many steps as one likes.

    Between both, the inertial parameters are weighted means: those of a body that could be, and
    all efforts change in proportion.
    """

    def __init__(self, robot: CarryingRobot, after: CarryingRobot) -> None:
        """Begin a change; nothing has changed yet.

        Args:
            robot: what changes, with its `rigid`.
            after: one that carries what it is to carry, from its `with_payload`.
        """
        self._robot, self._after = robot, after
        self._parts = [(robot._kernels, after._kernels)]
        if isinstance(robot.rigid, CarryingRobot) and isinstance(after.rigid, CarryingRobot):
            if robot.rigid is not robot:
                self._parts.append((robot.rigid._kernels, after.rigid._kernels))
        self._before = [kernels.in_effect for kernels, _ in self._parts]
        self.share = 0.0
        """How far the change has come: 0 to 1."""

    @property
    def robot(self) -> CarryingRobot:
        """What changes."""
        return self._robot

    @property
    def after(self) -> CarryingRobot:
        """What carries what it is to carry."""
        return self._after

    def advance(self, share: float) -> None:
        """Put part of the change into effect; 1 is all of it.

        Raises:
            ParameterError: the share is not between 0 and 1.
        """
        share = real_number(share, 'share')
        if not 0.0 <= share <= 1.0:
            raise ParameterError(f'share is {share:g}, expected 0 to 1')
        for before, (kernels, after) in zip(self._before, self._parts, strict=True):
            kernels.take_over(after, before, share)
        if share == 1.0:
            for robot, after_robot in (
                (self._robot, self._after),
                (self._robot.rigid, self._after.rigid),
            ):
                assert isinstance(robot, CarryingRobot)
                assert isinstance(after_robot, CarryingRobot)
                robot._payloads = after_robot._payloads
        self.share = share


def tree_of(model: RobotModel) -> RobotModel:
    """Return the tree of bodies that the equations go through."""
    if model.has_closed_loops:
        return tree_of(cast('ClosedLoopModel', model).tree)
    return cast('FlexibleModel', model).skeleton if model.is_flexible else model


def can_carry(model: RobotModel, link: str) -> bool:
    """Return whether a link of the model, which there must be, may carry payloads."""
    try:
        carrier_of(model, link)
    except ModelError:
        return False
    return True


def carrier_of(model: RobotModel, link: str) -> str:
    """Return the link at whose frame the parameters of a link's body are taken.

    Raises:
        ArgumentTypeError: link is no text.
        UnknownFrameError: the model has no such link.
        ModelError: the link does not move, or bends.
    """
    instance(link, str, 'link', 'the name of a link')
    model.frame(link)
    if model.is_flexible and link in model.flexible_link_names:
        raise ModelError(
            f"payload: link '{clipped(link)}' bends, expected a link that is fixed or jointed to "
            f'it: a payload rides on one section of the beam'
        )
    frames = tree_of(model).frames
    body = frames[link].body
    if body < 0:
        raise ModelError(
            f'payload: {named("link", link)} does not move, a mass on it changes nothing'
        )
    return next(
        name
        for name, frame in frames.items()
        if frame.body == body
        and not frame.translation.any()
        and (frame.rotation == np.eye(3)).all()
    )


def _by_carrier(model: RobotModel, payloads: Mapping[str, RigidPayload]) -> dict[str, FloatArray]:
    """Ten parameters for each body that carries something, by its `carrier_of`."""
    sums: dict[str, Inertia] = {}
    for link, payload in payloads.items():
        first = payload.mass * payload.center_of_mass
        inertia = placed(
            Inertia(payload.mass, first, payload.second_moment), tree_of(model).frames[link]
        )
        carrier = carrier_of(model, link)
        sums[carrier] = sums[carrier] + inertia if carrier in sums else inertia
    return {carrier: parameters_of_inertia(inertia) for carrier, inertia in sums.items()}
