# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Random trees as URDF texts."""

from __future__ import annotations

import functools
import random

from hypothesis import strategies as st

# What a tree is made of is drawn, so that Hypothesis finds the smallest tree that fails; numbers
# are of a generator with a drawn seed, because drawing each of them takes longer than most tests.
_SEEDS = st.integers(0, 2**16)
_MOVING = st.sampled_from(['revolute', 'continuous', 'prismatic', 'screw'])
_ANY_KIND = st.sampled_from(['revolute', 'continuous', 'prismatic', 'screw', 'fixed'])
_FIVE = st.integers(0, 4)


def _number(rng: random.Random, low: float, high: float) -> float:
    """Return a number of three decimals, one in six an end of the range or the least magnitude."""
    least = min(max(low, 0.0), high)
    if rng.random() < 1 / 6:
        return rng.choice((low, high, least))
    return round(rng.uniform(low, high), 3)


def _triple(rng: random.Random, low: float, high: float) -> str:
    return ' '.join(str(_number(rng, low, high)) for _ in range(3))


def _axis(rng: random.Random) -> str:
    axis = [rng.randint(-3, 3) for _ in range(3)]
    return ' '.join(map(str, axis)) if any(axis) else _axis(rng)


def _inertial(rng: random.Random) -> str:
    """An inertia that matter can have: planar moments are positive, the frame is anyhow."""
    x, y, z = (_number(rng, 0.01, 0.2) for _ in range(3))
    return (
        f'<inertial><origin xyz="{_triple(rng, -0.3, 0.3)}" rpy="{_triple(rng, -3, 3)}"/>'
        f'<mass value="{_number(rng, 0.2, 4)}"/>'
        f'<inertia ixx="{y + z}" iyy="{z + x}" izz="{x + y}" ixy="0" ixz="0" iyz="0"/></inertial>'
    )


@functools.cache
def _sizes(most: int) -> st.SearchStrategy[int]:
    """Numbers of joints, more often large ones."""
    return st.sampled_from(sorted([*range(1, most + 1), *2 * [*range(1 + most // 2, most + 1)]]))


@st.composite
def random_urdfs(draw: st.DrawFn, max_joints: int = 6) -> str:
    """URDF text of a tree with 1 to `max_joints` joints: moving, fixed and mimic ones."""
    parts = ['<link name="link0"/>']
    masters: list[str] = []
    rng = random.Random(draw(_SEEDS))
    for k in range(1, draw(_sizes(max_joints)) + 1):
        kind = draw(_ANY_KIND if masters else _MOVING)
        mimic = ''
        if kind != 'fixed':
            if masters and draw(_FIVE) == 4:
                mimic = (
                    f'<mimic joint="{rng.choice(masters)}" '
                    f'multiplier="{rng.choice((-1.5, -0.5, 0.75, 2.0))}" '
                    f'offset="{_number(rng, -0.5, 0.5)}"/>'
                )
            else:
                masters.append(f'joint{k}')
        thread = ''
        if kind == 'screw':
            thread = f'<screw_thread_pitch value="{rng.choice((-2.5, 0.4, 3.0))}"/>'
        bare = kind == 'fixed' and draw(st.booleans())
        parts.append(
            f'<link name="link{k}">{"" if bare else _inertial(rng)}</link>'
            f'<joint name="joint{k}" type="{kind}">'
            f'<parent link="link{draw(st.integers(0, k - 1))}"/><child link="link{k}"/>'
            f'<origin xyz="{_triple(rng, -0.6, 0.6)}" rpy="{_triple(rng, -3, 3)}"/>'
            f'<axis xyz="{_axis(rng)}"/>{thread}'
            f'<limit lower="-2" upper="2" effort="100" velocity="5"/>{mimic}</joint>'
        )
    return f'<robot name="tree">{"".join(parts)}</robot>'
