# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Flexible links: modes of beams, their integrals, a flexible manipulator linearized."""

from kron_dynamics.flexible.beam import Beam, BeamModes, BeamSection
from kron_dynamics.flexible.floquet import (
    FloquetAnalysis,
    floquet_analysis,
    monodromy_matrix,
    stability_map,
)
from kron_dynamics.flexible.integrals import BeamIntegrals, beam_integrals, beam_quadrature
from kron_dynamics.flexible.single_link import FlexibleLink, LinearizedLink
from kron_dynamics.flexible.stability_plot import plot_stability_map
from kron_dynamics.flexible.tapered import TaperedModes, section_matrices, tapered_modes

__all__ = [
    'Beam',
    'BeamIntegrals',
    'BeamModes',
    'BeamSection',
    'FlexibleLink',
    'FloquetAnalysis',
    'LinearizedLink',
    'TaperedModes',
    'beam_integrals',
    'beam_quadrature',
    'floquet_analysis',
    'monodromy_matrix',
    'plot_stability_map',
    'section_matrices',
    'stability_map',
    'tapered_modes',
]
