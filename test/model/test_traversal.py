# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Ways through the tree of joints, against the parents that a description names."""

from __future__ import annotations

from typing import Any

import pytest

from kron_dynamics.model import RobotModel, load_model
from kron_dynamics.model.traversal import paths_apart

# Ancestors of each moving joint, the first one first.
ABOVE = {
    'trunk_turn': (),
    'left_slide': ('trunk_turn',),
    'left_spindle': ('trunk_turn', 'left_slide'),
    'right_elbow': ('trunk_turn',),
    'right_wrist': ('trunk_turn', 'right_elbow'),
    'camera_slide': ('trunk_turn', 'right_elbow'),
}


@pytest.fixture(scope='module')
def tree(robot_text: Any) -> RobotModel:
    return load_model(robot_text('branched'))


def test_ancestors_are_those_on_the_path_before_a_joint(tree: Any) -> None:
    for k, joint in enumerate(tree.joints):
        above = ABOVE[joint.name]
        assert tree.depth(k) == len(above)
        for first in range(3):
            found = list(tree.ancestors(k, first))
            assert [place for place, _, _ in found] == list(range(first, len(above)))
            assert [one.name for _, _, one in found] == list(above[first:])
            assert all(tree.joints[index] is one for _, index, one in found)
        assert list(tree.ancestors(k)) == list(tree.ancestors(k, 0))
        assert [one.name for _, _, one in tree.path_to(k)] == [*above, joint.name]


def test_descendants_are_the_joints_that_have_one_among_their_ancestors(tree: Any) -> None:
    for k, joint in enumerate(tree.joints):
        expected = [name for name, above in ABOVE.items() if joint.name in above]
        assert [one.name for _, one in tree.descendants(k)] == expected


def test_paths_part_where_their_common_joints_end(tree: Any) -> None:
    names = [joint.name for joint in tree.joints]
    for body, one in enumerate(names):
        for other, another in enumerate(names):
            ways = ((*ABOVE[one], one), (*ABOVE[another], another))
            both = [name for name in ways[0] if name in ways[1]]
            found = paths_apart(tree, body, other)
            for indices, way in zip(found, ways, strict=True):
                assert [names[k] for k in indices] == [n for n in way if n not in both]
        assert paths_apart(tree, body, -1) == (tree.path(body), ())
