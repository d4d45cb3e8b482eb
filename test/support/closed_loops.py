# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Descriptions of mechanisms for tests: a slider-crank, a gear between joints of a UR5."""

from __future__ import annotations

# A slider driven by a crank of 0.3 m and a rod of 0.8 m.
LINK = (
    '<link name="{name}"><inertial><mass value="{mass}"/><origin xyz="{place} 0 0"/>'
    '<inertia ixx="0.02" iyy="0.05" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
JOINT = (
    '<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
    '<origin xyz="{at} 0 0"/><axis xyz="{axis}"/>{limit}</joint>'
)
LIMIT = '<limit lower="{}" upper="{}" velocity="9" effort="500"/>'


def slider_crank(lower: float = -9.0, upper: float = 9.0, kind: str = 'continuous') -> str:
    parts = [
        '<robot name="slider_crank"><link name="base"/>',
        *(
            LINK.format(name='crank', mass=2, place=0.15),
            LINK.format(name='rod', mass=1, place=0.4),
        ),
        LINK.format(name='slider', mass=3, place=0.0),
    ]
    axis, limit = '0 -1 0', '' if kind == 'continuous' else LIMIT.format(lower, upper)
    for name, of, parent, child, at in (
        ('turn', kind, 'base', 'crank', 0),
        ('knee', 'continuous', 'crank', 'rod', 0.3),
    ):
        parts.append(
            JOINT.format(
                name=name,
                kind=of,
                parent=parent,
                child=child,
                at=at,
                axis=axis,
                limit=limit if name == 'turn' else '',
            )
        )
    parts.append(
        JOINT.format(
            *(),
            name='slide',
            kind='prismatic',
            parent='base',
            child='slider',
            at=0,
            axis='1 0 0',
            limit=LIMIT.format(-5, 5),
        )
    )
    return ''.join(parts) + '</robot>'


SLIDER_CONSTRAINTS = {
    'constraints': {
        'pin': {
            'type': 'hinge',
            'a': {'link': 'rod', 'point': [0.8, 0, 0], 'axis': [0, -1, 0]},
            'b': {'link': 'slider', 'axis': [0, -1, 0]},
        }
    },
    'start': {'turn': 0.5, 'knee': -0.7, 'slide': 1.0},
    'hold': ['turn'],
    'actuated': ['turn'],
}
GEAR = {
    'constraints': {
        'gear': {
            'type': 'coupling',
            'ratios': {'shoulder_lift_joint': 1.0, 'elbow_joint': 1.0},
            'offset': 0.2,
        }
    },
    'start': {'elbow_joint': 0.2},
    'actuated': [
        f'{joint}_joint'
        for joint in ('shoulder_pan', 'shoulder_lift', *('wrist_1', 'wrist_2', 'wrist_3'))
    ],
}
