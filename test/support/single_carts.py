# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A cart on a rail, its limits, and meshes along paths given as functions of their parameter."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import kron_dynamics as kd
from kron_dynamics.control.reference.path_mesh import Mesh
from kron_dynamics.control.reference.path_sections import sections_of_waypoints
from kron_dynamics.control.reference.path_terms import Limits, PathTerms
from kron_dynamics.control.reference.section_meshes import rest_map_of
from kron_dynamics.typing import FloatArray

# A mass on a prismatic joint.
CART = """<robot name="cart"><link name="rail"/>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/>
    <axis xyz="{axis}"/><limit lower="-10" upper="10" velocity="{velocity}" effort="{effort}"/>
    <dynamics damping="{damping}" friction="{friction}"/></joint>
  <link name="cart"><inertial><mass value="{mass}"/><inertia ixx="1" iyy="1" izz="1" ixy="0"
    ixz="0" iyz="0"/></inertial></link></robot>"""


def cart(
    axis: str = '1 0 0',
    velocity: float = 100.0,
    effort: float = 6.0,
    mass: float = 2.0,
    damping: float = 0.0,
    friction: float = 0.0,
) -> kd.Robot:
    """Return a cart; with a vertical axis it is a lift."""
    values = {'axis': axis, 'velocity': velocity, 'effort': effort, 'mass': mass}
    return kd.loads(CART.format(**values, damping=damping, friction=friction))


def limits_of(
    velocity: float = np.inf,
    acceleration: float = np.inf,
    effort: float = np.inf,
    effort_rate: float = np.inf,
) -> Limits:
    """Return the limits of one joint."""
    return Limits(*(np.array([each]) for each in (velocity, acceleration, effort, effort_rate)))


def uneven_mesh(rng: np.random.Generator, limits: Limits) -> Mesh:
    """Return a mesh with intervals of several lengths along the way of a cart."""
    robot = cart()
    (section,) = sections_of_waypoints(np.array([[0.0], [1.6]]), (), np.ones(1))
    rest_map = rest_map_of(robot, section, limits)
    shares = np.cumsum(rng.uniform(0.1, 1.0, 9))
    nodes = rest_map.duration * (shares - shares[0]) / np.ptp(shares)
    return Mesh.of(robot, section, rest_map, nodes)


def mesh_along(
    nodes: FloatArray,
    path: Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray]],
    mass: float = 1.0,
    weight: float = 0.0,
) -> Mesh:
    """Return a mesh of one joint.

    Args:
        nodes: r, (N + 1,).
        path: position and its first and second derivative with respect to r.
        mass: kg.
        weight: effort that holds the mass against gravity, N.
    """
    r = np.empty(2 * nodes.size - 1)
    r[::2], r[1::2] = nodes, 0.5 * (nodes[1:] + nodes[:-1])
    q, first, second = (values[:, np.newaxis] for values in path(r))
    terms = PathTerms(q, first, second, mass * first, mass * second, np.full_like(q, weight))
    some = np.ones((nodes.size, 1))
    return Mesh(nodes, np.diff(nodes), r, terms, some, some, some)
