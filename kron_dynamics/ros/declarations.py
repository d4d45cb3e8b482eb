# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters as data: name, default, description and range. Does not need ROS."""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

from kron_dynamics.messages import clipped, shown

# A limit of this value means "no limit": ranges of ROS parameters cannot include infinity.
NO_LIMIT = 1e15
# Expected value of each type, in words.
_EXPECTED = {
    bool: 'true or false',
    int: 'a whole number',
    float: 'a number with a decimal point, such as 2.0',
    str: 'a text',
    list: 'a list',
}


class Parameter(NamedTuple):
    """A node parameter.

    Attributes:
        name: name, with groups separated by dots.
        default: default value. It is mandatory: ROS answers a request for several parameters
            with none of their values if one of them has no value.
        description: meaning and unit.
        lower: smallest allowed value.
        upper: largest allowed value.
        choices: allowed texts, for a string or for each element of a list; '' as the only
            element stands for an empty list, whose type ROS could not determine.
        read_only: whether the parameter is read only once, when the node starts.
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
        """The choices for the value, or for each of its elements, in words."""
        listed = ', '.join(repr(choice) for choice in self.choices if choice)
        return f'one of {listed}' if self.kind is str else f'any of {listed}, or none'

    def wrong_type(self, value: Any) -> str:
        """Return the error message for a value of another type."""
        return (
            f"parameter '{self.name}' is {clipped(repr(value))}, expected {_EXPECTED[self.kind]}"
        )

    def problem(self, value: Any) -> str | None:
        """Return the error message for an unusable value, or None."""
        if self.kind is float and not isfinite(value):
            return f"parameter '{self.name}' is {value}, expected a finite number"
        texts = [value] if self.kind is str else value if self.choices else []
        if self.choices and not set(texts) <= set(self.choices):
            return f"parameter '{self.name}' is {shown(value)}, expected {self.expected_choice}"
        return None


def read_once(*parameters: Parameter) -> tuple[Parameter, ...]:
    """Return the parameters as read-only: a node reads them only when it starts."""
    return tuple(parameter._replace(read_only=True) for parameter in parameters)
