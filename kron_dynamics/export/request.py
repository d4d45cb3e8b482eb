# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What is asked of an export: checked names of links and quantities, and the loads of links."""

from __future__ import annotations

from collections.abc import Sequence

from kron_dynamics.arguments import instance
from kron_dynamics.carrying import CarryingRobot, carrier_of
from kron_dynamics.exceptions import ModelError, ParameterError
from kron_dynamics.load_arguments import check_names
from kron_dynamics.messages import clipped, named, shown
from kron_dynamics.robot import Robot


def check_request(
    robot: object,
    prefix: object,
    frames: object,
    quantities: object,
    payload_links: object,
    real: object,
) -> None:
    """Check the types of the arguments of `export_library`, and `real`.

    Raises:
        ArgumentTypeError: an argument has a wrong type.
        ParameterError: real is unknown.
        ModelError: the robot has no coordinates.
    """
    instance(robot, Robot, 'robot', 'a Robot')
    assert isinstance(robot, Robot)
    instance(prefix, (str, type(None)), 'prefix', 'a prefix of names in C')
    # A string would count as a sequence of names, and a set has no order.
    unfit = (str, bytes, set, frozenset)
    check_names(frames, 'frames', 'a list of links', unfit)
    check_names(quantities, 'quantities', 'a list of names of quantities', unfit)
    check_names(payload_links, 'payload_links', 'a list of links', unfit)
    instance(real, str, 'real', "'double' or 'float'")
    if real not in ('double', 'float'):
        raise ParameterError(f"real is {shown(real)}, expected 'double' or 'float'")
    if robot.model.n == 0:
        name = clipped(robot.model.name)
        raise ModelError(f"robot '{name}' has no coordinates: nothing to export")


def links_by_carrier(robot: Robot, payload_links: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the links at whose frames payloads are arguments, each with the links fixed to it.

    Raises:
        ArgumentTypeError: a link is not a string.
        UnknownFrameError: the robot has no such link.
        ModelError: a link does not move or is flexible, or a link carries a payload that is no
            argument: functions would be those of the robot without it.
    """
    found: dict[str, tuple[str, ...]] = {}
    for link in dict.fromkeys(payload_links):
        carrier = carrier_of(robot.model, link)
        found[carrier] = (*found.get(carrier, ()), link)
    carried = robot.payloads if isinstance(robot, CarryingRobot) else {}
    for link in carried:
        if carrier_of(robot.model, link) not in found:
            raise ModelError(
                f'{named("link", link)} carries a payload, which an export of this robot lacks: '
                f'name the link in payload_links, and payloads are an argument of the functions; '
                f'or export the robot of load with this payload'
            )
    return found
