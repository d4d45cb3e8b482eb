# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Random trees as URDF texts."""

from __future__ import annotations

import functools

from hypothesis import strategies as st

# Strategies are made once: Hypothesis checks each new one, which takes longer than drawing.
_AXES = st.tuples(*[st.integers(-3, 3)] * 3).filter(any).map(lambda v: f'{v[0]} {v[1]} {v[2]}')


@functools.cache
def _numbers(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high).map(lambda x: round(x, 3))


@functools.cache
def _triple(low: float, high: float) -> st.SearchStrategy[str]:
    return st.tuples(*[_numbers(low, high)] * 3).map(lambda v: f'{v[0]} {v[1]} {v[2]}')


@functools.cache
@st.composite
def _inertials(draw: st.DrawFn) -> str:
    """An inertia that matter can have: planar moments are positive, the frame is anyhow."""
    x, y, z = (draw(_numbers(0.01, 0.2)) for _ in range(3))
    return (
        f'<inertial><origin xyz="{draw(_triple(-0.3, 0.3))}" rpy="{draw(_triple(-3, 3))}"/>'
        f'<mass value="{draw(_numbers(0.2, 4))}"/>'
        f'<inertia ixx="{y + z}" iyy="{z + x}" izz="{x + y}" ixy="0" ixz="0" iyz="0"/></inertial>'
    )


@st.composite
def random_urdfs(draw: st.DrawFn, max_joints: int = 6) -> str:
    """URDF text of a tree with 1 to `max_joints` joints: moving, fixed and mimic ones."""
    kinds = ['revolute', 'continuous', 'prismatic', 'screw', 'fixed']
    parts = ['<link name="link0"/>']
    masters: list[str] = []
    for k in range(1, draw(st.integers(1, max_joints)) + 1):
        kind = draw(st.sampled_from(kinds if masters else kinds[:-1]))
        mimic = ''
        if kind != 'fixed':
            if masters and draw(st.integers(0, 4)) == 4:
                mimic = (
                    f'<mimic joint="{draw(st.sampled_from(masters))}" '
                    f'multiplier="{draw(st.sampled_from((-1.5, -0.5, 0.75, 2.0)))}" '
                    f'offset="{draw(_numbers(-0.5, 0.5))}"/>'
                )
            else:
                masters.append(f'joint{k}')
        thread = ''
        if kind == 'screw':
            thread = f'<screw_thread_pitch value="{draw(st.sampled_from((-2.5, 0.4, 3.0)))}"/>'
        bare = kind == 'fixed' and draw(st.booleans())
        parts.append(
            f'<link name="link{k}">{"" if bare else draw(_inertials())}</link>'
            f'<joint name="joint{k}" type="{kind}">'
            f'<parent link="link{draw(st.integers(0, k - 1))}"/><child link="link{k}"/>'
            f'<origin xyz="{draw(_triple(-0.6, 0.6))}" rpy="{draw(_triple(-3, 3))}"/>'
            f'<axis xyz="{draw(_AXES)}"/>{thread}'
            f'<limit lower="-2" upper="2" effort="100" velocity="5"/>{mimic}</joint>'
        )
    return f'<robot name="tree">{"".join(parts)}</robot>'
