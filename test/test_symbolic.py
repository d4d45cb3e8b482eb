# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Closed forms: equal to the equations on floats, exact, readable, and short on request."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import kron_dynamics as kd
from kron_dynamics import dynamics, kinematics
from kron_dynamics.kronecker import khang_derivative
from kron_dynamics.model import load_model
from kron_dynamics.symbolic import SymbolicMatrix, SymbolicRobot, simplification, simplified
from kron_dynamics.symbolic.matrix import exact_expression

STACKER = Path(__file__).parents[1] / 'urdf' / 'stacker_reclaimer.urdf'
BOTH = ('numeric', 'symbolic')
# Methods of Robot and RobotFrame that are no quantities, or have no closed form of their own.
NO_QUANTITY = {
    'check_deflections',
    'frame',
    'kernel_report',
    'linearize',
    'prepare',
    'relative_to',
    'tree_coordinates',
    'tree_rates',
}
# In one call what other methods give one by one.
TOGETHER = {'control_step'}


def closed_forms(robot: SymbolicRobot, link: str) -> dict[str, Any]:
    """Every closed form of a robot and of one of its links, not simplified."""
    forms = {}
    for owner, prefix in ((robot, ''), (robot.frame(link), 'frame.')):
        for name in quantities(kd.RobotFrame if prefix else kd.Robot):
            form = getattr(owner, name)()
            if isinstance(form, tuple):
                forms |= {f'{name}.{field}': part for field, part in form._asdict().items()}
            else:
                forms[prefix + name] = form
    return forms


def quantities(owner: type) -> list[str]:
    """Names of the methods that give a quantity."""
    return [
        name
        for name, _ in inspect.getmembers(owner, callable)
        if not name.startswith('_') and name not in NO_QUANTITY | TOGETHER
    ]


FUNCTIONS = {sympy.sin: np.sin, sympy.cos: np.cos, sympy.tanh: np.tanh}


def numbers(robot: SymbolicRobot, form: Any, **arrays: Any) -> Any:
    """A closed form at a state, float array; equal parts are evaluated once."""
    known = {symbol: float(value) for symbol, value in robot.values.items()}
    for name, array in arrays.items():
        known |= dict(zip(getattr(robot, name), map(float, array), strict=True))

    def value(node: Any) -> float:
        if node not in known:
            if node.is_Number or node is sympy.pi:
                known[node] = float(node)
            elif node.is_Add:
                known[node] = sum(map(value, node.args))
            elif node.is_Pow:
                known[node] = value(node.base) ** float(node.exp)
            elif node.is_Mul:
                known[node] = np.prod([value(factor) for factor in node.args])
            else:
                known[node] = FUNCTIONS[node.func](value(node.args[0]))
        return known[node]

    entries = list(form) if isinstance(form, sympy.MatrixBase) else [form]
    return np.array([value(entry) for entry in entries])


def nodes(form: Any) -> set[Any]:
    """All parts of a closed form, each of which is looked at once."""
    found: set[Any] = set()
    new = list(form) if isinstance(form, sympy.MatrixBase) else [form]
    while new:
        node = new.pop()
        if node not in found:
            found.add(node)
            new += node.args
    return found


@pytest.fixture(scope='module')
def stacker() -> SymbolicRobot:
    return kd.load(STACKER).symbolic


@pytest.fixture(scope='module')
def planar(robot_text: Any) -> SymbolicRobot:
    return kd.loads(robot_text('planar_2r'), gravity=(0, -9.81, 0)).symbolic


@pytest.mark.parametrize(
    ('name', 'parameters'),
    [
        ('planar_2r', 'numeric'),
        ('planar_2r', 'symbolic'),
        pytest.param('gripper', 'symbolic', marks=pytest.mark.long),
        pytest.param('screws', 'symbolic', marks=pytest.mark.long),
    ],
)
def test_every_quantity_is_that_of_the_floats(
    robot_text: Any, name: str, parameters: str, rng: np.random.Generator, assert_close: Any
) -> None:
    armature = {'shoulder': 0.3} if name == 'planar_2r' else None
    model = load_model(robot_text(name), gravity=(1.0, -9.0, 2.0), armature=armature)
    robot, link = SymbolicRobot(model, parameters), model.tip_link
    arrays = {
        key: rng.uniform(-1.2, 1.2, len(getattr(robot, key)))
        for key in ('q', 'qd', 'qdd', 'qddd', 'tau', 'tau_rate', 'force', 'moment')
    }
    q, qd, qdd, qddd, tau, tau_rate, force, moment = arrays.values()
    expected = {
        'forward_dynamics': dynamics.forward_dynamics(model, q, qd, tau),
        'forward_jerk': dynamics.forward_jerk(model, q, qd, tau, tau_rate),
        'inertial_parameters': dynamics.inertial_parameters(model),
        'joint_friction': dynamics.joint_friction(model, qd),
        'frame.pose': kinematics.forward_kinematics(model, q, link),
        'frame.velocity': kinematics.frame_velocity(model, q, qd, link),
        'frame.acceleration': kinematics.frame_acceleration(model, q, qd, qdd, link),
        'frame.jerk': kinematics.frame_jerk(model, q, qd, qdd, qddd, link),
        'frame.external_wrench': dynamics.external_wrench(
            model, q, link, force, moment, axes=model.root_link
        ),
    }
    terms = dynamics.linearization(model, q, qd, qdd)._asdict()
    expected |= {f'linearization.{name}': term for name, term in terms.items()}
    states: dict[str, tuple[Any, ...]] = {'qdd': (q, qd, qdd), 'qd': (q, qd), 'q': (q,)}
    states['qddd'] = q, qd, qdd, qddd
    takes = dict.fromkeys(('inverse_dynamics', 'regressor', 'acceleration_energy'), 'qdd')
    takes |= dict.fromkeys(('inverse_dynamics_rate', 'second_order_acceleration_energy'), 'qddd')
    takes |= dict.fromkeys(('coriolis_matrix', 'coriolis_vector', 'bias_forces'), 'qd')
    takes |= {'kinetic_energy': 'qd', 'frame.jacobian_dot': 'qd'}
    for quantity, form in closed_forms(robot, link).items():
        if quantity not in expected:
            state = states[takes.get(quantity, 'q')]
            if quantity.startswith('frame.'):
                function = getattr(kinematics, quantity.removeprefix('frame.'))
                expected[quantity] = function(model, *state, link)
            else:
                expected[quantity] = getattr(dynamics, quantity)(model, *state)
        assert_close(
            numbers(robot, form, **arrays), np.ravel(expected[quantity]), 1e-11, floor=1e-9
        )
        if isinstance(form, SymbolicMatrix):
            shape = np.shape(expected[quantity])
            assert form.shape == (shape if len(shape) == 2 else (*shape, 1))


@settings(max_examples=3)
@given(data=st.data())
def test_random_trees_with_axes_and_frames_askew(
    random_robots: Any, assert_close: Any, data: Any
) -> None:
    model, state = data.draw(random_robots.filter(lambda drawn: drawn[0].n <= 2))
    for parameters in BOTH:
        robot = SymbolicRobot(model, parameters)
        arrays = {'q': state.q, 'qd': state.qd, 'qdd': state.qdd}
        tau = dynamics.inverse_dynamics(model, *arrays.values())
        form = robot.inverse_dynamics().simplified()
        assert_close(numbers(robot, form, **arrays), tau, 1e-10, floor=1e-3)
        C = dynamics.velocity_free_coriolis_matrix(model, state.q)
        form = robot.velocity_free_coriolis_matrix().simplified()
        assert_close(numbers(robot, form, **arrays), C.ravel(), 1e-10, floor=1e-3)


def test_planar_2r_is_the_textbooks_exactly(planar: SymbolicRobot) -> None:
    half, quarter, eighth = (sympy.Rational(1, k) for k in (2, 4, 8))
    elbow = planar.q[1]
    m12 = 2 * (quarter**2 + quarter * sympy.cos(elbow)) + eighth
    m11 = 4 * half**2 + half + 2 * (1 + quarter**2 + 2 * quarter * sympy.cos(elbow)) + eighth
    textbook = sympy.Matrix([[m11, m12], [m12, 2 * quarter**2 + eighth]])
    assert (planar.mass_matrix().simplified() - textbook).expand() == sympy.zeros(2, 2)


def test_laws_hold_exactly_with_axes_and_frames_askew(robot_text: Any) -> None:
    # Rounded rotations would leave terms of 1e-16 in all of these.
    robot = kd.loads(robot_text('spatial_3r')).symbolic
    frame, q, n = robot.frame(robot.model.tip_link), robot.q, robot.n
    R = frame.pose()[:3, :3]
    assert simplified(R * R.T) == sympy.eye(3)
    V = robot.potential_energy()
    g = sympy.Matrix([V.diff(x) for x in q])
    assert simplified(robot.gravity_vector() - g) == sympy.zeros(n, 1)


@pytest.mark.long  # test_tuan_2019 has a Hessian with an axis askew in exact numbers
def test_hessian_is_exactly_the_derivative_with_axes_and_frames_askew(robot_text: Any) -> None:
    robot = kd.loads(robot_text('spatial_3r')).symbolic
    frame, n = robot.frame(robot.model.tip_link), robot.n
    H = sympy.Matrix(khang_derivative(frame.jacobian().tolist(), robot.q))
    assert simplified(frame.kinematic_hessian() - H) == sympy.zeros(6, n * n)


def test_mdot_minus_2c_is_exactly_skew(robot_text: Any) -> None:
    robot = kd.loads(robot_text('rrp')).symbolic
    M = robot.mass_matrix().simplified()
    assert M == M.T
    M_dot = sum((M.diff(x) * rate for x, rate in zip(robot.q, robot.qd, strict=True)), 0 * M)
    defect = M_dot - 2 * robot.coriolis_matrix()
    assert simplified(defect + defect.T) == sympy.zeros(3, 3)


def test_symbols_give_the_numbers_back_exactly(stacker: SymbolicRobot) -> None:
    general = stacker.with_parameters('symbolic')
    for name in ('mass_matrix', 'velocity_free_coriolis_matrix', 'inverse_dynamics'):
        form = getattr(general, name)().simplified()
        difference = form.subs(dict(general.values)) - getattr(stacker, name)()
        assert simplified(difference) == sympy.zeros(*form.shape), name


def test_parameters_are_named_after_links_and_joints(stacker: SymbolicRobot) -> None:
    values = {
        str(symbol): value for symbol, value in stacker.with_parameters('symbolic').values.items()
    }
    assert values['m_slew_deck'] == 267000
    assert values['c_slew_deck_x'] == -sympy.Rational(1, 2)
    assert values['I_slew_deck_zz'] == 6586000
    assert values['l_luff_z'] == 5
    assert values['p_bucket_wheel_x'] == 60
    assert values['g'] == sympy.Rational('9.80665')
    assert 'd_slew' in values
    assert 'f_luff' in values
    # What is 0 in the URDF stays 0, and lumping leaves no rounding behind.
    assert not {'c_slew_deck_y', 'I_slew_deck_xy', 'l_luff_x', 'a_slew'} & set(values)
    assert values['m_boom'] * values['c_boom_x'] == -253900
    assert stacker.values == {}


def test_links_of_a_body_count_singly_and_exactly(stacker: SymbolicRobot) -> None:
    """The sum over links in a uniform field is the gravity of their bodies, to the last digit."""
    link = next(body.parts[-1].links[0] for body in stacker.model.bodies if body.parts)
    uniform = dynamics.FieldOf(lambda c: stacker.model.gravity + 0 * c)
    forces = stacker.evaluate(dynamics.field_forces, stacker.q, uniform)
    assert simplified(forces + stacker.gravity_vector()) == sympy.zeros(stacker.n, 1)
    push = dynamics.Wrench(link, (0, 0, 1))
    for function, acting in ((dynamics.field_forces, uniform), (dynamics.wrench_forces, [push])):
        plain = function(stacker.model, np.array(stacker.q, dtype=object), acting)
        assert not any(node.is_Float for entry in plain for node in nodes(sympy.sympify(entry)))


def test_gravity_off_the_axes_has_components(robot_text: Any) -> None:
    robot = kd.loads(robot_text('planar_2r'), gravity=(1, 0, -9)).symbolic
    values = robot.with_parameters('symbolic').values
    gravity = {str(s): value for s, value in values.items() if str(s).startswith('g')}
    assert gravity == {'g_x': 1, 'g_z': -9}


def test_entries_are_exact_and_print_without_litter(stacker: SymbolicRobot) -> None:
    for form in closed_forms(stacker, 'bucket_wheel').values():
        assert not any(node.is_Float for node in nodes(form))
    text = str(stacker.mass_matrix().simplified())
    assert '1150000, (-370000*sin(luff) + 253900*cos(luff) + 133500)*sin(slew)' in text
    assert '17367800*sin(luff)*cos(luff)' in text
    pose = str(stacker.frame('rail').pose())
    assert pose == 'Matrix([\n[1, 0, 0, 0],\n[0, 1, 0, 0],\n[0, 0, 1, 0],\n[0, 0, 0, 1]])'


def test_decimals_are_shown_and_short_fractions_stay(planar: SymbolicRobot) -> None:
    x = planar.q[0]
    form = SymbolicMatrix.of(np.array([x / 2, 0.1 * x, x / 3 - 3.125, 2.0 * x]), {})
    assert form[1] == x / 10
    assert form[3] == 2 * x
    text = str(form).replace('shoulder', 'x')
    assert text == 'Matrix([\n[x/2],\n[0.1*x],\n[x/3 - 3.125],\n[2*x]])'


def test_latex_writes_joints_as_indices_and_rates_with_dots(stacker: SymbolicRobot) -> None:
    general = stacker.with_parameters('symbolic')
    latex = general.coriolis_vector().simplified().latex()
    for text in (r'\dot{q}_{\mathrm{slew}}', r'q_{\mathrm{luff}}', r'm_{\mathrm{boom}}'):
        assert text in latex
    assert r'c_{\mathrm{boom},x}' in latex
    assert stacker.latex(stacker.qdd[0]) == r'\ddot{q}_{\mathrm{travel}}'
    assert stacker.latex(stacker.tau[0]) == r'\tau_{\mathrm{travel}}'
    assert stacker.gravity_vector()._repr_latex_().startswith(r'$\displaystyle \left[')
    assert '3628460.5' in stacker.gravity_vector().simplified().latex()


def test_several_results_come_as_the_function_gives_them(planar: SymbolicRobot) -> None:
    """Named tuples in named tuples, and tuples without names."""
    terms = planar.evaluate(dynamics.linearization_terms, planar.q, planar.qd, planar.qdd)
    assert isinstance(terms.inertia.by_y, SymbolicMatrix)
    M, (g, V) = planar.evaluate(
        lambda model, q: (
            dynamics.mass_matrix(model, q),
            (dynamics.gravity_vector(model, q), dynamics.potential_energy(model, q)),
        ),
        planar.q,
    )
    assert (M, g, V) == (planar.mass_matrix(), planar.gravity_vector(), planar.potential_energy())
    assert simplified(terms.inertia.by_y - M) == sympy.zeros(2, 2)


def test_unknown_names_are_refused(stacker: SymbolicRobot) -> None:
    with pytest.raises(kd.UnknownFrameError, match="'nowhere'"):
        stacker.frame('nowhere')
    with pytest.raises(kd.ParameterError, match="'letters', expected one of numeric, symbolic"):
        stacker.with_parameters('letters')


X, Y, Z, A, B = sympy.symbols('x y z a b')
SIN, COS = sympy.sin, sympy.cos


@pytest.mark.parametrize(
    ('expression', 'short'),
    [
        (SIN(X) ** 2 + COS(X) ** 2, 1),
        (A - A * COS(X) ** 2, A * SIN(X) ** 2),
        (A * COS(X) * COS(Y) - A * SIN(X) * SIN(Y), A * COS(X + Y)),
        (COS(X) * COS(Y) + SIN(X) * SIN(Y), COS(X - Y)),
        (SIN(X) * COS(Y) + COS(X) * SIN(Y), SIN(X + Y)),
        (SIN(X) * COS(Y) - COS(X) * SIN(Y), SIN(X - Y)),
        (SIN(X + Y + Z).expand(trig=True), SIN(X + Y + Z)),
        (((A * COS(X) + COS(X + Y)) ** 2).expand(trig=True), (A * COS(X) + COS(X + Y)) ** 2),
        (COS(X + Y) + SIN(X) * SIN(Y) - COS(X) * COS(Y), 0),
        (COS(2 * X - Y) - COS(2 * X) * COS(Y) - SIN(2 * X) * SIN(Y), 0),
        (COS(X) * COS(3 * X) - SIN(X) * SIN(3 * X) - COS(4 * X), 0),
        (COS(X + Y) * COS(X) * COS(Y) + COS(X + Y) ** 2, None),
        (SIN(3 * X / 2 - 0.16) ** 2 + COS(3 * X / 2 - 0.16) ** 2 + A, A + 1),
        (A * B * SIN(X) + A * SIN(X), A * (B + 1) * SIN(X)),
        ((A + 1) ** 2 - A**2 - 2 * A - 1, 0),
        (1 / (SIN(X) ** 2 + COS(X) ** 2 + A), 1 / (1 + A)),
        (sympy.tanh(X + X * 0 + SIN(Y) ** 2 + COS(Y) ** 2), sympy.tanh(X + 1)),
        ((sympy.sqrt(2) * SIN(X) + sympy.sqrt(6)) ** 2, None),
        (sympy.sqrt(A) * SIN(X) ** 2 + sympy.sqrt(A) * COS(X) ** 2, sympy.sqrt(A)),
        (A / sympy.sqrt(A + SIN(X) ** 2 + COS(X) ** 2), A / sympy.sqrt(A + 1)),
    ],
    ids=str,
)
def test_simplified_forms_are_short_and_equal(expression: Any, short: Any) -> None:
    found = simplified(expression, (X, Y, Z))
    at = {X: 0.3, Y: -1.1, Z: 0.7, A: 1.7, B: 0.4}
    assert float(found.subs(at)) == pytest.approx(float(expression.subs(at)), rel=1e-13)
    if short is not None:
        assert sympy.expand(found - short) == 0
        assert sympy.count_ops(found) <= sympy.count_ops(sympy.expand(short))


@pytest.mark.parametrize('k', [2, 3, 4, 12, 100])
def test_multiples_of_angles_get_neither_longer_nor_less_exact(k: int) -> None:
    """As joints that mimic another have them; polynomials of the single angle lose all digits."""
    near, far = COS(X + k * Y), COS(X) * COS(k * Y) - SIN(X) * SIN(k * Y)
    assert simplified(near - far) == 0
    for expression in (COS(k * X), (A + SIN(Y)) * COS(k * X), (A * COS(k * X) + SIN(X)) ** 2, far):
        found = simplified(expression, (X, Y))
        assert sympy.count_ops(found) <= sympy.count_ops(expression)
        first, second = (sympy.lambdify((X, Y, A), x, 'math') for x in (expression, found))
        assert second(0.7, 0.2, 1.5) == pytest.approx(first(0.7, 0.2, 1.5), abs=1e-13)


def test_what_takes_too_long_comes_back_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    expression = (A + B + X + Y) ** 9 * (SIN(X) ** 2 + COS(X) ** 2)
    monkeypatch.setattr(simplification, 'MAX_OPERATIONS', 100)
    both = simplified(sympy.Matrix([expression, SIN(X) ** 2 + COS(X) ** 2]))
    assert both == sympy.Matrix([expression, 1])


def test_simplified_matrix_keeps_its_notation(planar: SymbolicRobot) -> None:
    M = planar.mass_matrix()
    assert M.simplified().notation is M.notation
    assert planar.latex(M.T) == M.T.latex() or r'\mathrm{elbow}' in planar.latex(M.T)


def test_parts_that_occur_again_and_again_are_looked_at_once() -> None:
    """As the closed forms of flexible links have them: here 2^30 of them in all."""
    x = sympy.Symbol('x')
    expression, exact = x, x
    for _ in range(30):
        expression = sympy.Mul(expression + sympy.Float(0.5), sympy.sin(expression))
        exact = sympy.Mul(exact + sympy.Rational(1, 2), sympy.sin(exact))
    # Equality of SymPy's expressions is a walk through all parts as well, their hash is not.
    assert hash(exact_expression(expression)) == hash(exact)
