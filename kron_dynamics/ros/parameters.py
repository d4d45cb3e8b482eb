# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters as data: declared once with type, description and range, read once with checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.typing import FloatArray

_TYPES = {
    bool: RosParameter.Type.BOOL,
    int: RosParameter.Type.INTEGER,
    float: RosParameter.Type.DOUBLE,
    str: RosParameter.Type.STRING,
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A node parameter.

    Attributes:
        name: with groups separated by dots.
        default: value where none is given; a type instead means that there is no default.
        description: what it does, with the unit.
        lower: least value allowed.
        upper: greatest value allowed.
        choices: the texts allowed, for a string.
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
        return self.default if isinstance(self.default, type) else type(self.default)

    def descriptor(self) -> ParameterDescriptor:
        """Return what ROS tools show of the parameter."""
        descriptor = ParameterDescriptor(description=self.description, read_only=self.read_only)
        if self.choices:
            descriptor.additional_constraints = 'one of ' + ', '.join(self.choices)
        if self.lower is not None and self.upper is not None:
            if self.kind is float:
                limits = FloatingPointRange(from_value=self.lower, to_value=self.upper)
                descriptor.floating_point_range = [limits]
            else:
                bounds = IntegerRange(from_value=int(self.lower), to_value=int(self.upper))
                descriptor.integer_range = [bounds]
        return descriptor

    def problem(self, value: Any) -> str | None:
        """Return why a value cannot be used, or None."""
        if self.kind is float and not isfinite(value):
            return f"parameter '{self.name}' is {value}, expected a finite number"
        if self.choices and value not in self.choices:
            expected = ', '.join(repr(choice) for choice in self.choices)
            return f"parameter '{self.name}' is '{value}', expected one of {expected}"
        return None


class ParameterSet:
    """The parameters of a node: declared, checked whenever they are set, read by name."""

    def __init__(self, node: Node) -> None:
        """Watch over a node's parameters."""
        self._node = node
        self._known: dict[str, Parameter] = {}
        self._locked: str | None = None
        node.add_on_set_parameters_callback(self._on_set)

    def declare(self, parameters: Iterable[Parameter]) -> None:
        """Declare parameters; those declared already are left as they are.

        Raises:
            ParameterError: a value given at start has the wrong type or is out of range.
        """
        for parameter in parameters:
            if parameter.name in self._known:
                continue
            self._known[parameter.name] = parameter
            default = (
                _TYPES[parameter.kind]
                if isinstance(parameter.default, type)
                else parameter.default
            )
            try:
                self._node.declare_parameter(parameter.name, default, parameter.descriptor())
            except (InvalidParameterTypeException, InvalidParameterValueException) as error:
                del self._known[parameter.name]
                raise ParameterError(' '.join(str(error).split())) from None

    def lock(self, reason: str | None) -> None:
        """Refuse every change for a reason, or allow changes again with None."""
        self._locked = reason

    def _on_set(self, changes: Sequence[RosParameter]) -> SetParametersResult:
        for change in changes:
            known = self._known.get(change.name)
            if known is None:
                continue
            if self._locked is not None and self._node.has_parameter(change.name):
                return SetParametersResult(successful=False, reason=self._locked)
            if change.type_ == RosParameter.Type.NOT_SET:
                continue
            problem = known.problem(change.value)
            if problem is not None:
                return SetParametersResult(successful=False, reason=problem)
        return SetParametersResult(successful=True)

    def value(self, name: str) -> Any:
        """Return a parameter's value; None where it was declared without one and not given."""
        return self._node.get_parameter_or(name, RosParameter(name)).value

    def per_joint(
        self, pattern: str, joints: Sequence[str], *, required: bool = True
    ) -> FloatArray:
        """Return one number a joint, shape (n,); inf for absent ones that are not required.

        Args:
            pattern: parameter name with `{joint}` in it.
            joints: the joints in order.
            required: whether each must have been given.

        Raises:
            ParameterError: a required parameter was not given.
        """
        names = [pattern.format(joint=joint) for joint in joints]
        values = [self.value(name) for name in names]
        if required:
            missing = [n for n, value in zip(names, values, strict=True) if value is None]
            if missing:
                raise ParameterError(f'parameters {missing} are not set')
        return np.array([np.inf if value is None else value for value in values], dtype=float)
