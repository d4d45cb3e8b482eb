# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Closed-form, compiled robot dynamics from a URDF, in the Kronecker-product formalism.

``robot = load('arm.urdf')`` gives a `Robot` whose methods are its kinematics and dynamics.
"""

import importlib
from typing import TYPE_CHECKING

from kron_dynamics.exceptions import (
    ArgumentTypeError,
    BagError,
    InvalidInertiaError,
    KernelBuildError,
    KronDynamicsError,
    ModelError,
    ModelWarning,
    NonFiniteError,
    ParameterError,
    ShapeError,
    TrajectoryError,
    UnknownFrameError,
    UnsupportedJointError,
)

if TYPE_CHECKING:
    from kron_dynamics.frame import RobotFrame
    from kron_dynamics.linearized import LinearizedModel
    from kron_dynamics.loading import load, loads
    from kron_dynamics.model import RobotModel
    from kron_dynamics.robot import Robot

__version__ = '0.1.0'

__all__ = [
    'ArgumentTypeError',
    'BagError',
    'InvalidInertiaError',
    'KernelBuildError',
    'KronDynamicsError',
    'LinearizedModel',
    'ModelError',
    'ModelWarning',
    'NonFiniteError',
    'ParameterError',
    'Robot',
    'RobotFrame',
    'RobotModel',
    'ShapeError',
    'TrajectoryError',
    'UnknownFrameError',
    'UnsupportedJointError',
    'load',
    'loads',
]

# Imported when they are first asked for: the command line and the rooms do without most of them.
_PLACES = {
    'LinearizedModel': 'linearized',
    'Robot': 'robot',
    'RobotFrame': 'frame',
    'RobotModel': 'model',
    'load': 'loading',
    'loads': 'loading',
}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    found: object = getattr(importlib.import_module(f'{__name__}.{_PLACES[name]}'), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
