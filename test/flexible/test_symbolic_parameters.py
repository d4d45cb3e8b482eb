# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Closed forms of robots with flexible links, their parameters symbols."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
import yaml

import kron_dynamics as kd
from kron_dynamics import dynamics, kinematics
from kron_dynamics.resources import resource_path

MANIPULATOR = resource_path('urdf', 'flexible_manipulator.urdf')
DESCRIPTION = resource_path('config', 'flexible_manipulator_flexible.yaml')


@pytest.mark.parametrize('geometric', [False, True])
def test_khangs_closed_forms(geometric: bool) -> None:
    """[K] (68)-(71) letter by letter: (69) as printed, and with the geometric stiffness."""
    description = yaml.safe_load(DESCRIPTION.read_text(encoding='utf-8'))
    description['flexible_links']['link_oe']['geometric_stiffness'] = geometric
    robot = kd.load(MANIPULATOR, flexible=description).symbolic.with_parameters('symbolic')
    (q, e), (qd, ed), (qdd, edd) = robot.q, robot.qd, robot.qdd
    undeformed = {e: 0, ed: 0, edd: 0}
    linear = [term.subs(undeformed) for term in robot.linearization()]

    known = {str(symbol): symbol for symbol in robot.values}
    J1, mE, g = known['I_link_oe_yy'], known['m_tip'], known['g']
    L, X1, EI_k = known['x_tip'], known['X_tip_w1'], known['k_link_oe_w1w1']
    # Integrals over the beam's mass: rho A times l^2/2, l^3/3, C_1, D_1 and m_11.
    first, second, C1, D1, m11 = (
        known[f'b_link_oe_{x}'] for x in ('1x', 'xx', '1w1', 'xw1', 'w1w1')
    )
    sin, cos = sympy.sin(q), sympy.cos(q)
    M12, m22 = mE * L * X1 + D1, m11 + mE * X1**2
    M = sympy.Matrix([[J1 + mE * L**2 + second, M12], [M12, m22]])
    K12 = -g * sin * (mE * X1 + C1)
    K = sympy.Matrix([[-g * sin * (mE * L + first), K12], [K12, EI_k - qd**2 * m22]])
    if geometric:
        S, T, N = (known[x] for x in ('b_link_oe_xGw11', 'b_link_oe_1Gw11', 'G_tip_w1w1'))
        K[1, 1] += qd**2 * (S + mE * L * N) - g * sin * (T + mE * N)
    effort = [M[0, 0] * qdd + g * cos * (mE * L + first), M12 * qdd + g * cos * (mE * X1 + C1)]
    for found, expected in zip(linear, (M, sympy.zeros(2), K, effort), strict=True):
        assert sympy.expand(found - sympy.Matrix(expected)) == sympy.zeros(*found.shape)


@pytest.mark.filterwarnings('ignore::kron_dynamics.ModelWarning')
def test_sections_are_named_after_what_is_mounted_on_them() -> None:
    """Fixed, by a joint, or both: the fixed link then."""
    text = MANIPULATOR.read_text(encoding='utf-8').replace(
        '</robot>',
        '<joint name="turn" type="continuous"><parent link="link_oe"/><child link="wrist"/>'
        '<origin xyz="0.3 0 0"/></joint><link name="wrist"/>'
        '<joint name="spin" type="continuous"><parent link="link_oe"/><child link="wheel"/>'
        '<origin xyz="0.2 0 0"/></joint><link name="wheel"/>'
        '<joint name="plate" type="fixed"><parent link="link_oe"/><child link="label"/>'
        '<origin xyz="0.2 0 0"/></joint><link name="label"/></robot>',
    )
    robot = kd.loads(text, flexible=DESCRIPTION)
    names = {str(symbol) for symbol in robot.symbolic.with_parameters('symbolic').values}
    places = {name for name in names if name.startswith(('x_', 'X_', 'dX_', 'G_'))}
    owners = {name.removesuffix('_w1w1').removesuffix('_w1').split('_', 1)[1] for name in places}
    assert owners == {'tip', 'wrist', 'label'}


@pytest.mark.parametrize('name', ['stacker_reclaimer', 'flexible_manipulator'])
def test_numbers_of_the_symbols_give_the_robot_back(name: str, rng: np.random.Generator) -> None:
    """At numbers for the coordinates, so that no more than the parameters are symbols."""
    flexible = resource_path('config', f'{name}_flexible.yaml')
    robot = kd.load(resource_path('urdf', f'{name}.urdf'), flexible=flexible)
    model, general = robot.model, robot.symbolic.with_parameters('symbolic')
    q, qd, qdd = rng.uniform(-0.5, 0.5, (3, robot.n))
    link = model.tip_link
    cases: Any = (
        (dynamics.potential_energy, (q,), ()),
        (dynamics.joint_friction, (qd,), ()),
        (kinematics.forward_kinematics, (q,), (link,)),
        (dynamics.inverse_dynamics, (q, qd, qdd), ()),
        (kinematics.frame_acceleration, (q, qd, qdd), (link,)),
    )
    if name == 'stacker_reclaimer':
        cases = cases[:3]  # of two planes of bending: the motion takes minutes
    for function, state, rest in cases:
        numbers = (tuple(x.tolist()) for x in state)
        closed = general.evaluate(function, *numbers, *rest)
        found = closed.xreplace(general.values).evalf()
        expected = function(model, *state, *rest)
        found = np.reshape(np.array(found, dtype=float), np.shape(expected))
        scale = np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11 * scale)
    letters = {str(symbol).split('_')[0] for symbol in general.values}
    assert {'b', 'k', 'r', 'x', 'X', 'dX', 'm', 'g'} <= letters
