# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Constraints of robots: closed loops, gears, prescribed motions, wheels, A(q, t) qd = b(q, t)."""

from kron_dynamics.constraints.constraint import Constraint, ConstraintTerms, Geometry
from kron_dynamics.constraints.couplings import Coupling, PolynomialCoupling, PrescribedMotion
from kron_dynamics.constraints.description import ConstraintDescription
from kron_dynamics.constraints.formats import read_constraints
from kron_dynamics.constraints.loops import (
    Attachment,
    DistanceLoop,
    HingeLoop,
    PlanarLoop,
    PointLoop,
    SliderLoop,
    WeldLoop,
)
from kron_dynamics.constraints.pfaffian import Pfaffian
from kron_dynamics.constraints.rank import ConstraintReport
from kron_dynamics.constraints.reactions import Reactions
from kron_dynamics.constraints.rolling import BladeConstraint, RollingWheel
from kron_dynamics.constraints.speeds import Speeds
from kron_dynamics.constraints.system import ConstraintSystem

__all__ = [
    'Attachment',
    'BladeConstraint',
    'Constraint',
    'ConstraintDescription',
    'ConstraintReport',
    'ConstraintSystem',
    'ConstraintTerms',
    'Coupling',
    'DistanceLoop',
    'Geometry',
    'HingeLoop',
    'Pfaffian',
    'PlanarLoop',
    'PointLoop',
    'PolynomialCoupling',
    'PrescribedMotion',
    'Reactions',
    'RollingWheel',
    'SliderLoop',
    'Speeds',
    'WeldLoop',
    'read_constraints',
]
