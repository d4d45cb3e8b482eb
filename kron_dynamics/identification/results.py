# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What an identification has found."""

from __future__ import annotations

from dataclasses import dataclass, field

from kron_dynamics.identification.structure import Structure
from kron_dynamics.typing import FloatArray


@dataclass(frozen=True)
class Parameter:
    """One parameter before and after.

    Attributes:
        name: such as 'forearm_link mass' or 'elbow_joint coulomb'.
        unit: its unit.
        before: in the description, as far as it says it, else 0.
        after: as identified.
        low: lower end of the 95 % interval, which rests on data and description together.
        high: upper end.
        is_excited: whether the data say more of it than the description does.
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
    """A combination of parameters that efforts depend on, by least squares without a prior.

    Attributes:
        name: the sum that it is.
        value: in the units of its first parameter.
        low: lower end of the 95 % interval.
        high: upper end.
    """

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Gain:
    """What the recorded efforts of a joint are multiplied by.

    Attributes:
        joint: its name.
        unit: of what results, N m or N, for each recorded unit.
        value: below zero where efforts are recorded with the other sign.
        low: lower end of the 95 % interval.
        high: upper end.
        is_told: whether the motion with known loads tells it.
    """

    joint: str
    unit: str
    value: float
    low: float
    high: float
    is_told: bool


@dataclass(frozen=True, eq=False)
class Residual:
    """What a model leaves of recorded efforts, as a share of their norm.

    Attributes:
        joints: of each joint, shape (n,); NaN where no effort is recorded.
        total: of all joints together.
    """

    joints: FloatArray
    total: float


@dataclass(frozen=True, eq=False)
class Identification:
    """A better model of a robot, and what there is to trust in it.

    Attributes:
        joint_names: of the coordinates.
        inertial: identified, in the order of `inertial_parameters`, shape (10 b + n,).
        friction: identified friction coefficients, shape (n, k), in the order of the terms.
        gravity: gravity acceleration in the axes of the root link, as identified or described,
            shape (3,), m/s^2.
        described_friction: Coulomb and viscous friction, as a URDF says it, shape (n, 2).
        structure: how recorded efforts are explained.
        choices: a line for each choice of the structure that paid.
        strength: how much the description counted.
        parameters: all of them, before and after.
        base: base parameters of inertia and friction that the training data show.
        condition: condition number of their regressor, columns scaled.
        structural_rank: number of base parameters that the efforts could show.
        excited: base parameters that the efforts of each joint show, shape (n,).
        noise: standard deviation of what is left of each effort in training, shape (n,).
        outliers: share of each joint's rows without weight, shape (n,).
        residuals: on the held-out data, averaged alike: 'urdf', 'least_squares', 'identified',
            'urdf_alone' (what the new URDF says without the file beside it).
        unfiltered: the same, but the recorded efforts as they are.
        training: seconds of motion that were trained on.
        validation: seconds that were held out.
        split: how they were held out, in words.
        notes: what a reader should know.
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
