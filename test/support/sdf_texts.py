# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Links and joints of SDF texts."""

from __future__ import annotations

MOMENTS = (
    '<inertia><ixx>0.3</ixx><iyy>0.2</iyy><izz>0.25</izz><ixy>0.01</ixy><iyz>-0.02</iyz></inertia>'
)


def link(name: str, pose: str, within: str = '', mass: float = 2.0) -> str:
    relative = f' relative_to="{within}"' if within else ''
    return (
        f'<link name="{name}"><pose{relative}>{pose}</pose><inertial>'
        f'<pose>0.1 0.02 -0.03 0.4 0.5 -0.6</pose><mass>{mass}</mass>{MOMENTS}</inertial></link>'
    )


def joint(
    name: str, kind: str, parent: str, child: str, axis: str = '', pose: str = '', more: str = ''
) -> str:
    return (
        f'<joint name="{name}" type="{kind}">{pose}<parent>{parent}</parent>'
        f'<child>{child}</child>{axis and f"<axis>{axis}</axis>"}{more}</joint>'
    )


HINGE = joint('h', 'revolute', 'a', 'b', '<xyz>0 0 1</xyz>', '<pose>0 0 0 0 0 0</pose>')
