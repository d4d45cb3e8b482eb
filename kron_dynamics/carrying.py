# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`CarryingRobot`: a robot whose payloads change at run time without recompilation."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import numpy as np

from kron_dynamics.arguments import instance, real_number
from kron_dynamics.dynamics.composite import Inertia
from kron_dynamics.dynamics.forward import singular_mass
from kron_dynamics.dynamics.payload import parameters_of_inertia, placed, with_inertias
from kron_dynamics.dynamics.regressor import PARAMETERS_PER_BODY
from kron_dynamics.exceptions import ModelError, ParameterError
from kron_dynamics.kernels.compiled import compiled_methods
from kron_dynamics.messages import clipped, named
from kron_dynamics.model import RobotModel
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.inertia import massless_coordinates
from kron_dynamics.model.payload import (
    Payload,
    RigidPayload,
    look_at_payload,
    rigid_payload,
    still_payload,
)
from kron_dynamics.payload_kernels import PayloadKernels
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.closed_loops import ClosedLoopModel
    from kron_dynamics.flexible import FlexibleModel
    from kron_dynamics.model.rigid_model import RigidModel


class CarryingRobot(Robot):
    """A `Robot` whose links pick up and put down payloads while it moves.

    The payloads are an extra argument of the kernels: ten inertial parameters for each body that
    may carry something. `set_payload` changes them atomically, between two calls, for all threads
    that use the robot. Kernels are compiled for the bodies of the links named at construction; a
    payload on another body recompiles them, and the old payloads stay in effect until then.

    Payloads are included in M, C*, C, c, g, efforts, energies, linear models, forward dynamics
    and the `control_step` of frames. `model`, `symbolic` and `regressor` describe the robot
    without payloads; `inertial_parameters` includes them, so that ``tau = Y pi`` holds. On a
    flexible link, the payload acts on the section that carries the payload's link. The mode
    shapes of flexible links stay those of `model`: they are basis functions, and the frequencies
    they give with a payload are upper bounds.
    """

    _kernels: PayloadKernels

    def __init__(self, robot: Robot, *links: str) -> None:
        """Start without payloads.

        Args:
            robot: the robot; it is not changed.
            links: names of the links that will carry payloads, for whose bodies the kernels are
                compiled.

        Raises:
            ArgumentTypeError: robot is not a `Robot`, or a link not a string.
            UnknownFrameError: the robot has no such link.
            ModelError: a link is fixed to the base, or flexible.
        """
        instance(robot, Robot, 'robot', 'a Robot')
        super().__init__(robot.model, threads=robot._threads)
        carriers = [carrier_of(self.model, link) for link in links]
        self._kernels = PayloadKernels(self.model, self._threads, tuple(dict.fromkeys(carriers)))
        self._payloads: dict[str, RigidPayload] = {}
        self._links = links

    def __copy__(self) -> CarryingRobot:
        """Return a robot whose payloads change independently; both share the compiled kernels."""
        other = type(self).__new__(type(self))
        vars(other).update(self.__getstate__())
        other._kernels, other._frames = copy.copy(self._kernels), {}
        stiff = vars(other).pop('rigid', self)
        if stiff is not self:
            vars(other)['rigid'] = copy.copy(stiff)
        return other

    @property  # uncached, as payloads change
    def singular_mass(self) -> str | None:
        """Why M is singular in every pose with the present payloads; None if M is invertible."""
        alone = super().singular_mass
        if alone is None or self.rigid is not self:
            return alone and self.rigid.singular_mass
        return singular_mass(self._loaded())

    def _loaded(self) -> RobotModel:
        """Return the model of rigid links with the present payloads and their warnings."""
        model = self.model
        if model.has_closed_loops:
            return self._kernels.model
        loaded = cast('RigidModel', with_inertias(model, self.inertial_parameters()))
        massless = massless_coordinates(loaded.joints, loaded.bodies, loaded.armature)
        left = [named('joint', model.joint_names[k]) for k in massless]
        warned = (w for w in model.warnings if w.kind != 'massless_joint' or w.subject in left)
        return replace(loaded, warnings=tuple(warned))

    def _check_inverses_again(self) -> None:
        """Let the next access to a method that inverts M check first whether it still can."""
        if super().singular_mass is None:
            return
        for name, method in compiled_methods(type(self)).items():
            if method.inverts_mass:
                vars(self).pop(name, None)

    @property
    def payloads(self) -> Mapping[str, RigidPayload]:
        """Payloads by name of the link, without the links that carry nothing."""
        return MappingProxyType(self._payloads)

    @property  # a lock of its own: all threads must get the same robot
    def rigid(self) -> Robot:
        """The same robot and payloads with rigid links; itself if no link is flexible.

        A payload that moves by bending only is left out: here it stands still.
        """
        if not self.model.is_flexible:
            return self
        if 'rigid' not in vars(self):
            with self._kernels.setting:
                if 'rigid' not in vars(self):
                    model = cast('FlexibleModel', self.model).rigid
                    carriers = [link for link in self._links if can_carry(model, link)]
                    empty = CarryingRobot(Robot(model, threads=self._threads), *carriers)
                    vars(self)['rigid'] = empty._carrying(_moved(model, self._payloads))
        stiff: Robot = vars(self)['rigid']
        return stiff

    def inertial_parameters(self) -> FloatArray:
        """Return pi including the payloads, shape (10 b + n,): `Robot.inertial_parameters`."""
        parameters = super().inertial_parameters()
        for link, own in zip(*self._kernels.in_effect, strict=True):
            first = PARAMETERS_PER_BODY * tree_of(self.model).frame(link).body
            parameters[first : first + PARAMETERS_PER_BODY] += own
        return parameters

    def set_payload(
        self, link: str, payload: Payload, *, strict: bool = False, allow: Iterable[str] = ()
    ) -> None:
        """Replace the payload of a link; the new one is in effect on return.

        Threads that set payloads wait for each other, so that none is lost.

        Args:
            link: name of the link that carries it.
            payload: mass at the link's origin, kg; (mass, position in the link's frame, shape
                (3,), m); or a `RigidPayload`. A mass of 0 removes the payload.
            strict: whether warnings about the payload are errors.
            allow: kinds of warnings that `strict` lets pass.

        Raises:
            ArgumentTypeError: link is not a string, or payload of none of these types.
            UnknownFrameError: the robot has no such link.
            ModelError: the link is fixed to the base, or flexible.
            InvalidInertiaError: the mass is negative, or with `strict` the inertia is physically
                impossible.
            KernelBuildError: the link needs new kernels, and the compiler failed.
        """
        with self._kernels.setting:
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
        """Return a robot with one more payload, and compile the kernels that it needs.

        It shares kernels with this robot, which is not changed; see `set_payload`.
        """
        checked = self._checked({link: payload}, strict, allow, stacklevel + 1)
        others = {name: other for name, other in self._payloads.items() if name != link}
        return self._carrying({**others, **checked})

    def with_payloads(self, payloads: Mapping[str, Payload]) -> CarryingRobot:
        """Return a robot with these payloads, by link, instead; see `with_payload`."""
        return self._carrying(self._checked(payloads, False, (), 3))

    def _checked(
        self, payloads: Mapping[str, Payload], strict: bool, allow: Iterable[str], stacklevel: int
    ) -> dict[str, RigidPayload]:
        """Return checked payloads by link, without those of mass 0."""
        findings = Findings(strict, allow)
        bodies = {}
        for link, payload in payloads.items():
            carrier_of(self.model, link)
            bodies[link] = rigid_payload(link, payload)
            look_at_payload(self.model, link, bodies[link], findings)
        for warning in findings.finish():
            warnings.warn(warning, stacklevel=stacklevel)
        return {link: body for link, body in bodies.items() if body.mass > 0.0}

    def _carrying(self, payloads: Mapping[str, RigidPayload]) -> CarryingRobot:
        other = CarryingRobot(self, *self._links)
        other._payloads = dict(payloads)
        other._kernels = self._kernels.with_parameters(_by_carrier(self.model, payloads))
        if self.model.is_flexible:
            stiff = self.rigid
            assert isinstance(stiff, CarryingRobot)
            vars(other)['rigid'] = stiff._carrying(_moved(stiff.model, payloads))
        return other


class PayloadChange:
    """Gradual change of a robot's payloads to those of another robot.

    In between, the inertial parameters are interpolated linearly. They stay physically
    consistent, and all efforts change in proportion.
    """

    def __init__(self, robot: CarryingRobot, after: CarryingRobot) -> None:
        """Begin a change; the payloads are still the old ones.

        Args:
            robot: the robot whose payloads change, and those of its `rigid`.
            after: robot with the final payloads, from `robot.with_payload`.
        """
        self._robot, self._after = robot, after
        self._parts = [(robot, after)]
        if isinstance(robot.rigid, CarryingRobot) and isinstance(after.rigid, CarryingRobot):
            if robot.rigid is not robot:
                self._parts.append((robot.rigid, after.rigid))
        self._before = [(part._kernels.in_effect, part._payloads) for part, _ in self._parts]
        self.share = 0.0
        """Progress of the change: 0 to 1."""

    @property
    def robot(self) -> CarryingRobot:
        """The robot whose payloads change."""
        return self._robot

    @property
    def after(self) -> CarryingRobot:
        """The robot with the final payloads."""
        return self._after

    def advance(self, share: float) -> None:
        """Put payloads between the old and the new ones into effect.

        Args:
            share: 0 for the old payloads, 1 for the new ones. Below 1, `payloads` has the old
                ones.

        Raises:
            ParameterError: share is not between 0 and 1.
            KernelBuildError: the robot has got kernels meanwhile for links that `after` does not
                know, and the compiler failed.
        """
        share = real_number(share, 'share')
        if not 0.0 <= share <= 1.0:
            raise ParameterError(f'share is {share:g}, expected 0 to 1')
        for (old, payloads), (robot, after) in zip(self._before, self._parts, strict=True):
            robot._kernels.take_over(after._kernels, old, share)
            robot._payloads = after._payloads if share == 1.0 else payloads
            robot._check_inverses_again()
        self.share = share


def tree_of(model: RobotModel) -> RobotModel:
    """Return the tree of rigid bodies below a model with closed loops or flexible links."""
    if model.has_closed_loops:
        return tree_of(cast('ClosedLoopModel', model).tree)
    return cast('FlexibleModel', model).skeleton if model.is_flexible else model


def can_carry(model: RobotModel, link: str) -> bool:
    """Return whether a link, which must exist in the model, may carry payloads."""
    try:
        carrier_of(model, link)
    except ModelError:
        return False
    return True


def carrier_of(model: RobotModel, link: str) -> str:
    """Return the link whose frame is the body frame of a link's body.

    Raises:
        ArgumentTypeError: link is not a string.
        UnknownFrameError: the model has no such link.
        ModelError: the link is fixed to the base, or flexible.
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
        raise still_payload(link)
    return next(
        name
        for name, frame in frames.items()
        if frame.body == body
        and not frame.translation.any()
        and (frame.rotation == np.eye(3)).all()
    )


def _moved(model: RobotModel, payloads: Mapping[str, RigidPayload]) -> dict[str, RigidPayload]:
    """Return the payloads, by link, on links that move in a model."""
    return {link: payload for link, payload in payloads.items() if can_carry(model, link)}


def _by_carrier(model: RobotModel, payloads: Mapping[str, RigidPayload]) -> dict[str, FloatArray]:
    """Return the ten parameters of all payloads of a body together, by its `carrier_of`."""
    sums: dict[str, Inertia] = {}
    for link, payload in payloads.items():
        first = payload.mass * payload.center_of_mass
        inertia = placed(
            Inertia(payload.mass, first, payload.second_moment), tree_of(model).frames[link]
        )
        carrier = carrier_of(model, link)
        sums[carrier] = sums[carrier] + inertia if carrier in sums else inertia
    return {carrier: parameters_of_inertia(inertia) for carrier, inertia in sums.items()}
