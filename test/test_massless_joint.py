# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A joint that moves no mass: what needs the inverse of M names it, all else works."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hurried_compiler import hurry

import kron_dynamics as kd
from kron_dynamics import dynamics
from kron_dynamics.cli import main
from kron_dynamics.simulation import Plant

pytestmark = pytest.mark.interpreted

ARM = (Path(__file__).parent / 'robots' / 'planar_2r.urdf').read_text(encoding='utf-8')
# A last joint for a tool that is not there, as arms are often described.
BARE = ARM.replace(
    '</robot>',
    '<link name="flange"/><joint name="wrist" type="continuous"><parent link="hand"/>'
    '<child link="flange"/><axis xyz="0 0 1"/></joint></robot>',
)
NAMED = r"joint 'wrist'"


@pytest.fixture(scope='module')
def robot() -> kd.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', kd.ModelWarning)
        return kd.loads(BARE)


@pytest.fixture(scope='module')
def whole() -> kd.Robot:
    return kd.loads(ARM)


def test_all_else_is_that_of_the_robot_without_the_joint(
    robot: kd.Robot, whole: kd.Robot, assert_close: Any
) -> None:
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 3))
    robot.prepare('flange')
    few = slice(0, 2)
    assert_close(robot.mass_matrix(q)[few, few], whole.mass_matrix(q[few]))
    assert (robot.mass_matrix(q)[2] == 0).all()
    tau = robot.inverse_dynamics(q, qd, qdd)
    assert_close(tau[few], whole.inverse_dynamics(q[few], qd[few], qdd[few]))
    assert tau[2] == 0
    C = robot.velocity_free_coriolis_matrix(q).reshape(3, 3, 3)[few, few, few]
    assert_close(C.reshape(2, 4), whole.velocity_free_coriolis_matrix(q[few]))
    assert_close(robot.gravity_vector(q)[few], whole.gravity_vector(q[few]))
    assert robot.frame('flange').jacobian(q)[5].tolist() == [1, 1, 1]
    terms = robot.linearization(q, qd, qdd)
    assert_close(terms[0][few, few], whole.linearization(q[few], qd[few], qdd[few])[0])


@pytest.mark.parametrize(
    'quantity',
    [
        lambda robot: robot.forward_dynamics,  # refused when the kernel is fetched, once
        lambda robot: robot.forward_dynamics(*np.zeros((3, 3))),
        lambda robot: dynamics.forward_dynamics(robot.model, *np.zeros((3, 3))),
        lambda robot: robot.linearize(*np.zeros((3, 3))).state_space(),
        lambda robot: robot.linearize(*np.zeros((3, 3))).poles(),
        lambda robot: robot.linearize(*np.zeros((3, 3))).modes(),
        lambda robot: robot.linearize(*np.zeros((3, 3))).frequencies(),
        lambda robot: robot.linearize(*np.zeros((3, 3))).damping_ratios(),
        lambda robot: Plant(robot, np.zeros(3)),
    ],
)
def test_what_needs_the_inverse_names_the_joint(quantity: Any, robot: kd.Robot) -> None:
    with pytest.raises(kd.InvalidInertiaError, match=NAMED):
        quantity(robot)


@pytest.mark.compiled
def test_kernel_in_the_cache_does_not_let_it_pass(robot: kd.Robot) -> None:
    # The same numbers with a rotor: its kernel is another. Without one, none is ever made.
    kd.loads(BARE, armature={'wrist': 0.1}, strict=True).forward_dynamics(*np.zeros((3, 3)))
    with pytest.raises(kd.InvalidInertiaError, match=NAMED):
        robot.forward_dynamics(*np.zeros((3, 3)))
    assert 'forward_dynamics' not in {report.name for report in robot.kernel_report()}


def test_other_joints_have_modes_while_it_is_held(robot: kd.Robot, assert_close: Any) -> None:
    near = robot.linearize(*np.zeros((3, 3)))
    assert np.isfinite(near.part([0, 1]).poles()).all()


def test_joints_that_turn_about_one_axis_are_seen_in_the_numbers(assert_close: Any) -> None:
    """M has no zero on its diagonal, and yet no inverse."""
    moved = ARM.replace(
        '</robot>',
        '<link name="a"/><joint name="first" type="continuous"><parent link="hand"/>'
        '<child link="a"/><axis xyz="0 0 1"/></joint>'
        '<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link><joint name="second" type="continuous">'
        '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>',
    )
    robot = kd.loads(moved)
    near = robot.linearize(*np.zeros((3, 4)))
    still = np.zeros(4)
    for quantity in (
        near.poles,
        near.frequencies,
        near.state_space,
        lambda: robot.forward_dynamics(still, still, still),
    ):
        with pytest.raises(kd.InvalidInertiaError, match=r"joint '(first|second)'"):
            quantity()
    # The rest is prepared, and forward dynamics alone left out.
    robot.prepare('b')
    assert_close(robot.mass_matrix(still), dynamics.mass_matrix(robot.model, still))


BLOCK = """
<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
</link>
"""
SLIDES = f"""<robot name="slides"><link name="base"/><link name="a"/><link name="b">{BLOCK}
<joint name="one" type="prismatic"><parent link="base"/><child link="a"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="two" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


@pytest.mark.compiled
def test_slides_on_one_line_have_no_forward_dynamics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their rounding left infinities once, or a compiler that was blamed."""
    hurry(monkeypatch)
    for text in (SLIDES, SLIDES.replace('prismatic', 'revolute')):
        robot = kd.loads(text)
        robot.prepare('b')
        with pytest.raises(kd.InvalidInertiaError, match=r"joint '(one|two)' can move against"):
            robot.forward_dynamics([0, 0], [0, 0], [1, 0])
        cured = kd.loads(text, armature={'one': 0.5})
        assert np.isfinite(cured.forward_dynamics([0, 0], [0, 0], [1, 0])).all()


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / 'bare.urdf'
    path.write_text(BARE, encoding='utf-8')
    assert main(['info', str(path)]) == 0
    shown = capsys.readouterr()
    assert "warning  joint 'wrist': it moves no mass" in shown.out
    assert 'check    mass matrix: singular' in shown.out
    assert shown.err == ''
    assert main(['modes', str(path), '--joints', 'free', '--points', '2']) == 1
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("kron_dynamics: warning: robot 'planar_2r': 1 warning")
    assert "error: joint 'wrist'" in told[-1]


@pytest.mark.parametrize('kind', ['prismatic', 'revolute'])
def test_commands_tell_of_joints_that_move_mass_together_alone(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / 'slides.urdf'
    carried = SLIDES.replace('<link name="a"/>', '<link name="a">' + BLOCK)
    for text, is_singular in ((SLIDES, True), (carried, False)):
        path.write_text(text.replace('prismatic', kind), encoding='utf-8')
        assert main(['info', str(path)]) == 0
        shown = capsys.readouterr().out
        assert ('positive definite' not in shown) == is_singular
        assert ("mass matrix: singular, no forward dynamics: joint '" in shown) == is_singular
        assert main(['check', str(path), '--strict']) == 0  # as with the load that is strict
        shown = capsys.readouterr().out
        assert ('it can move against others' in shown) == is_singular
