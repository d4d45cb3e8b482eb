# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors and warnings of kron_dynamics.

Each error is a :class:`KronDynamicsError` and also the builtin a caller would expect, so that both
``except kd.KronDynamicsError`` and ``except ValueError`` work. Only a call that does not match a
signature (too many arguments, unknown keyword) raises Python's own :class:`TypeError`.
"""

from __future__ import annotations


class KronDynamicsError(Exception):
    """Base class of every error this package raises on purpose."""


class ModelError(KronDynamicsError, ValueError):
    """The robot description is missing, broken or physically impossible."""


class UnsupportedJointError(ModelError):
    """The robot description has a joint of a type that is not supported."""


class InvalidInertiaError(ModelError):
    """A mass or inertia is physically impossible, or the mass matrix is singular."""


class UnknownFrameError(KronDynamicsError, LookupError):
    """The model has no link of the given name."""


class ArgumentTypeError(KronDynamicsError, TypeError):
    """An argument is of an unusable type, such as a string instead of numbers."""


class ShapeError(KronDynamicsError, ValueError):
    """An array does not have the shape that the model needs."""


class NonFiniteError(KronDynamicsError, ValueError):
    """A value is NaN or infinite where a finite number is needed."""


class KernelBuildError(KronDynamicsError, RuntimeError):
    """A kernel could not be compiled or loaded."""


class TrajectoryError(KronDynamicsError, ValueError):
    """A reference trajectory is malformed or exceeds the machine's limits."""


class JointNamesError(TrajectoryError):
    """Joint names of a trajectory or a request are unknown, repeated or missing."""


class LateTrajectoryError(TrajectoryError):
    """A reference trajectory starts in the past."""


class ConstraintError(KronDynamicsError, ValueError):
    """Constraints do not fit the robot, contradict each other or cannot be met."""


class SingularConstraintError(ConstraintError):
    """Constraints lose rank in the robot's state, so they do not determine its motion."""


class ParameterError(KronDynamicsError, ValueError):
    """A parameter or option has a value that cannot be used."""


class SingularOrientationError(KronDynamicsError, ValueError):
    """Orientation angles are too close to a singularity of their axis sequence to be used.

    Attributes:
        sequence: axis sequence, such as 'zyx'.
        angle: the second angle, rad.
        distance: distance of the second angle from the singularity, rad.
        least: smallest distance allowed, rad.
    """

    def __init__(self, sequence: str, angle: float, distance: float, least: float) -> None:
        """Describe the angles and the remedy."""
        super().__init__(sequence, angle, distance, least)
        self.sequence, self.angle, self.distance, self.least = sequence, angle, distance, least

    def __str__(self) -> str:
        return (
            f"orientation angles of the set '{self.sequence}' are singular here: the second angle "
            f'is {self.angle:.9g} rad, {self.distance:.3g} rad from the singularity, expected at '
            f'least {self.least:g}; take another set, or quaternions'
        )


class SpeedLimitError(KronDynamicsError, ValueError):
    """A joint moves faster than its control law allows."""


class MessageError(KronDynamicsError, ValueError):
    """The bytes of a ROS message cannot be read."""


class BagError(KronDynamicsError, OSError):
    """A recorded bag cannot be read or lacks what the analysis needs."""


class ModelWarning(UserWarning):
    """A questionable entry in a robot's description, or a state outside the model's validity.

    Results can still be computed. `RobotModel.warnings` collects the warnings about a
    description; states outside a model's range of validity are warned of once by `warnings.warn`.

    Attributes:
        kind: short name of the kind of finding, such as 'triangle_inequality'.
        subject: the thing concerned, such as "link 'tool'".
        finding: what was found, with numbers and units.
        cure: how to fix it.
        severity: 'warning', or 'hint' if it is harmless or probably intended.
    """

    def __init__(
        self, kind: str, subject: str, finding: str, cure: str, severity: str = 'warning'
    ) -> None:
        """Describe a finding; its text is one line, `subject: finding; cure [kind]`."""
        super().__init__(kind, subject, finding, cure, severity)
        self.kind, self.subject, self.finding, self.cure = kind, subject, finding, cure
        self.severity = severity

    def __str__(self) -> str:
        return f'{self.subject}: {self.finding}; {self.cure} [{self.kind}]'
