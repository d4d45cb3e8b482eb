# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Identification of physically consistent inertial parameters and friction from recordings."""

from kron_dynamics.identification.known_load import KnownLoad
from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.procedure import identify
from kron_dynamics.identification.results import (
    BaseParameter,
    Gain,
    Identification,
    Parameter,
    Residual,
)
from kron_dynamics.identification.structure import Structure

__all__ = [
    'BaseParameter',
    'Gain',
    'Identification',
    'KnownLoad',
    'Motion',
    'Parameter',
    'Residual',
    'Structure',
    'identify',
]
