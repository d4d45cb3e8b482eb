# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of a node: declaration with type, description and range, and checked access."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from kron_dynamics.ros.declarations import NO_LIMIT, Parameter
from kron_dynamics.typing import FloatArray

# Parameter of every ROS node. Changing it would switch the clock while the machine moves.
_SIM_TIME = 'use_sim_time'


class ParameterSet:
    """The parameters of a node: declared, checked whenever they are set, read by name."""

    def __init__(self, node: Node) -> None:
        """Register the check of changes at a node."""
        self._node = node
        self._known: dict[str, Parameter] = {}
        self._locked: str | None = None
        node.add_on_set_parameters_callback(self._on_set)

    def declare(self, parameters: Iterable[Parameter]) -> None:
        """Declare parameters; skip those that are declared already.

        Raises:
            ParameterError: a value given at start has the wrong type or is out of range.
        """
        for parameter in parameters:
            if parameter.name in self._known:
                continue
            self._known[parameter.name] = parameter
            try:
                self._node.declare_parameter(
                    parameter.name, parameter.default, _descriptor(parameter)
                )
            except InvalidParameterTypeException:
                del self._known[parameter.name]
                given = self._node._parameter_overrides[parameter.name].value
                raise ParameterError(parameter.wrong_type(given)) from None
            except InvalidParameterValueException as error:
                del self._known[parameter.name]
                raise ParameterError(' '.join(str(error).split())) from None

    def lock(self, reason: str | None) -> None:
        """Refuse all changes with a reason, or allow changes again with None."""
        self._locked = reason

    def _on_set(self, changes: Sequence[RosParameter]) -> SetParametersResult:
        for change in changes:
            known = self._known.get(change.name)
            if known is None and change.name != _SIM_TIME:
                continue
            if self._locked is not None and self._node.has_parameter(change.name):
                return SetParametersResult(successful=False, reason=self._locked)
            problem = None if known is None else known.problem(change.value)
            if problem is not None:
                return SetParametersResult(successful=False, reason=problem)
        return SetParametersResult(successful=True)

    @property
    def logger(self) -> RcutilsLogger:
        """The node's logger."""
        return self._node.get_logger()

    def value(self, name: str) -> Any:
        """Return a parameter's value."""
        return self._node.get_parameter(name).value

    def per_joint(self, pattern: str, joints: Sequence[str]) -> FloatArray:
        """Return the values of a parameter per joint, shape (n,); inf for `NO_LIMIT`.

        Args:
            pattern: parameter name with the placeholder `{joint}`.
            joints: names of the joints, in order.
        """
        values = np.array([self.value(pattern.format(joint=joint)) for joint in joints], float)
        return np.where(values >= NO_LIMIT, np.inf, values)


def _descriptor(parameter: Parameter) -> ParameterDescriptor:
    """Return the ROS descriptor of a parameter."""
    descriptor = ParameterDescriptor(
        description=parameter.description, read_only=parameter.read_only
    )
    if parameter.choices:
        descriptor.additional_constraints = parameter.expected_choice
    if parameter.lower is not None and parameter.upper is not None:
        if parameter.kind is float:
            limits = FloatingPointRange(from_value=parameter.lower, to_value=parameter.upper)
            descriptor.floating_point_range = [limits]
        else:
            bounds = IntegerRange(from_value=int(parameter.lower), to_value=int(parameter.upper))
            descriptor.integer_range = [bounds]
    return descriptor
