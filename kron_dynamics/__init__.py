# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Closed-form, compiled robot dynamics from a URDF, in the Kronecker-product formalism.

``robot = load('arm.urdf')`` gives a `Robot` whose methods are its kinematics and dynamics.
"""

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
