# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Closed-form, compiled robot dynamics from a URDF, in the Kronecker-product formalism.

``robot = load('arm.urdf')`` returns a `Robot`, whose methods are its kinematics and dynamics.
docs/map.md says in which file each equation and each behaviour is.
"""

from typing import TYPE_CHECKING

from kron_dynamics.exceptions import (
    ArgumentTypeError,
    BagError,
    ConstraintError,
    InvalidInertiaError,
    JointNamesError,
    KernelBuildError,
    KronDynamicsError,
    LateTrajectoryError,
    MessageError,
    ModelError,
    ModelWarning,
    NonFiniteError,
    ParameterError,
    ShapeError,
    SingularConstraintError,
    SingularOrientationError,
    SpeedLimitError,
    TrajectoryError,
    UnknownFrameError,
    UnsupportedJointError,
)

if TYPE_CHECKING:
    from kron_dynamics.carrying import CarryingRobot
    from kron_dynamics.constrained import ConstrainedRobot
    from kron_dynamics.frame import RobotFrame
    from kron_dynamics.linearized import LinearizedModel
    from kron_dynamics.loading import load, loads
    from kron_dynamics.model import RobotModel
    from kron_dynamics.model.payload import RigidPayload
    from kron_dynamics.reduced import ReducedRobot
    from kron_dynamics.robot import Robot

__version__ = '0.1.0'

__all__ = [
    'ArgumentTypeError',
    'BagError',
    'CarryingRobot',
    'ConstrainedRobot',
    'ConstraintError',
    'InvalidInertiaError',
    'JointNamesError',
    'KernelBuildError',
    'KronDynamicsError',
    'LateTrajectoryError',
    'LinearizedModel',
    'MessageError',
    'ModelError',
    'ModelWarning',
    'NonFiniteError',
    'ParameterError',
    'ReducedRobot',
    'RigidPayload',
    'Robot',
    'RobotFrame',
    'RobotModel',
    'ShapeError',
    'SingularConstraintError',
    'SingularOrientationError',
    'SpeedLimitError',
    'TrajectoryError',
    'UnknownFrameError',
    'UnsupportedJointError',
    'load',
    'loads',
]


def __getattr__(name: str) -> object:
    """Import the modules of a robot at first access; the command line mostly needs none."""
    if name not in __all__:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    if name == 'ConstrainedRobot':  # most programs do not use it
        from kron_dynamics.constrained import ConstrainedRobot

        return ConstrainedRobot
    if name == 'ReducedRobot':
        from kron_dynamics.reduced import ReducedRobot

        return ReducedRobot
    from kron_dynamics.carrying import CarryingRobot
    from kron_dynamics.frame import RobotFrame
    from kron_dynamics.linearized import LinearizedModel
    from kron_dynamics.loading import load, loads
    from kron_dynamics.model import RobotModel
    from kron_dynamics.model.payload import RigidPayload
    from kron_dynamics.robot import Robot

    late = (
        CarryingRobot,
        RigidPayload,
        LinearizedModel,
        Robot,
        RobotFrame,
        RobotModel,
        load,
        loads,
    )
    globals().update({found.__name__: found for found in late})
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
