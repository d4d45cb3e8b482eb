# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""exudyn from Python: a clamped boom of ANCF cable elements with a mass at its tip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.timing import MeasurementError

try:
    import exudyn
    import exudyn.itemInterface as items
except ImportError:
    exudyn = None

# Axial stiffness times length squared over bending stiffness; large, so the boom hardly stretches.
_AXIAL = 3e4


def boom(
    elements: int,
    *,
    length: float,
    stiffness: float,
    line_mass: float,
    tip_mass: float,
    deflection: float,
) -> Callable[[float, int], tuple[float, float]]:
    """Return a function that simulates the boom from rest, bent as by a force at its tip.

    It uses the implicit solver with modified Newton (the Jacobian is kept while it converges) and
    without numerical damping. Explicit solvers need a hundred times the steps because of the
    axial stiffness.

    Args:
        elements: number of cubic elements, of equal length.
        length: m.
        stiffness: bending stiffness, N m^2.
        line_mass: kg/m.
        tip_mass: kg.
        deflection: initial deflection of the tip, m.

    Returns:
        function of a duration in s and a number of steps, which returns the final deflection of
        the tip, m, and its rate, m/s.

    Raises:
        MeasurementError: exudyn is not installed.
    """
    if exudyn is None:
        raise MeasurementError('exudyn is not installed')
    system = exudyn.SystemContainer().AddSystem()
    nodes = []
    for x in np.linspace(0.0, length, elements + 1):
        bent = deflection * (3 * x**2 * length - x**3) / (2 * length**3)
        slope = deflection * (6 * x * length - 3 * x**2) / (2 * length**3)
        node = items.NodePoint2DSlope1(
            referenceCoordinates=[x, 0.0, 1.0, 0.0], initialCoordinates=[0.0, bent, 0.0, slope]
        )
        nodes.append(system.AddNode(node))
    for start, end in zip(nodes[:-1], nodes[1:], strict=True):
        cable = items.ObjectANCFCable2D(
            nodeNumbers=[start, end],
            length=length / elements,
            massPerLength=line_mass,
            bendingStiffness=stiffness,
            axialStiffness=_AXIAL * stiffness / length**2,
            useReducedOrderIntegration=1,
        )
        system.AddObject(cable)
    system.AddObject(
        items.ObjectGenericODE2(
            nodeNumbers=[nodes[-1]],
            massMatrix=np.diag([tip_mass, tip_mass, 0.0, 0.0]),
            stiffnessMatrix=np.zeros((4, 4)),
            dampingMatrix=np.zeros((4, 4)),
        )
    )
    ground = system.AddNode(items.NodePointGround())
    fixed = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
    for coordinate in (0, 1, 3):
        moved = system.AddMarker(
            items.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=coordinate)
        )
        system.AddObject(items.CoordinateConstraint(markerNumbers=[fixed, moved]))
    system.Assemble()
    settings = _settings()

    def run(duration: float, steps: int) -> tuple[float, float]:
        settings.timeIntegration.numberOfSteps = steps
        settings.timeIntegration.endTime = duration
        system.SolveDynamic(settings)
        place, rate = (
            system.GetNodeOutput(nodes[-1], variable)
            for variable in (
                exudyn.OutputVariableType.Displacement,
                exudyn.OutputVariableType.Velocity,
            )
        )
        return float(place[1]), float(rate[1])

    return run


def _settings() -> Any:
    """Return settings without output: one thread and dense matrices, as the systems are small."""
    settings = exudyn.SimulationSettings()
    integration = settings.timeIntegration
    integration.verboseMode = 0
    integration.generalizedAlpha.spectralRadius = 1.0
    integration.newton.useModifiedNewton = True
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = 1e9
    settings.linearSolverType = exudyn.LinearSolverType.EXUdense
    settings.parallel.numberOfThreads = 1
    settings.displayComputationTime = False
    settings.displayStatistics = False
    return settings
