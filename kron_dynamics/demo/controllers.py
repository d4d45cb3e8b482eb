# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Controller settings and executor as `dynamics_node` uses them, without ROS."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from kron_dynamics.control import ControlSettings
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray


def read_settings(path: Path, robot: Robot) -> ControlSettings:
    """Return the settings of `dynamics_node` from a parameter file, for a robot with rigid links.

    Args:
        path: YAML file with parameters for `/**/dynamics_node`.
        robot: robot that determines the joints and effort limits.

    Raises:
        ParameterError: the file lacks a parameter.
    """
    try:
        node = yaml.safe_load(path.read_text('utf-8'))['/**/dynamics_node']['ros__parameters']

        def per_joint(values: dict[str, Any]) -> FloatArray:
            return np.array([values[name] for name in robot.joint_names], dtype=np.float64)

        gains = {name: node['gains'][name] for name in robot.joint_names}
        return ControlSettings(
            kp=per_joint({name: gain['kp'] for name, gain in gains.items()}),
            kd=per_joint({name: gain['kd'] for name, gain in gains.items()}),
            effort_limit=node['effort_limit_scale'] * robot.model.effort_limit,
            rate_limit=per_joint(node['effort_rate_limit']),
            start_tolerance=per_joint(node['reference_start_tolerance']),
            resolution=per_joint(node['position_resolution']),
            period=float(node['state_period']),
            state_timeout=node['state_timeout'],
        )
    except KeyError as error:
        raise ParameterError(f'{path} has no {error} for dynamics_node') from None


class AtOnce(Executor):
    """Runs jobs synchronously in `submit`, so that they take no simulated time."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function and return its finished future."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future
