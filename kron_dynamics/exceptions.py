# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors and warnings of kron_dynamics.

Each error is a :class:`KronDynamicsError` and also the builtin a caller would expect, so that both
``except kd.KronDynamicsError`` and ``except ValueError`` work. Only a call that does not fit a
signature, with too many arguments or an unknown name, stays Python's own :class:`TypeError`.
"""

from __future__ import annotations


class KronDynamicsError(Exception):
    """Base class of every error this package raises on purpose."""


class ModelError(KronDynamicsError, ValueError):
    """The robot description is missing, broken or physically impossible."""


class UnsupportedJointError(ModelError):
    """The robot description holds a joint of a kind that has no meaning here."""


class InvalidInertiaError(ModelError):
    """A link's mass or inertia could not belong to any real body."""


class UnknownFrameError(KronDynamicsError, LookupError):
    """A link was asked for that the model does not have."""


class ArgumentTypeError(KronDynamicsError, TypeError):
    """An argument is of a kind that cannot be used, such as text in place of numbers."""


class ShapeError(KronDynamicsError, ValueError):
    """An array has another shape than the model needs."""


class NonFiniteError(KronDynamicsError, ValueError):
    """A NaN or an infinity stands where a number is needed."""


class KernelBuildError(KronDynamicsError, RuntimeError):
    """A kernel could not be compiled or loaded."""


class TrajectoryError(KronDynamicsError, ValueError):
    """A reference trajectory is malformed or leaves the machine's limits."""


class JointNamesError(TrajectoryError):
    """Joint names of a trajectory or a request are unknown, repeated or missing."""


class LateTrajectoryError(TrajectoryError):
    """A reference trajectory starts in the past."""


class ConstraintError(KronDynamicsError, ValueError):
    """Constraints do not fit the robot, contradict each other or cannot be met."""


class SingularConstraintError(ConstraintError):
    """Constraints lose rank where the robot is, so that they do not determine its motion."""


class ParameterError(KronDynamicsError, ValueError):
    """A parameter or option has a value that cannot be used."""


class SingularOrientationError(KronDynamicsError, ValueError):
    """Orientation angles are so near to a singularity of their set that they mean nothing.

    Attributes:
        sequence: the set, such as 'zyx'.
        angle: the second angle, rad.
        distance: of the second angle to the singularity, rad.
        least: the distance that was expected, rad.
    """

    def __init__(self, sequence: str, angle: float, distance: float, least: float) -> None:
        """Describe where the angles are, and what helps."""
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


class BagError(KronDynamicsError, OSError):
    """A recorded bag cannot be read or lacks what the analysis needs."""


class ModelWarning(UserWarning):
    """Something in a robot's description, or in what is asked of it, that is better mended.

    The equations have an answer all the same. `RobotModel.warnings` collects those of a
    description; results outside a model's range of validity raise theirs once by `warnings.warn`.

    Attributes:
        kind: short name of the kind of finding, such as 'triangle_inequality'; the same for all
            findings of that kind.
        subject: what it is about, such as "link 'tool'".
        finding: what was found, with numbers and units.
        cure: how to mend it.
        severity: 'warning', or 'hint' for what is harmless or may well be meant.
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
