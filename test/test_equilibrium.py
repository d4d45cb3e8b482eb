# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Links that bend without vibrating: against the tables of beams, and against balance itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import fsolve

import kron_dynamics as kd
from kron_dynamics.equilibrium import quasi_static_equilibria, quasi_static_equilibrium

pytestmark = pytest.mark.interpreted

LENGTH, LINE_MASS, TIP_MASS, GRAVITY = 4.0, 3.0, 50.0, 9.80665
# Turned about the vertical, then lifted; a mass at the end of the beam, and nothing else.
TEXT = f"""<robot name="crane"><link name="base"/>
  <link name="hub"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="slew" type="continuous"><parent link="base"/><child link="hub"/>
    <axis xyz="0 0 1"/></joint>
  <link name="beam"><inertial><mass value="{LINE_MASS * LENGTH}"/>
    <origin xyz="{LENGTH / 2} 0 0"/>
    <inertia ixx="0" iyy="{LINE_MASS * LENGTH**3 / 12}" izz="{LINE_MASS * LENGTH**3 / 12}"
      ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="lift" type="continuous"><parent link="hub"/><child link="beam"/>
    <axis xyz="0 -1 0"/></joint>
  <link name="load"><inertial><mass value="{TIP_MASS}"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="end" type="fixed"><parent link="beam"/><child link="load"/>
    <origin xyz="{LENGTH} 0 0"/></joint></robot>"""


def crane(stiffness: float, **modes: int) -> kd.Robot:
    """Return the crane with a beam of some bending stiffness, N m^2."""
    beam = {
        'length': LENGTH,
        'bending_stiffness': stiffness,
        'modes': modes,
        'mode_shapes': 'loaded',
    }
    return kd.loads(TEXT, flexible={'flexible_links': {'beam': beam}})


STIFFNESS = 4e5


@pytest.fixture(scope='module')
def stiff_crane(kernel_cache: Any) -> kd.Robot:
    return crane(STIFFNESS, v=1, w=2)


def tip(robot: kd.Robot, q: np.ndarray) -> np.ndarray:
    position: np.ndarray = robot.frame('load').pose(q)[:3, 3]
    return position


def test_sag_of_a_cantilever(stiff_crane: kd.Robot) -> None:
    """F L^3 / 3 E I under the load and rho g L^4 / 8 E I under its own weight."""
    weight, own = TIP_MASS * GRAVITY, LINE_MASS * GRAVITY
    sag = weight * LENGTH**3 / 3 / STIFFNESS + own * LENGTH**4 / 8 / STIFFNESS
    q = quasi_static_equilibrium(stiff_crane, [0.7, 0.0])
    assert -tip(stiff_crane, q)[2] == pytest.approx(sag, rel=1e-4)
    assert q[2] == pytest.approx(0.0, abs=1e-12)
    # A modal coordinate is the deflection that its mode gives the tip.
    assert -q[3:].sum() == pytest.approx(sag, rel=1e-4)


def test_lag_of_a_cantilever_that_is_slewed(stiff_crane: kd.Robot) -> None:
    """The load at L and the mass of the beam, which grows with x, lag behind the acceleration."""
    rate = 0.3
    load = TIP_MASS * rate * LENGTH * LENGTH**3 / 3 / STIFFNESS
    own = 11 * LINE_MASS * rate * LENGTH**5 / 120 / STIFFNESS
    q = quasi_static_equilibrium(stiff_crane, [0.0, 0.0], qdd=[rate, 0.0])
    # The section at the tip turns with the load, whose own inertia is small.
    assert q[2] == pytest.approx(-(load + own), rel=2e-3)


def test_modal_forces_balance_in_any_motion(
    stiff_crane: kd.Robot, rng: np.random.Generator, assert_close: Callable[..., None]
) -> None:
    q, qd, qdd = rng.uniform(-0.8, 0.8, (3, 2))
    bent = quasi_static_equilibrium(stiff_crane, q, qd, qdd)
    assert_close(bent[:2], q)
    rest = np.zeros(3)
    motion = [*qd, *rest], [*qdd, *rest]
    efforts = stiff_crane.inverse_dynamics(bent, *motion)
    assert_close(efforts[2:], rest, floor=np.abs(efforts).max())
    found = fsolve(lambda e: stiff_crane.inverse_dynamics([*q, *e], *motion)[2:], rest, xtol=1e-13)
    assert_close(bent[2:], found, rel=1e-9)
    for start in (bent[2:], found + 0.05):
        assert_close(
            quasi_static_equilibrium(stiff_crane, q, qd, qdd, start=start), bent, rel=1e-11
        )


@pytest.mark.parametrize('share', [0.93, 1.07])
def test_a_column_buckles_under_eulers_load(share: float) -> None:
    """pi^2 E I / 4 L^2; of the weight of the beam itself 0.3 count like a load on the tip."""
    load = (TIP_MASS + 0.3 * LINE_MASS * LENGTH) * GRAVITY
    robot = crane(load * 4 * LENGTH**2 / np.pi**2 / share, w=1)
    up, down = [0.2, np.pi / 2], [0.2, -np.pi / 2]
    assert quasi_static_equilibrium(robot, down)[2] == pytest.approx(0.0, abs=1e-9)
    if share < 1.0:
        assert quasi_static_equilibrium(robot, up)[2] == pytest.approx(0.0, abs=1e-9)
        return
    with pytest.raises(kd.ModelError, match=r"equilibrium .* 'crane' at q = \[0\.2, 1\.57"):
        quasi_static_equilibrium(robot, up)


def test_a_rigid_robot_has_its_q(assert_close: Callable[..., None]) -> None:
    q = np.array([0.3, -0.2])
    bent = quasi_static_equilibrium(kd.loads(TEXT), q, [1.0, 2.0])
    assert_close(bent, q)
    assert not np.shares_memory(bent, q)


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        ({'q': [0.1]}, r'q has shape \(1,\), expected \(2,\)'),
        ({'q': [0.1, 0.2], 'qd': np.zeros(5)}, r'qd has shape \(5,\), expected \(2,\)'),
        ({'q': [0.1, 0.2], 'start': np.zeros(2)}, r'start has shape \(2,\), expected \(3,\)'),
    ],
)
def test_wrong_shapes_are_named(
    stiff_crane: kd.Robot, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(kd.ShapeError, match=said):
        quasi_static_equilibrium(stiff_crane, **arguments)


@pytest.mark.parametrize('name', ['q', 'qd', 'qdd', 'start'])
@pytest.mark.parametrize('number', [np.nan, np.inf])
def test_what_is_not_finite_is_refused(stiff_crane: kd.Robot, name: str, number: float) -> None:
    arguments = {'q': [0.1, 0.2], name: [0.1, number, 0.0] if name == 'start' else [0.1, number]}
    with pytest.raises(kd.NonFiniteError, match=f'^{name} holds a NaN or an infinity'):
        quasi_static_equilibrium(stiff_crane, **arguments)


def test_a_motion_out_of_all_proportion_is_no_balance(stiff_crane: kd.Robot) -> None:
    with pytest.raises(kd.ModelError, match='no stable equilibrium'):
        quasi_static_equilibrium(stiff_crane, [0.1, 0.2], [1e200, 0.0])


@pytest.mark.parametrize('q', [None, 'down', [None, None], [True, False], [1j, 0]])
def test_positions_are_numbers(stiff_crane: kd.Robot, q: Any) -> None:
    with pytest.raises(kd.ArgumentTypeError, match='^q is or holds .*, expected real numbers'):
        quasi_static_equilibrium(stiff_crane, q)


@pytest.mark.parametrize('robot', [None, 'crane', kd.Robot])
def test_what_is_no_robot_is_refused(robot: Any) -> None:
    with pytest.raises(kd.ArgumentTypeError, match='^robot is .*, expected a Robot'):
        quasi_static_equilibrium(robot, [0.1, 0.2])


def test_a_batch_is_balanced_as_its_motions_are_one_by_one(
    stiff_crane: kd.Robot,
    rng: np.random.Generator,
    assert_close: Callable[..., None],
    request: pytest.FixtureRequest,
) -> None:
    q, qd, qdd = rng.uniform(-0.8, 0.8, (3, 20 if request.config.getoption('--long') else 6, 2))
    each = [quasi_static_equilibrium(stiff_crane, *motion) for motion in np.stack([q, qd, qdd], 1)]
    assert_close(quasi_static_equilibria(stiff_crane, q, qd, qdd), each, rel=1e-11)
    each = [quasi_static_equilibrium(stiff_crane, state) for state in q]
    assert_close(quasi_static_equilibria(stiff_crane, q), each, rel=1e-11)
    assert quasi_static_equilibria(stiff_crane, np.zeros((0, 2))).shape == (0, 5)
    rigid = quasi_static_equilibria(kd.loads(TEXT), q, qd)
    assert_close(rigid, q)


def test_steps_that_lead_too_far_do_not_spoil_a_batch(assert_close: Callable[..., None]) -> None:
    """A soft beam: Newton's first steps from the straight one are too long in some poses."""
    robot = crane(STIFFNESS / 25.0, w=1)
    q = np.column_stack([np.zeros(8), np.linspace(1.2, 2.0, 8)])
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', kd.ModelWarning)
        try:
            each = [quasi_static_equilibrium(robot, state) for state in q]
        except kd.ModelError as error:
            with pytest.raises(kd.ModelError) as found:
                quasi_static_equilibria(robot, q)
            assert str(found.value) == str(error)
            return
        assert_close(quasi_static_equilibria(robot, q), each, rel=1e-9)


def test_a_motion_without_balance_is_told_from_the_rest_of_a_batch(stiff_crane: kd.Robot) -> None:
    q, qd = np.full((3, 2), 0.2), np.zeros((3, 2))
    q[1, 0] = 0.3
    qd[1, 0] = 1e200
    with pytest.raises(kd.ModelError, match=r"equilibrium .* 'crane' at q = \[0\.3, 0\.2"):
        quasi_static_equilibria(stiff_crane, q, qd)


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        ({'q': [0.1, 0.2]}, r'q has shape \(2,\), expected \(N, 2\)'),
        ({'q': np.zeros((4, 3))}, r'q has shape \(4, 3\), expected \(N, 2\)'),
        ({'qd': np.zeros((3, 2))}, r'qd has shape \(3, 2\), expected \(4, 2\)'),
        ({'qdd': [0.1, 0.2]}, r'qdd has shape \(2,\), expected \(4, 2\)'),
    ],
)
def test_wrong_shapes_of_a_batch_are_named(
    stiff_crane: kd.Robot, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(kd.ShapeError, match=said):
        quasi_static_equilibria(stiff_crane, **{'q': np.zeros((4, 2)), **arguments})
