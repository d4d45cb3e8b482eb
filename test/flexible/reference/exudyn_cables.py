# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Hanging cantilevers by exudyn's ANCF cables: writes exudyn_cables.json beside this file.

In an environment with exudyn 1.13.6, which nothing else here needs:

    python test/flexible/reference/exudyn_cables.py

The beam is clamped at the origin along x, gravity is along -z, a point mass is at the tip.
Elements are cubic, for bending without limit; the axis is so stiff that it hardly stretches. The
frequency is that of small vibrations in the plane about the state at rest.
"""

from __future__ import annotations

import json
from pathlib import Path

import exudyn as exu
import exudyn.itemInterface as items
import numpy as np

GRAVITY = 9.80665
ELEMENTS = 48
# Axial over bending stiffness times the square of the length: stretches by some 1e-5.
AXIAL = 3e4


def cantilever(
    length: float, stiffness: float, mass_per_length: float, tip_mass: float
) -> dict[str, object]:
    """Return a beam's data, the place of its tip at rest in m, and a frequency in rad/s."""
    system = exu.SystemContainer().AddSystem()
    nodes = [
        system.AddNode(items.NodePoint2DSlope1(referenceCoordinates=[x, 0.0, 1.0, 0.0]))
        for x in np.linspace(0.0, length, ELEMENTS + 1)
    ]
    for start, end in zip(nodes[:-1], nodes[1:], strict=True):
        cable = system.AddObject(
            items.ObjectANCFCable2D(
                nodeNumbers=[start, end],
                length=length / ELEMENTS,
                massPerLength=mass_per_length,
                bendingStiffness=stiffness,
                axialStiffness=AXIAL * stiffness / length**2,
                useReducedOrderIntegration=1,
            )
        )
        body = system.AddMarker(items.MarkerBodyMass(bodyNumber=cable))
        system.AddLoad(items.LoadMassProportional(markerNumber=body, loadVector=[0, -GRAVITY, 0]))
    if tip_mass > 0:
        system.AddObject(
            items.ObjectGenericODE2(
                nodeNumbers=[nodes[-1]],
                massMatrix=np.diag([tip_mass, tip_mass, 0.0, 0.0]),
                stiffnessMatrix=np.zeros((4, 4)),
                dampingMatrix=np.zeros((4, 4)),
                forceVector=[0.0, -tip_mass * GRAVITY, 0.0, 0.0],
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
    settings = exu.SimulationSettings()
    settings.staticSolver.numberOfLoadSteps = 20
    settings.staticSolver.newton.relativeTolerance = 1e-5
    settings.staticSolver.newton.absoluteTolerance = 1e-9
    settings.staticSolver.verboseMode = 0
    settings.solution.file.write = False
    system.SolveStatic(settings)
    tip = system.GetNodeOutput(nodes[-1], exu.OutputVariableType.Position)
    rest = system.systemData.GetODE2Coordinates()
    system.systemData.SetODE2Coordinates(rest, exu.ConfigurationType.Initial)
    # The constraints hold the first node by its coordinates 0, 1 and 3.
    squares, _ = system.ComputeODE2Eigenvalues(
        settings,
        constrainedCoordinates=[0, 1, 3],
        useAbsoluteValues=False,
        ignoreAlgebraicEquations=True,
    )
    return {
        'length': length,
        'bending_stiffness': stiffness,
        'mass_per_length': mass_per_length,
        'tip_mass': tip_mass,
        'tip': [float(tip[0]), float(tip[1])],
        'frequency': float(np.sqrt(squares[0])),
    }


def main() -> None:
    """Write the file."""
    length, line_mass, tip_mass = 4.0, 3.0, 24.0
    # Linear deflection of the tip over the length times the bending stiffness.
    sag = GRAVITY * (tip_mass * length**2 / 3 + line_mass * length**3 / 8)
    found = {
        f'delta {delta:g}': cantilever(length, sag / delta, line_mass, tip_mass)
        for delta in (0.01, 0.05, 0.1, 0.2, 0.3)
    }
    for mass in (0.0, 60e3, 1e6, 2e6):
        found[f'boom with {mass:g} kg'] = cantilever(60.0, 1.8e11, 2750.0, mass)
    path = Path(__file__).with_suffix('.json')
    path.write_text(json.dumps(found, indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
