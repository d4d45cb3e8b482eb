# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters as data: name, default, description and range. Needs no ROS."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from kron_dynamics.messages import clipped, shown

# A limit of this size is none: parameters have a range, so infinity is not to be had.
NO_LIMIT = 1e15
# Of each type, in words.
_EXPECTED = {
    bool: 'true or false',
    int: 'a whole number',
    float: 'a number with a decimal point, such as 2.0',
    str: 'a text',
    list: 'a list',
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A node parameter.

    Attributes:
        name: with groups separated by dots.
        default: value where none is given. There is always one: a parameter without a value
            would make ROS withhold the values of all others asked for with it.
        description: what it does, with the unit.
        lower: least value allowed.
        upper: greatest value allowed.
        choices: the texts allowed, for a string or for each of a list; '' stands for an empty
            list, whose type ROS could not tell.
        read_only: whether it is read when the node starts and never again.
    """

    name: str
    default: Any
    description: str
    lower: float | None = None
    upper: float | None = None
    choices: tuple[str, ...] = ()
    read_only: bool = False

    @property
    def kind(self) -> type:
        """Python type of the value."""
        return type(self.default)

    @property
    def expected_choice(self) -> str:
        """What the value, or each of its texts, may be, in words."""
        listed = ', '.join(repr(choice) for choice in self.choices if choice)
        return f'one of {listed}' if self.kind is str else f'any of {listed}, or none'

    def wrong_type(self, value: Any) -> str:
        """Return why a value of another type cannot be used."""
        return (
            f"parameter '{self.name}' is {clipped(repr(value))}, expected {_EXPECTED[self.kind]}"
        )

    def problem(self, value: Any) -> str | None:
        """Return why a value cannot be used, or None."""
        if self.kind is float and not isfinite(value):
            return f"parameter '{self.name}' is {value}, expected a finite number"
        texts = [value] if self.kind is str else value if self.choices else []
        if self.choices and not set(texts) <= set(self.choices):
            return f"parameter '{self.name}' is {shown(value)}, expected {self.expected_choice}"
        return None


def read_once(*parameters: Parameter) -> tuple[Parameter, ...]:
    """Return parameters that a node reads when it starts: a change later would do nothing."""
    return tuple(replace(parameter, read_only=True) for parameter in parameters)
