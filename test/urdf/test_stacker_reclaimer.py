# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The default machine: its URDF adds up, moves the right way and suits its drives."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

import kron_dynamics as kd

ROOT = Path(__file__).parents[2]
URDF = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
TREE = ET.parse(URDF).getroot()
JOINTS = ('travel', 'slew', 'luff')
MASSES = {
    'gantry': 245e3,
    'bogies': 43e3,
    'slew_deck': 267e3,
    'boom': 165e3,
    'boom_head': 60e3,
    'counterweight': 370e3,
}
STANDARD_GRAVITY = 9.80665
RATED_SPEED = np.array([0.5, 0.0083, 0.0014])
RATED_ACCELERATION = np.array([0.05, 0.0014, 0.0002])


def find(element: ET.Element, path: str) -> ET.Element:
    found = element.find(path)
    assert found is not None, f'{element.attrib} has no {path}'
    return found


def numbers(element: ET.Element, path: str, key: str) -> NDArray[np.float64]:
    return np.array([float(word) for word in find(element, path).attrib[key].split()])


def link(name: str) -> ET.Element:
    return find(TREE, f"link[@name='{name}']")


def joint(name: str) -> ET.Element:
    return find(TREE, f"joint[@name='{name}']")


def mass_and_inertia(name: str) -> tuple[float, NDArray[np.float64]]:
    mass = float(numbers(link(name), 'inertial/mass', 'value')[0])
    i = find(link(name), 'inertial/inertia').attrib
    rows = (('ixx', 'ixy', 'ixz'), ('ixy', 'iyy', 'iyz'), ('ixz', 'iyz', 'izz'))
    return mass, np.array([[float(i[key]) for key in row] for row in rows])


def origin_at_zero(name: str) -> NDArray[np.float64]:
    """Link origin in base axes at the zero pose, where no joint of this file turns the axes."""
    for element in TREE.findall('joint'):
        if find(element, 'child').attrib['link'] == name:
            assert not numbers(element, 'origin', 'rpy').any()
            parent = find(element, 'parent').attrib['link']
            return origin_at_zero(parent) + numbers(element, 'origin', 'xyz')
    return np.zeros(3)


def center_at_zero(name: str) -> NDArray[np.float64]:
    return origin_at_zero(name) + numbers(link(name), 'inertial/origin', 'xyz')


def poses() -> list[NDArray[np.float64]]:
    """Corners and middle of the range of slew and luff."""
    return [np.array(q) for q in product((300.0,), (-1.92, 0.4, 1.92), (-0.2094, 0.0, 0.2443))]


@pytest.fixture(scope='module')
def robot() -> kd.Robot:
    return kd.load(URDF)


@pytest.fixture(scope='module')
def oracle() -> tuple[Any, Any, Any]:
    """Pinocchio, its model and its data, with the same gravity."""
    pin = pytest.importorskip('pinocchio')
    model = pin.buildModelFromUrdf(str(URDF))
    model.gravity.linear = np.array([0.0, 0.0, -STANDARD_GRAVITY])
    return pin, model, model.createData()


def test_masses_add_up_to_the_published_total() -> None:
    massive = {e.attrib['name'] for e in TREE.findall('link') if e.find('inertial') is not None}
    assert massive == set(MASSES)
    for name, mass in MASSES.items():
        assert mass_and_inertia(name)[0] == mass
    assert sum(MASSES.values()) == 1150e3
    assert MASSES['boom'] + MASSES['boom_head'] == 225e3


@pytest.mark.parametrize('name', MASSES)
def test_inertia_is_that_of_the_drawn_solid(name: str) -> None:
    mass, inertia = mass_and_inertia(name)
    x, y, z = numbers(link(name), 'collision/geometry/box', 'size')
    expected = mass / 12 * np.diag([y**2 + z**2, x**2 + z**2, x**2 + y**2])
    np.testing.assert_allclose(inertia, expected, rtol=1e-12)
    for part in ('inertial/origin', 'collision/origin'):
        assert not numbers(link(name), part, 'rpy').any()
    np.testing.assert_array_equal(
        numbers(link(name), 'inertial/origin', 'xyz'),
        numbers(link(name), 'collision/origin', 'xyz'),
    )


@pytest.mark.parametrize('name', MASSES)
def test_inertia_belongs_to_a_real_body(name: str) -> None:
    principal = np.linalg.eigvalsh(mass_and_inertia(name)[1])
    assert principal[0] > 0
    assert principal[2] < principal[0] + principal[1]


@pytest.mark.parametrize(
    ('name', 'kind', 'axis', 'lower', 'upper', 'velocity', 'effort'),
    [
        ('travel', 'prismatic', (1, 0, 0), 0.0, 600.0, 0.5, 0.6e6),
        ('slew', 'revolute', (0, 0, 1), -1.92, 1.92, 0.0083, 5e6),
        ('luff', 'revolute', (0, -1, 0), np.deg2rad(-12), np.deg2rad(14), 0.0014, 20e6),
    ],
)
def test_axis_and_limits(
    name: str,
    kind: str,
    axis: tuple[int, int, int],
    lower: float,
    upper: float,
    velocity: float,
    effort: float,
) -> None:
    assert joint(name).attrib['type'] == kind
    np.testing.assert_array_equal(numbers(joint(name), 'axis', 'xyz'), axis)
    limit = {key: float(value) for key, value in find(joint(name), 'limit').attrib.items()}
    expected = {'lower': lower, 'upper': upper, 'velocity': velocity, 'effort': effort}
    assert limit == pytest.approx(expected, rel=1e-12)


def test_travel_friction_is_half_a_percent_of_the_weight() -> None:
    friction = numbers(joint('travel'), 'dynamics', 'friction')[0]
    assert friction == pytest.approx(0.005 * 1150e3 * STANDARD_GRAVITY, rel=1e-3)


def test_model_is_what_the_file_says(robot: kd.Robot) -> None:
    model = robot.model
    assert model.joint_names == JOINTS
    assert (model.root_link, model.tip_link) == ('rail', 'bucket_wheel')
    assert model.total_mass == 1150e3
    np.testing.assert_array_equal(model.velocity_limit, RATED_SPEED)


def test_wheel_is_60_m_ahead_and_14_m_up_at_zero(robot: kd.Robot) -> None:
    np.testing.assert_array_equal(origin_at_zero('bucket_wheel'), [60, 0, 14])
    pose = robot.frame('bucket_wheel').pose(np.zeros(3))
    np.testing.assert_allclose(pose[:3, 3], [60, 0, 14], atol=1e-12)


def test_each_joint_moves_the_wheel_as_rep_103_says(robot: kd.Robot) -> None:
    jacobian = robot.frame('bucket_wheel').jacobian(np.zeros(3))
    # Travel forward, slew to the left, luff up; the wheel is 60 m from both axes of rotation.
    np.testing.assert_allclose(jacobian[:3], np.diag([1.0, 60.0, 60.0]), atol=1e-12)
    np.testing.assert_allclose(jacobian[3:].T, [[0, 0, 0], [0, 0, 1], [0, -1, 0]], atol=1e-12)


def test_slew_inertia_with_the_boom_level(robot: kd.Robot) -> None:
    inertia = 0.0
    for name in ('slew_deck', 'boom', 'boom_head', 'counterweight'):
        mass, about_center = mass_and_inertia(name)
        x, y, _ = center_at_zero(name)
        inertia += about_center[2, 2] + mass * (x**2 + y**2)
    assert inertia == pytest.approx(5.9e8, rel=0.05)
    assert robot.mass_matrix(np.zeros(3))[1, 1] == pytest.approx(inertia, rel=1e-12)


def test_counterweight_outweighs_the_empty_boom_by_three_percent(robot: kd.Robot) -> None:
    pivot = origin_at_zero('boom')
    moments = {
        name: MASSES[name] * (center_at_zero(name) - pivot)[0]
        for name in ('boom', 'boom_head', 'counterweight')
    }
    boom = moments['boom'] + moments['boom_head']
    assert boom == pytest.approx(8.43e6, rel=1e-9)
    residual = -moments['counterweight'] - boom
    assert residual / boom == pytest.approx(0.03, abs=0.001)
    gravity = robot.gravity_vector(np.zeros(3))
    np.testing.assert_allclose(gravity, [0, 0, -residual * STANDARD_GRAVITY], rtol=1e-12)


@pytest.mark.parametrize('q', poses())
def test_boom_without_luff_drive_rises_and_stays_within_the_drive(
    robot: kd.Robot, q: NDArray[np.float64]
) -> None:
    assert -4e6 < robot.gravity_vector(q)[2] < -1e6


@pytest.mark.parametrize('q', poses())
def test_drives_suffice_for_rated_acceleration_at_rated_speed(
    robot: kd.Robot, q: NDArray[np.float64]
) -> None:
    scale = config()['dynamics_node']['effort_limit_scale']
    for signs in product((-1.0, 1.0), repeat=3):
        qd, qdd = RATED_SPEED * signs, RATED_ACCELERATION * signs
        effort = robot.inverse_dynamics(q, qd, qdd) + robot.joint_friction(qd)
        assert np.all(abs(effort) < 0.5 * scale * robot.model.effort_limit)


@pytest.mark.parametrize('q', poses())
def test_equations_agree_with_pinocchio(
    robot: kd.Robot, oracle: tuple[Any, Any, Any], q: NDArray[np.float64]
) -> None:
    pin, model, data = oracle
    qd, qdd = RATED_SPEED, -RATED_ACCELERATION
    upper = np.triu(pin.crba(model, data, q))
    expected = upper + np.triu(upper, 1).T
    # Entries differ in unit and size, so each is measured against sqrt(M_ii M_jj).
    size = np.sqrt(np.outer(expected.diagonal(), expected.diagonal()))
    assert abs((robot.mass_matrix(q) - expected) / size).max() < 1e-12
    effort = pin.rnea(model, data, q, qd, qdd)
    np.testing.assert_allclose(robot.inverse_dynamics(q, qd, qdd), effort, rtol=1e-10)
    qddd = RATED_ACCELERATION / 2
    by_position, by_rate, _ = pin.computeRNEADerivatives(model, data, q, qd, qdd)
    rate = expected @ qddd + by_rate @ qdd + by_position @ qd
    found = robot.inverse_dynamics_rate(q, qd, qdd, qddd)
    np.testing.assert_allclose(found, rate, rtol=1e-10, atol=1e-10 * abs(rate).max())


def config() -> dict[str, Any]:
    """The parameters of each node in the machine's parameter file."""
    text = (ROOT / 'config' / 'stacker_reclaimer.yaml').read_text()
    return {
        key.removeprefix('/**/'): section['ros__parameters']
        for key, section in yaml.safe_load(text).items()
    }


def test_parameter_file_names_every_joint_and_no_other() -> None:
    per_joint = {
        'dynamics_node': ('gains', 'reference_start_tolerance', 'effort_rate_limit'),
        'simulator_node': (
            'initial_position',
            'position_resolution',
            'position_noise',
            'velocity_noise',
            'effort_noise',
        ),
    }
    for node, keys in per_joint.items():
        for key in keys:
            assert tuple(config()[node][key]) == JOINTS, f'{node} {key}'


@pytest.mark.parametrize('name', JOINTS)
def test_gains_are_critically_damped_and_below_the_boom_mode(name: str) -> None:
    gains = config()['dynamics_node']['gains'][name]
    bandwidth = np.sqrt(gains['kp'])
    assert gains['kd'] == pytest.approx(2 * bandwidth, rel=1e-12)
    assert 1.0 <= bandwidth < 2 * np.pi * 0.8 / 3


def test_simulation_starts_inside_the_limits(robot: kd.Robot) -> None:
    start = config()['simulator_node']['initial_position']
    q = np.array([start[name] for name in JOINTS])
    assert np.all(q > robot.model.position_lower)
    assert np.all(q < robot.model.position_upper)


def test_tip_of_the_parameter_file_is_the_wheel() -> None:
    tip = config()['dynamics_node']['tip_frame']
    np.testing.assert_array_equal(origin_at_zero(tip), [60, 0, 14])
