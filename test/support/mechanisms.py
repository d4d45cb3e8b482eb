# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""URDF texts of mechanisms for closed loops: planar linkages, two spatial arms, others."""

from __future__ import annotations

from typing import Any


def link(name: str, mass: float, center: tuple[float, ...], moments: tuple[float, ...]) -> str:
    x, y, z = center
    a, b, c = moments
    return (
        f'<link name="{name}"><inertial><origin xyz="{x!r} {y!r} {z!r}"/><mass value="{mass!r}"/>'
        f'<inertia ixx="{a!r}" iyy="{b!r}" izz="{c!r}" ixy="0" ixz="0" iyz="0"/>'
        f'</inertial></link>'
    )


def joint(
    name: str,
    parent: str,
    child: str,
    place: tuple[float, ...],
    axis: str = '0 0 1',
    kind: str = 'continuous',
    rpy: str = '0 0 0',
) -> str:
    x, y, z = place
    limit = '<limit lower="-9" upper="9" effort="99" velocity="9"/>' * (kind != 'continuous')
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{x!r} {y!r} {z!r}" rpy="{rpy}"/><axis xyz="{axis}"/>{limit}</joint>'
    )


def four_bar_text(
    crank: float = 0.35, coupler: float = 0.9, rocker: float = 0.7, base: float = 1.0
) -> str:
    """Return the tree of a four-bar about z: crank and coupler, and the rocker."""
    parts = [
        '<link name="base"/>',
        link('crank', 1.2, (0.5 * crank, 0.02, 0.0), (0.015, 0.015, 0.03)),
        link('coupler', 2.1, (0.5 * coupler, -0.03, 0.0), (0.075, 0.075, 0.15)),
        link('rocker', 1.7, (0.4 * rocker, 0.05, 0.0), (0.04, 0.04, 0.08)),
        joint('j1', 'base', 'crank', (0.0, 0.0, 0.0)),
        joint('j2', 'crank', 'coupler', (crank, 0.0, 0.0)),
        joint('j3', 'base', 'rocker', (base, 0.0, 0.0)),
    ]
    return f'<robot name="four_bar">{"".join(parts)}</robot>'


def five_bar_text() -> str:
    """Return the tree of a five-bar about z: two cranks with couplers, to be pinned."""
    parts = [
        '<link name="base"/>',
        link('left_crank', 1.2, (0.2, 0.02, 0.0), (0.015, 0.015, 0.03)),
        link('left_coupler', 2.1, (0.4, -0.03, 0.0), (0.075, 0.075, 0.15)),
        link('right_crank', 1.7, (0.25, 0.05, 0.0), (0.04, 0.04, 0.08)),
        link('right_coupler', 1.4, (0.3, 0.01, 0.0), (0.03, 0.03, 0.06)),
        joint('left', 'base', 'left_crank', (0.0, 0.0, 0.0)),
        joint('left_elbow', 'left_crank', 'left_coupler', (0.4, 0.0, 0.0)),
        joint('right', 'base', 'right_crank', (0.7, 0.1, 0.0)),
        joint('right_elbow', 'right_crank', 'right_coupler', (0.5, 0.0, 0.0)),
    ]
    return f'<robot name="five_bar">{"".join(parts)}</robot>'


def slider_crank_text(crank: float, rod: float, friction: str = '') -> str:
    """Return a crank with a rod, and a slider along x to which the rod's end is to be pinned."""
    slide = joint('slide', 'base', 'slider', (0.0, 0.0, 0.0), '1 0 0', 'prismatic')
    parts = [
        '<link name="base"/>',
        link('crank', 1.3, (0.4 * crank, 0.03, 0.0), (0.01, 0.01, 0.02)),
        link('rod', 0.9, (0.6 * rod, -0.02, 0.0), (0.02, 0.02, 0.04)),
        link('slider', 2.2, (0.0, 0.0, 0.0), (0.01, 0.01, 0.01)),
        joint('turn', 'base', 'crank', (0.0, 0.0, 0.0)),
        joint('wrist', 'crank', 'rod', (crank, 0.0, 0.0)),
        slide.replace('</joint>', f'{friction}</joint>'),
    ]
    return f'<robot name="slider_crank">{"".join(parts)}</robot>'


def two_arms_text() -> str:
    """Return two arms on a turntable, each of three skew joints, the third one prismatic."""
    parts = ['<link name="base"/>', link('table', 3.0, (0.1, 0.0, 0.05), (0.2, 0.2, 0.3))]
    parts.append(joint('turn', 'base', 'table', (0.0, 0.0, 0.1)))
    for side, y in (('left', 0.25), ('right', -0.25)):
        before = 'table'
        for k, (axis, kind) in enumerate(
            (('0 1 0.2', 'continuous'), ('1 0.3 0', 'continuous'), ('0 1 0', 'prismatic')), 1
        ):
            name = f'{side}{k}'
            parts.append(link(name, 1.0 + 0.3 * k, (0.1, 0.02 * k, -0.03), (0.02, 0.03, 0.025)))
            place = (0.05, y, 0.1) if k == 1 else (0.3, -0.1 * y, 0.05)
            turn = f'0.2 {0.1 * k} {-0.3 * y}'
            axis = axis if side == 'left' or k > 1 else '0 1 -0.3'
            parts.append(joint(f'{name}_joint', before, name, place, axis, kind, turn))
            before = name
    return f'<robot name="two_arms">{"".join(parts)}</robot>'


def four_hinges_text(lengths: tuple[float, ...], twists: tuple[float, ...]) -> str:
    """Return a spatial chain of three links; the axis at each end is twisted about the link."""
    parts, before, place, turn = ['<link name="base"/>'], 'base', (0.0, 0.0, 0.0), '0 0 0'
    for k, (length, twist) in enumerate(zip(lengths, twists, strict=True), 1):
        parts.append(link(f'link{k}', 1.0 + k, (length / 2, 0.0, 0.0), (0.02, 0.05, 0.05)))
        parts.append(joint(f'joint{k}', before, f'link{k}', place, rpy=turn))
        before, place, turn = f'link{k}', (length, 0.0, 0.0), f'{twist!r} 0 0'
    return f'<robot name="four_hinges">{"".join(parts)}</robot>'


def sleigh_text(mass: float, ahead: float, inertia: float) -> str:
    """Return Chaplygin's sleigh: blade at the link's origin, centre of mass ahead of it."""
    nothing = (0.0, 0.0, 0.0)
    parts = [
        *('<link name="ground"/>', '<link name="x_link"/>', '<link name="y_link"/>'),
        link('sleigh', mass, (ahead, 0.0, 0.0), (inertia, inertia, inertia)),
        joint('x', 'ground', 'x_link', nothing, '1 0 0', 'prismatic'),
        joint('y', 'x_link', 'y_link', nothing, '0 1 0', 'prismatic'),
        joint('theta', 'y_link', 'sleigh', nothing),
    ]
    return f'<robot name="sleigh">{"".join(parts)}</robot>'


def massless_text() -> str:
    """Return two joints about one axis: j moves a body, i moves no mass of its own."""
    return (
        '<robot name="r"><link name="a"/><link name="b"/><link name="c"><inertial>'
        '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        '</link><joint name="i" type="continuous"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 0 1"/></joint><joint name="j" type="continuous"><parent link="a"/>'
        '<child link="c"/><axis xyz="0 0 1"/></joint></robot>'
    )


def integrated(rates: Any, state: Any, step: float, count: int, settle: Any = None) -> Any:
    """Return the state after `count` RK4 steps, each followed by settle(t, state)."""
    for k in range(count):
        t = k * step
        k1 = rates(t, state)
        k2 = rates(t + step / 2, state + step / 2 * k1)
        k3 = rates(t + step / 2, state + step / 2 * k2)
        k4 = rates(t + step, state + step * k3)
        state = state + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if settle is not None:
            state = settle(t + step, state)
    return state
