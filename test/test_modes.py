# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Maps of modes, against beams with a tip in closed form, pendulums and the linear model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.flexible import Beam
from kron_dynamics.linearized import LinearizedModel
from kron_dynamics.modes import (
    ModeMap,
    joint_map,
    joint_range,
    most_influential_joint,
    payload_map,
    pose,
)
from kron_dynamics.modes.mode_tracking import Vibrations
from kron_dynamics.modes.plot import plot_mode_map

pytestmark = pytest.mark.interpreted

ROOT = Path(__file__).parents[1]
STACKER = str(ROOT / 'urdf' / 'stacker_reclaimer.urdf')
FLEXIBLE = str(ROOT / 'config' / 'stacker_reclaimer_flexible.yaml')
LENGTH, MASS = 2.0, 1.5
# A beam of 2 m and 3 kg on a hinge across it, with a massless link at its tip.
ARM = f"""<robot name="arm"><link name="base"/>
<joint name="hinge" type="revolute"><parent link="base"/><child link="beam"/>
  <axis xyz="0 -1 0"/><limit lower="0.5" upper="1.5" velocity="1" effort="1"/></joint>
<link name="beam"><inertial><origin xyz="{LENGTH / 2} 0 0"/><mass value="{MASS * LENGTH}"/>
  <inertia ixx="0" iyy="{MASS * LENGTH**3 / 12}" izz="{MASS * LENGTH**3 / 12}"
    ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="mount" type="fixed"><parent link="beam"/><child link="tip"/>
  <origin xyz="{LENGTH} 0 0"/></joint><link name="tip"/></robot>"""
WEIGHTLESS = (0.0, 0.0, 0.0)


def arm_entry(stiffness: Any = None, **keys: Any) -> dict[str, Any]:
    return {
        'length': LENGTH,
        'mass_per_length': MASS,
        'bending_stiffness': stiffness or {'v': 40.0, 'w': 60.0},
        'modes': {'v': 1, 'w': 1},
        **keys,
    }


def arm(
    payload: Any = 0.0, gravity: Sequence[float] = WEIGHTLESS, stiffness: Any = None, **keys: Any
) -> kd.Robot:
    description = {'flexible_links': {'beam': arm_entry(stiffness, **keys)}}
    return kd.loads(ARM, flexible=description, gravity=gravity, payload={'tip': payload})


def cantilever(EI: float, mass: float, inertia: float = 0.0, count: int = 1) -> np.ndarray:
    return Beam(LENGTH, EI, MASS, mass, inertia).modes(count).natural_frequencies / (2 * np.pi)


def test_frequencies_of_a_cantilever_with_a_tip_mass() -> None:
    masses = [0.0, 0.7, 5.0]
    found = payload_map(lambda mass: arm(mass, modes={'v': 2, 'w': 2}), 'tip', masses)
    assert found.names == ('beam/v1', 'beam/v2', 'beam/w1', 'beam/w2')
    assert (found.parameter, found.unit) == ('payload at tip', 'kg')
    expected = [[*cantilever(40, m, 0, 2), *cantilever(60, m, 0, 2)] for m in masses]
    np.testing.assert_allclose(found.frequencies, expected, rtol=1e-6)


def test_frequencies_fall_with_the_payload_and_are_followed_through_a_crossing() -> None:
    """A mass above the tip's axis turns with the deflection w: only w1 feels its inertia."""
    masses = np.linspace(0, 3, 9)
    stiffness = {'v': 40.0, 'w': 50.0}
    found = payload_map(lambda mass: arm((mass, (0, 0, 0.9)), stiffness=stiffness), 'tip', masses)
    v1, w1 = found.frequencies.T
    assert v1[0] < w1[0] and v1[-1] > w1[-1]
    assert (np.diff(found.frequencies, axis=0) < 0).all()
    expected = [[*cantilever(40, m), *cantilever(50, m, 0.81 * m)] for m in masses]
    np.testing.assert_allclose(found.frequencies, expected, rtol=1e-6)


def test_modes_of_one_frequency_keep_their_damping() -> None:
    ratios = {'v': 0.01, 'w': 0.07}
    found = joint_map(arm(stiffness=50.0, damping_ratio=ratios), 'hinge', [0.6, 1.2])
    assert np.ptp(found.frequencies) < 1e-9
    np.testing.assert_allclose(found.damping_ratios, [[0.01, 0.07]] * 2, rtol=1e-6)


def vibrations(squares: Sequence[float], angle: float) -> Vibrations:
    c, s = np.cos(angle), np.sin(angle)
    return Vibrations(
        np.eye(2), np.diag([0.2, 0.6]), np.array(squares), np.array([[c, -s], [s, c]])
    )


@pytest.mark.parametrize('angle', [0.3, np.pi / 4, 2.0])
def test_mixed_shapes_of_one_frequency_are_sorted_out(angle: float) -> None:
    modes, after = vibrations([4.0, 4.0], angle).in_order_of(np.eye(2))
    np.testing.assert_allclose(modes.shapes, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(after, modes.shapes)
    np.testing.assert_allclose(modes.damping_ratios, [0.05, 0.15])


def test_a_point_in_the_middle_of_a_narrow_crossing_does_not_swap_what_follows() -> None:
    _, reference = vibrations([4.0, 5.0], 0.0).in_order_of(np.eye(2))
    _, reference = vibrations([4.0, 4.001], np.pi / 4 + 0.01).in_order_of(reference)
    np.testing.assert_array_equal(reference, np.eye(2))
    modes, _ = vibrations([3.0, 4.0], np.pi / 2).in_order_of(reference)
    assert modes.squares.tolist() == [4.0, 3.0]


def test_frequencies_and_damping_are_those_of_the_linear_model() -> None:
    robot = kd.load(STACKER, flexible=FLEXIBLE)
    at = {'slew': 0.5, 'travel': 30.0}
    values = np.linspace(-0.2, 0.2, 3)
    free = joint_map(robot, 'luff', values, at=at, free=True)
    held = joint_map(robot, 'luff', values, at=at)
    assert free.names == robot.joint_names
    assert held.names == ('boom/v1', 'boom/w1')
    for k, luff in enumerate(values):
        q = quasi_static_equilibrium(robot, [30.0, 0.5, luff])
        linear = robot.linearize(q, 0 * q, 0 * q)
        expected = linear.frequencies() / (2 * np.pi)
        np.testing.assert_allclose(np.sort(free.frequencies[k]), expected, rtol=1e-9, atol=1e-12)
        M, D, K = (x[3:, 3:] for x in (linear.mass, linear.damping, linear.stiffness))
        block = LinearizedModel(held.names, M, D, K, linear.effort[3:], *[q[3:]] * 3)
        poles = block.poles()[::2]
        order = np.argsort(held.frequencies[k])
        omega = 2 * np.pi * held.frequencies[k, order]
        np.testing.assert_allclose(omega, np.abs(poles), rtol=1e-6)
        ratios = -poles.real / np.abs(poles)
        np.testing.assert_allclose(held.damping_ratios[k, order], ratios, rtol=1e-3)


def test_viscous_damping_of_free_joints_counts_and_dry_friction_does_not() -> None:
    text = ARM.replace('<limit', '<dynamics damping="0.7" friction="30"/><limit')
    robot = kd.loads(
        text,
        flexible={'flexible_links': {'beam': arm_entry(damping_ratio=0.01)}},
        gravity=WEIGHTLESS,
        payload={'tip': 2.0},
    )
    found = joint_map(robot, 'hinge', [1.0], free=True)
    rest = np.zeros(3)
    linear = robot.linearize([1.0, 0.0, 0.0], rest, rest)
    D = linear.damping + np.diag([0.7, 0.0, 0.0])
    full = LinearizedModel(
        robot.joint_names, linear.mass, D, linear.stiffness, rest, rest, rest, rest
    )
    poles = full.poles()
    turning = poles[np.argmin(np.abs(poles.imag - 2 * np.pi * found.frequencies[0, 2]))]
    assert found.damping_ratios[0, 2] == pytest.approx(-turning.real / abs(turning), rel=0.02)
    held = joint_map(robot, 'hinge', [1.0])
    np.testing.assert_allclose(held.damping_ratios, 0.01, rtol=1e-3)
    without = Vibrations.of(linear, 0)
    assert found.damping_ratios[0, 2] > 1.5 * np.nanmax(without.damping_ratios)


def test_hanging_beam_is_stiffer_than_a_standing_one() -> None:
    robot = arm(gravity=(0, 0, -2.5))
    found = joint_map(robot, 'hinge', np.linspace(-np.pi / 2, np.pi / 2, 5))
    v1, w1 = found.frequencies.T
    assert (np.diff(v1) < 0).all()
    assert v1[0] > cantilever(40, 0)[0] > v1[-1]
    assert w1[0] > cantilever(60, 0)[0] > w1[-1]


def test_rigid_robot_swings_under_gravity_with_free_joints_only() -> None:
    robot = kd.loads(ARM, gravity=(0, 0, -9.80665))
    found = joint_map(robot, 'hinge', [-np.pi / 2, 0.0, np.pi / 2], free=True)
    swing = np.sqrt(9.80665 * 1.5 / LENGTH) / (2 * np.pi)  # a rod about its end
    np.testing.assert_allclose(found.frequencies, [[swing], [0], [-swing]], atol=1e-9)
    assert np.isnan(found.damping_ratios[1:]).all()
    assert found.damping_ratios[0, 0] == 0
    with pytest.raises(kd.ModelError, match="nothing vibrates: the links of 'arm' are rigid"):
        joint_map(robot, 'hinge', [0.0])


def test_joints_stand_at_zero_or_in_the_middle_of_their_range() -> None:
    model = kd.load(STACKER).model
    assert pose(model).tolist() == [0, 0, 0]
    assert pose(model, {'slew': 0.5}).tolist() == [0, 0.5, 0]
    assert pose(kd.loads(ARM).model).tolist() == [1.0]
    assert joint_range(kd.loads(ARM).model, 'hinge') == (0.5, 1.5)


def test_impossible_sweeps_are_refused() -> None:
    robot = arm()
    for joint, at, named in (
        ('nope', None, "joint 'nope' does not exist in model 'arm'; its joints: hinge"),
        ('beam/v1', None, "joint 'beam/v1' does not exist"),
        ('hinge', {'elbow': 0.0}, "joint 'elbow' does not exist"),
        ('hinge', {'hinge': 0.0}, "joint 'hinge' is swept, and at 0 as well"),
    ):
        with pytest.raises(kd.ParameterError, match=named):
            joint_map(robot, joint, [0.0], at=at)
    with pytest.raises(kd.ParameterError, match='finite'):
        joint_map(robot, 'hinge', [0.0, np.nan])
    with pytest.raises(kd.ShapeError, match='values has shape'):
        joint_map(robot, 'hinge', [])
    with pytest.raises(kd.ParameterError, match='is nan'):
        pose(robot.model, {'hinge': np.nan})
    endless = kd.loads(ARM.replace('revolute', 'continuous'))
    with pytest.raises(kd.ParameterError, match="joint 'hinge' has no limits"):
        joint_range(endless.model, 'hinge')
    with pytest.raises(kd.ParameterError, match="no joint of 'arm' is left"):
        most_influential_joint(endless, free=True)


def test_a_plot_shows_names_as_they_are(tmp_path: Path) -> None:
    """Matplotlib takes text between two $ for a formula, and hides labels that begin with _."""
    names = ('_left$a$/w1', 'x^2$boom$_1/w1')
    table = np.array([[1.0, 2.0], [1.5, 2.5]])
    found = ModeMap('slew$b_2$', 'rad', np.array([0.0, 1.0]), names, table, 0 * table)
    with matplotlib.rc_context({'svg.fonttype': 'none'}):
        plot_mode_map(found, tmp_path / 'map.svg', title='crane $1$')
    picture = (tmp_path / 'map.svg').read_text(encoding='utf-8')
    for text in (*names, 'slew$b_2$ [rad]', 'crane $1$'):
        assert f'>{text}<' in picture
