# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Flexible links: modes of beams, robots that bend, Khang's manipulator, periodic motion."""

from kron_dynamics.flexible import flexible_dynamics  # noqa: F401, teaches the equations
from kron_dynamics.flexible.beam import Beam, BeamModes, BeamSection
from kron_dynamics.flexible.flexible_body import FlexibleBody
from kron_dynamics.flexible.flexible_model import FlexibleModel
from kron_dynamics.flexible.floquet import (
    FloquetAnalysis,
    floquet_analysis,
    monodromy_matrix,
    stability_map,
)
from kron_dynamics.flexible.integrals import BeamIntegrals, beam_integrals, beam_quadrature
from kron_dynamics.flexible.load import load_flexible_model
from kron_dynamics.flexible.single_link import FlexibleLink, LinearizedLink
from kron_dynamics.flexible.stability_plot import plot_stability_map
from kron_dynamics.flexible.tapered import (
    CarriedBody,
    TaperedModes,
    section_matrices,
    tapered_modes,
)
from kron_dynamics.flexible.trial import TrialFunctions
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
    'FlexibleLink',
    'FlexibleModel',
    'FloquetAnalysis',
    'LARGEST_DEFLECTION',
    'LinearizedLink',
    'TaperedModes',
    'TrialFunctions',
    'WARNED_DEFLECTION',
    'beam_integrals',
    'beam_quadrature',
    'deflections',
    'floquet_analysis',
    'load_flexible_model',
    'monodromy_matrix',
    'plot_stability_map',
    'section_matrices',
    'stability_map',
    'tapered_modes',
]
