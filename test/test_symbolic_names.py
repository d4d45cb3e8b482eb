# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of symbols: Python and SymPy read them as what they are, and no two are alike."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

import kron_dynamics as kd
from kron_dynamics.cli import main
from kron_dynamics.symbolic import plain


def arm(*joints: str) -> str:
    """A chain of links, the first of which is the boom, on joints of the given names."""
    links = ['base', 'boom', *(f'link_{k}' for k in range(2, len(joints) + 1))]
    parts = [
        f"""<link name="{child}"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="{joint}" type="continuous"><parent link="{parent}"/><child link="{child}"/>
        <origin xyz="{k} 0 0"/><axis xyz="0 1 0"/></joint>"""
        for k, (joint, parent, child) in enumerate(zip(joints, links, links[1:], strict=False))
    ]
    return f'<robot name="arm"><link name="base"/>{"".join(parts)}</robot>'


@pytest.mark.parametrize(
    ('joint', 'name', 'latex'),
    [
        ('q1', 'q1_d', r'\dot{q}_{1}'),
        ('theta_2', 'theta_2_d', r'\dot{\theta}_{2}'),
        ('x', 'x_d', r'\dot{x}'),
        ('1', 'q_1_d', r'\dot{q}_{1}'),
        ('E', 'q_E_d', r'\dot{E}'),
        ('lambda', 'q_lambda_d', r'\dot{\lambda}'),
        ('shoulder-pan joint', 'shoulder_pan_joint_d', r'\dot{q}_{\mathrm{shoulder\_pan\_joint}}'),
    ],
)
def test_names_of_joints_become_symbols(joint: str, name: str, latex: str) -> None:
    robot = kd.loads(arm(joint)).symbolic
    assert str(robot.qd[0]) == name
    assert robot.latex(robot.qd[0]) == latex


def test_a_joint_named_like_a_parameter_is_not_taken_for_it() -> None:
    robot = kd.loads(arm('m_boom')).symbolic.with_parameters('symbolic')
    assert str(robot.q[0]) == 'm_boom'
    assert {str(symbol) for symbol in robot.values} >= {'m_boom_', 'c_boom_x'}
    g = robot.gravity_vector().simplified()[0]
    assert str(g) == '-c_boom_x*g*m_boom_*cos(m_boom)'


@pytest.mark.parametrize(
    'joints',
    [
        ('1', '2'),  # the names of an SO-100
        ('1', 'q1', 'q_1', '_1'),
        ('E', 'I', 'q_E'),
        ('lambda', 'in', 'gamma'),
        ('abs', 'S', 'pi', 'None'),
        ('2nd', 'x²', 'größe', '...'),
        ('q1.x', 'q1-x', 'q1_x'),
        ('a', 'a_d', 'a_dd'),
        ('a_d', 'a', 'tau_a'),
    ],
    ids=' '.join,
)
def test_equations_are_read_as_they_were_printed(joints: tuple[str, ...]) -> None:
    robot = kd.loads(arm(*joints), gravity=(0, 0, -10)).symbolic
    V = robot.potential_energy().expand()
    assert sympy.sympify(plain(V)) == V
    assert V.free_symbols <= set(robot.q)
    for symbol in robot.notation:
        assert sympy.sympify(str(symbol)) == eval(str(symbol), {str(symbol): symbol}) == symbol
    for order, symbols in enumerate((robot.qd, robot.qdd, robot.qddd), 1):
        assert [f'{x}_{"d" * order}' for x in robot.q] == list(map(str, symbols))
    assert len(set(robot.notation.values())) == len(robot.notation)


def test_names_that_are_no_symbols_are_explained(tmp_path: Any, capsys: Any) -> None:
    path = tmp_path / 'arm.urdf'
    path.write_text(arm('1', 'elbow'))
    assert main(['derive', str(path), '--quantity', 'V']) == 0
    header = capsys.readouterr().out.splitlines()[0]
    assert header == '# arm, coordinates q_1 (joint 1), elbow'
