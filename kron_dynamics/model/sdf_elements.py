# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Known elements of SDFormat; others are checked for misspellings."""

from __future__ import annotations

from collections.abc import Mapping

from kron_dynamics.messages import named
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.sdf import SdfModel
from kron_dynamics.model.urdf_elements import warn_of_misspelling
from kron_dynamics.model.xml_nodes import Node

_ADDED_MASS = 'fluid_added_mass'
# Children of each element in any version of the format, whether they are read or ignored.
_CHILDREN: Mapping[str, tuple[str, ...]] = {
    'model': (
        *('pose', 'frame', 'link', 'joint', 'model', 'include', 'plugin', 'gripper', 'static'),
        *('self_collide', 'allow_auto_disable', 'enable_wind'),
    ),
    'link': (
        *('pose', 'frame', 'inertial', 'visual', 'collision', 'gravity', 'kinematic', 'sensor'),
        *('enable_wind', 'self_collide', 'must_be_base_link', 'velocity_decay', 'projector'),
        *('audio_sink', 'audio_source', 'battery', 'light', 'particle_emitter', 'plugin'),
    ),
    'joint': (
        *('pose', 'frame', 'parent', 'child', 'axis', 'axis2', 'thread_pitch', 'sensor', 'plugin'),
        *('screw_thread_pitch', 'physics', 'gearbox_ratio', 'gearbox_reference_body'),
    ),
    'axis': (
        *('xyz', 'limit', 'dynamics', 'mimic', 'use_parent_model_frame', 'initial_position'),
    ),
    'limit': ('lower', 'upper', 'effort', 'velocity', 'stiffness', 'dissipation'),
    'dynamics': ('damping', 'friction', 'spring_reference', 'spring_stiffness'),
    'mimic': ('multiplier', 'offset', 'reference'),
    'inertial': (
        'pose',
        'frame',
        'mass',
        'inertia',
        'density',
        'auto_inertia_params',
        _ADDED_MASS,
    ),
    'inertia': ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'),
}


def look_for_misspelt(model: SdfModel, findings: Findings) -> None:
    """Warn of misspelt elements in a model, its links and joints, and of masses that do not count.

    Args:
        model: the model.
        findings: collects the warnings.
    """
    _look(model.node, 'SDF', findings)
    for node in (*model.links.values(), *model.joints.values()):
        _look(node, named(node.tag, node.name), findings)


def _look(node: Node, subject: str, findings: Findings) -> None:
    """Warn of children of an element; of their children unless they are links or joints."""
    expected = _CHILDREN[node.tag]
    for child in node.children():
        if child.tag not in expected:
            warn_of_misspelling(child.element, expected, subject, findings)
        elif child.tag == _ADDED_MASS:
            findings.warn(
                'added_mass',
                subject,
                f'its <{_ADDED_MASS}> is not read: it moves as in air',
                'remove the element if that is right',
            )
        elif child.tag in _CHILDREN and child.tag not in ('model', 'link', 'joint'):
            _look(child, subject, findings)
