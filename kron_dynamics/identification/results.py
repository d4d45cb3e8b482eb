# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Results of an identification."""

from __future__ import annotations

from dataclasses import dataclass, field

from kron_dynamics.identification.structure import Structure
from kron_dynamics.typing import FloatArray


@dataclass(frozen=True)
class Parameter:
    """One parameter, as described and as identified.

    Attributes:
        name: such as 'elbow_joint: mass' or 'elbow_joint coulomb'.
        unit: its unit.
        before: described value; 0 if the description has none.
        after: identified value.
        low: lower end of the 95 % interval, from data and prior together.
        high: upper end.
        is_excited: whether data at least halve the prior standard deviation.
    """

    name: str
    unit: str
    before: float
    after: float
    low: float
    high: float
    is_excited: bool


@dataclass(frozen=True)
class BaseParameter:
    """A base parameter, estimated by least squares without a prior.

    Attributes:
        name: the linear combination of parameter names.
        value: in the unit of the parameter with coefficient 1 that the base parameter stands for.
        low: lower end of the 95 % interval.
        high: upper end.
    """

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Gain:
    """The gain that converts the recorded efforts of a joint.

    Attributes:
        joint: name of the joint.
        unit: unit of the converted efforts, N m or N; the gain is in this unit per recorded unit.
        value: negative if efforts are recorded with the opposite sign.
        low: lower end of the 95 % interval.
        high: upper end.
        is_identifiable: whether the gain is identifiable from the motion with known loads.
    """

    joint: str
    unit: str
    value: float
    low: float
    high: float
    is_identifiable: bool


@dataclass(frozen=True, eq=False)
class Residual:
    """Norms of a model's effort residuals relative to the norms of the recorded efforts.

    Attributes:
        joints: relative residual of each joint, shape (n,); NaN where no effort is recorded.
        total: relative residual of all joints together.
    """

    joints: FloatArray
    total: float


@dataclass(frozen=True, eq=False)
class Identification:
    """An identified model of a robot, with its uncertainty and validation.

    Attributes:
        joint_names: names of the coordinates.
        inertial: identified inertial parameters, in the order of `inertial_parameters`, shape
            (10 b + n,).
        friction: identified friction coefficients, shape (n, k), in the order of the terms.
        gravity: gravity acceleration in the axes of the root link, as identified or described,
            shape (3,), m/s^2.
        described_friction: Coulomb and viscous friction for the new URDF, shape (n, 2).
        structure: structure of the regression model.
        choices: a line for each extension of the structure that improved the prediction.
        strength: weight of the prior.
        parameters: all parameters, as described and as identified.
        base: base parameters of inertia and friction that the training data excite.
        condition: condition number of their regressor, columns scaled.
        structural_rank: number of base parameters that suitable motion could excite.
        excited: number of parameter combinations that each joint's efforts excite, shape (n,).
        noise: standard deviation of each joint's training residuals, shape (n,), N m or N.
        outliers: share of each joint's rows with weight zero, shape (n,).
        residuals: residuals on held-out data, averaged alike, of the models 'urdf',
            'least_squares', 'identified' and 'urdf_alone' (the new URDF without its side file).
        unfiltered: the same on raw efforts, without an average.
        training: duration of the training motion, s.
        validation: duration of the held-out motion, s.
        split: description of the held-out part for reports.
        notes: remarks for the user.
        gains: estimated gains of recorded efforts.
    """

    joint_names: tuple[str, ...]
    inertial: FloatArray
    friction: FloatArray
    gravity: FloatArray
    described_friction: FloatArray
    structure: Structure
    choices: tuple[str, ...]
    strength: float
    parameters: tuple[Parameter, ...]
    base: tuple[BaseParameter, ...]
    condition: float
    structural_rank: int
    excited: FloatArray
    noise: FloatArray
    outliers: FloatArray
    residuals: dict[str, Residual]
    unfiltered: dict[str, Residual]
    training: float
    validation: float
    split: str
    notes: tuple[str, ...] = field(default=())
    gains: tuple[Gain, ...] = ()
