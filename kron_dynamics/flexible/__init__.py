# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Flexible links: modes of beams, robots with flexible links, Khang's manipulator."""

from kron_dynamics.flexible import (  # noqa: F401, they register FlexibleModel
    flexible_dynamics,
    flexible_reactions,
)
from kron_dynamics.flexible.beams.beam import Beam, BeamModes, BeamSection
from kron_dynamics.flexible.beams.integrals import BeamIntegrals, beam_integrals, beam_quadrature
from kron_dynamics.flexible.beams.tapered import (
    CarriedBody,
    TaperedModes,
    section_matrices,
    tapered_modes,
)
from kron_dynamics.flexible.beams.trial import TrialFunctions
from kron_dynamics.flexible.flexible_body import FlexibleBody
from kron_dynamics.flexible.flexible_model import FlexibleModel
from kron_dynamics.flexible.load import load_flexible_model
from kron_dynamics.flexible.single_link_manipulator import LinearizedLink, SingleLinkManipulator
from kron_dynamics.flexible.validity import (
    LARGEST_DEFLECTION,
    WARNED_DEFLECTION,
    Deflection,
    DeflectionCheck,
    deflections,
)

__all__ = [
    'Beam',
    'BeamIntegrals',
    'BeamModes',
    'BeamSection',
    'CarriedBody',
    'Deflection',
    'DeflectionCheck',
    'FlexibleBody',
    'FlexibleModel',
    'LARGEST_DEFLECTION',
    'LinearizedLink',
    'SingleLinkManipulator',
    'TaperedModes',
    'TrialFunctions',
    'WARNED_DEFLECTION',
    'beam_integrals',
    'beam_quadrature',
    'deflections',
    'load_flexible_model',
    'section_matrices',
    'tapered_modes',
]
