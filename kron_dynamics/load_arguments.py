# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Type checks of the arguments of `load` and `loads`; errors name the argument."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

import numpy as np

from kron_dynamics.arguments import instance, real_array, real_number
from kron_dynamics.exceptions import ArgumentTypeError, ParameterError
from kron_dynamics.messages import clipped, shown
from kron_dynamics.model.options import ModelOptions
from kron_dynamics.model.payload import RigidPayload


def check_path(path: object, name: str, what: str = 'the path of a file') -> None:
    """Raise if an argument cannot be a path.

    Args:
        path: the argument.
        name: name of the argument, for messages.
        what: what was expected, for messages.

    Raises:
        ArgumentTypeError: path is neither a string nor a path object.
        ParameterError: path contains a character that paths cannot have.
    """
    instance(path, (str, os.PathLike), name, what)
    try:
        is_path = b'\0' not in os.fsencode(path)  # type: ignore[arg-type]
    except UnicodeEncodeError:
        is_path = False
    if not is_path:
        raise ParameterError(f'{name} is {shown(path)}, expected {what}')


def check_options(
    options: ModelOptions, flexible: object, constraints: object, xacro_args: object
) -> None:
    """Check the types of options; their values are checked when they are used.

    Raises:
        ArgumentTypeError: an option is of another type; the message names it, with its joint or
            link.
        ShapeError: an option is an array where a number is needed.
        ParameterError: a number is beyond the range of float64.
    """
    real_array(options['gravity'], 'gravity')
    if options['joints'] is not None:
        # A string would count as a sequence of names, and a set has no order.
        check_names(options['joints'], 'joints', 'a list of names', (str, bytes, set, frozenset))
    for joint, inertia in _items(options['armature'], 'armature'):
        real_number(inertia, f"armature of joint '{clipped(joint)}'")
    for link, carried in _items(options['payload'], 'payload'):
        name = f"payload of link '{clipped(link)}'"
        if isinstance(carried, (tuple, list)):
            for part in carried:
                real_array(part, name)
        elif not isinstance(carried, RigidPayload):
            real_number(carried, name)
    for switch in ('hold_base', 'strict'):
        instance(options[switch], (bool, np.bool_), switch, 'True or False')
    if not isinstance(options['allow'], str):  # a string is a single kind
        check_names(options['allow'], 'allow', 'kinds of warnings', (bytes, Mapping))
    for name, description in (('flexible', flexible), ('constraints', constraints)):
        if isinstance(description, (str, os.PathLike)):
            check_path(description, name)
        else:
            instance(description, (Mapping, type(None)), name, 'a path or a mapping')
    for name, value in _items(xacro_args, 'xacro_args'):
        instance(value, str, f"xacro_args of '{clipped(name)}'", 'text')


def check_names(names: object, option: str, what: str, unfit: tuple[type, ...]) -> None:
    """Raise if an argument is no collection of names.

    Args:
        names: the argument.
        option: name of the argument, for messages.
        what: what was expected, for messages.
        unfit: types of collections that are refused.

    Raises:
        ArgumentTypeError: names is no collection of strings, or of an unfit type.
    """
    if isinstance(names, unfit) or not isinstance(names, Collection):
        raise ArgumentTypeError(f'{option} is {shown(names)}, expected {what}')
    for name in names:
        instance(name, str, f'a name in {option}', 'text')


def _items(option: object, name: str) -> Collection[tuple[str, object]]:
    if option is None:
        return []
    instance(option, Mapping, name, 'a mapping by name')
    assert isinstance(option, Mapping)
    for key in option:
        instance(key, str, f'a name in {name}', 'text')
    return option.items()
