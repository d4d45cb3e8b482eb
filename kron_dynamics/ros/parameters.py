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
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.typing import FloatArray

# A limit of this size is none: parameters have a range, so infinity is not to be had.
NO_LIMIT = 1e15


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
        texts = [value] if self.kind is str else value if self.choices else []
        if self.choices and not set(texts) <= set(self.choices):
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
            try:
                self._node.declare_parameter(
                    parameter.name, parameter.default, parameter.descriptor()
                )
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
            problem = known.problem(change.value)
            if problem is not None:
                return SetParametersResult(successful=False, reason=problem)
        return SetParametersResult(successful=True)

    @property
    def logger(self) -> RcutilsLogger:
        """The node's."""
        return self._node.get_logger()

    def value(self, name: str) -> Any:
        """Return a parameter's value."""
        return self._node.get_parameter(name).value

    def per_joint(self, pattern: str, joints: Sequence[str]) -> FloatArray:
        """Return one number a joint, shape (n,); inf for `NO_LIMIT`.

        Args:
            pattern: parameter name with `{joint}` in it.
            joints: the joints in order.
        """
        values = np.array([self.value(pattern.format(joint=joint)) for joint in joints], float)
        return np.where(values >= NO_LIMIT, np.inf, values)
