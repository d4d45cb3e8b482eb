# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A, b and their rates of every kind of constraint, in states that do not obey them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import sympy
from mechanisms import four_bar_text, two_arms_text
from same_bits import assert_same_bits

import kron_dynamics as kd
from kron_dynamics.constraints import (
    Attachment,
    BladeConstraint,
    Constraint,
    ConstraintSystem,
    Coupling,
    DistanceLoop,
    HingeLoop,
    Pfaffian,
    PlanarLoop,
    PointLoop,
    PolynomialCoupling,
    PrescribedMotion,
    RollingWheel,
    SliderLoop,
    WeldLoop,
)
from kron_dynamics.dual import jacobian_of
from kron_dynamics.dynamics import Wrench, wrench_forces
from kron_dynamics.elementary import cos, sin
from kron_dynamics.kernels.interpreted import Interpreted
from kron_dynamics.kernels.trace import Trace
from kron_dynamics.kinematics import forward_kinematics, jacobian
from kron_dynamics.model import load_model

A = Attachment('left3', (0.2, 0.1, -0.05), (0.3, 1.0, 0.4))
B = Attachment('right3', (0.1, 0.0, 0.05), (0.0, -0.2, 1.0))


def wave(t: Any) -> Any:
    return 0.3 * sin(2 * t) + t**2


HOLONOMIC: tuple[Constraint, ...] = (
    PointLoop('point', A, B, signal=lambda t: np.array([wave(t), 0 * t, cos(t)])),
    PointLoop('point in base axes', A, B, base_axes=True),
    PointLoop('pin', A, B, components='zx'),
    HingeLoop('hinge', A, B),
    HingeLoop('hinge on the ground', A, Attachment('base', (0.4, 0.3, 0.2))),
    PlanarLoop('plane', A, B, signal=0.2),
    WeldLoop('weld', A, B),
    SliderLoop('slide', A, B, signal=0.1),
    DistanceLoop('rod', A, B, length=0.7, signal=lambda t: 0.1 * t**3),
    Coupling('gear', {'turn': 2.0, 'left1_joint': -0.5, 'right3_joint': 3.0}, signal=wave),
    PrescribedMotion('crank', 'left1_joint', wave),
    PolynomialCoupling('cam', 'turn', 'left2_joint', (0.3, -2.0, 0.7, 0.4), about=0.2),
    PolynomialCoupling('level', 'turn', 'left2_joint', (0.3,)),
    Pfaffian(
        'sphere',
        lambda q, t: np.array([[2 * q[0], 2 * q[1] * t, 0, 0, 0, 0, 0]]),
        lambda q, t: np.array([-q[1] * q[1]]),
        phi=lambda q, t: np.array([q[0] ** 2 + q[1] ** 2 * t - 1]),
    ),
)
NONHOLONOMIC: tuple[Constraint, ...] = (
    BladeConstraint('blade', 'left3', (0.2, 1.0, 0.3), (0.1, -0.2, 0.3), signal=wave),
    RollingWheel('wheel', 'right3', 0.3, (0.1, -0.2, 1.0), signal=lambda t: (0 * t, sin(t))),
    Pfaffian(
        'skate',
        lambda q, t: np.array([[sin(q[2]), cos(q[2]) * t, q[0], 0, 0, 0, 0]]),
        lambda q, t: np.array([sin(q[1] + t)]),
    ),
)
by_name = pytest.mark.parametrize(
    'constraint', HOLONOMIC + NONHOLONOMIC, ids=lambda constraint: constraint.name
)


@functools.cache
def arms() -> Any:
    return load_model(two_arms_text())


@functools.cache
def states() -> tuple[Any, Any, float]:
    rng = np.random.default_rng(5)
    return rng.uniform(-0.8, 0.8, arms().n), rng.uniform(-1, 1, arms().n), 0.4


@by_name
def test_a_dot_and_b_dot_are_rates(constraint: Any, derivative: Any, assert_close: Any) -> None:
    """[P] (5), (6) along any motion."""
    q, qd, t = states()
    system = ConstraintSystem(arms(), [constraint])
    terms = system.terms(q, qd, t)

    def along(part: str) -> Any:
        return derivative(lambda s: getattr(system.terms(q + s * qd, qd, t + s), part))

    assert terms.A.shape == (constraint.size, arms().n)
    assert_close(terms.A_dot, along('A'), 1e-9, floor=1.0)
    assert_close(terms.b_dot, along('b'), 1e-9, floor=1.0)


@pytest.mark.parametrize('constraint', HOLONOMIC, ids=lambda constraint: constraint.name)
def test_a_and_b_are_derivatives_of_phi(
    constraint: Any, derivative: Any, assert_close: Any
) -> None:
    """d phi/dt = A qd - b, in positions that are not closed too."""
    q, qd, t = states()
    system = ConstraintSystem(arms(), [constraint])
    terms = system.terms(q, qd, t)
    by_q = derivative(lambda x: system.terms(x, qd, t).phi, q)
    assert_close(terms.A, by_q, 1e-9, floor=1.0)
    by_t = derivative(lambda s: system.terms(q, qd, t + s).phi)
    assert_close(terms.b, -by_t, 1e-9, floor=1.0)
    assert np.abs(terms.phi).max() > 0.01  # not a state in which everything vanishes


def test_conditions_are_those_of_the_terms() -> None:
    """Of all constraints together, bit by bit: loops are closed by them."""
    q, qd, t = states()
    system = ConstraintSystem(arms(), HOLONOMIC + NONHOLONOMIC)
    phi, rows, *_ = system.terms(q, qd, t)
    assert_same_bits(system.conditions(q, t)[0], phi)
    assert_same_bits(system.conditions(q, t)[1], rows)


def closed_model() -> tuple[Any, Any]:
    """A state in which the frames of a hinge are one: given by moving frame b there."""
    q, *_ = states()
    pose_a = forward_kinematics(arms(), q, 'left3')
    pose_b = forward_kinematics(arms(), q, 'right3')
    place = pose_a[:3, 3] + pose_a[:3, :3] @ A.point
    axis = pose_a[:3, :3] @ (np.array(A.axis) / np.linalg.norm(A.axis))
    point = pose_b[:3, :3].T @ (place - pose_b[:3, 3])
    return q, Attachment('right3', tuple(point), tuple(pose_b[:3, :3].T @ axis))


def test_what_closed_frames_have_no_residual(assert_close: Any) -> None:
    q, b = closed_model()
    loops = [
        *(HingeLoop('h', A, b), PlanarLoop('p', A, b), PointLoop('d', A, b)),
        PointLoop('e', A, b, base_axes=True),
    ]
    for loop in loops:
        phi = ConstraintSystem(arms(), [loop]).terms(q, 0 * q, 0.0).phi
        assert_close(phi, np.zeros(loop.size), 1e-14, floor=1.0)
        assert loop.sense(arms(), q) > 0
    reversed_axis = Attachment(b.link, b.point, tuple(-x for x in b.axis))
    hinge = HingeLoop('r', A, reversed_axis)
    phi = ConstraintSystem(arms(), [hinge]).terms(q, 0 * q, 0.0).phi
    assert_close(phi, np.zeros(5), 1e-14, floor=1.0)
    assert hinge.sense(arms(), q) < 0


def test_a_hinge_lets_turn_about_its_axis_alone(assert_close: Any) -> None:
    """Five conditions of the relative twist: five independent ones, and the turn is free."""
    q, b = closed_model()
    A_h = ConstraintSystem(arms(), [HingeLoop('h', A, b)]).terms(q, 0 * q, 0.0).A
    pose = forward_kinematics(arms(), q, 'left3')
    axis = pose[:3, :3] @ (np.array(A.axis) / np.linalg.norm(A.axis))
    relative = jacobian(arms(), q, 'left3', A.point) - jacobian(arms(), q, 'right3', b.point)
    # Rates with any relative turn about the axis, but no other relative motion.
    held = np.concatenate([relative[:3], (np.eye(3) - np.outer(axis, axis)) @ relative[3:]])
    assert np.linalg.matrix_rank(A_h) == np.linalg.matrix_rank(held) == 5
    free = np.linalg.svd(held)[2][5:].T
    assert_close(A_h @ free, np.zeros((5, 2)), 1e-12, floor=1.0)
    assert np.abs(axis @ relative[3:] @ free).max() > 0.1


def test_all_loops_hold_what_they_say(assert_close: Any) -> None:
    """Conditions of a weld are those of a hinge and one more; planar ones are the rest."""
    q, b = closed_model()

    def rows(loop: Any) -> Any:
        return ConstraintSystem(arms(), [loop]).terms(q, 0 * q, 0.0).A

    weld = rows(WeldLoop('w', A, b))
    for loop, size in ((HingeLoop('h', A, b), 5), (PlanarLoop('p', A, b), 3)):
        assert rows(loop).shape[0] == np.linalg.matrix_rank(rows(loop)) == size
    assert weld.shape[0] == 6
    hinge = rows(HingeLoop('h', A, b))
    both = np.concatenate([hinge, rows(PlanarLoop('p', A, b))])
    assert np.linalg.matrix_rank(both, tol=1e-10) == 5


@pytest.mark.parametrize(
    'constraint',
    [c for c in HOLONOMIC + NONHOLONOMIC if c.links() is not None],
    ids=lambda constraint: constraint.name,
)
def test_multipliers_are_wrenches_on_links(constraint: Any, rng: Any, assert_close: Any) -> None:
    """A^T lambda is what N^T lambda does to link a, and the opposite to link b.  [P] (11)."""
    q, qd, _ = states()
    model, lam = arms(), rng.normal(size=constraint.size)
    geometry = constraint.geometry(model, q, qd)
    force, moment = np.split(geometry.N.T @ lam, 2)
    a, b = constraint.links()
    point: Any = constraint.point()
    if isinstance(constraint, RollingWheel):
        # At the lowest point, where the ground holds it.
        normal = np.array(constraint.normal) / np.linalg.norm(constraint.normal)
        assert_close(moment, np.cross(-constraint.radius * normal, force), 1e-12, floor=1e-9)
    acting = [Wrench(a, force, moment, point, model.root_link)]
    if b:
        place = constraint.point_on_b(model, q)
        acting.append(Wrench(b, -force, -moment, place, model.root_link))
    assert_close(wrench_forces(model, q, acting), geometry.A.T @ lam, 1e-12, floor=1e-9)


def test_a_blade_holds_the_velocity_of_its_point(derivative: Any, assert_close: Any) -> None:
    q, qd, t = states()
    blade = NONHOLONOMIC[0]
    assert isinstance(blade, BladeConstraint)

    def pose(s: float) -> Any:
        return forward_kinematics(arms(), q + s * qd, 'left3')

    velocity = derivative(lambda s: pose(s)[:3, 3] + pose(s)[:3, :3] @ blade.at)
    across = pose(0.0)[:3, :3] @ (np.array(blade.direction) / np.linalg.norm(blade.direction))
    terms = ConstraintSystem(arms(), [blade]).terms(q, qd, t)
    assert_close(terms.A @ qd, [across @ velocity], 1e-9)
    assert_close(terms.b, [float(wave(t))], 1e-14)


@pytest.mark.parametrize('kind', ['symbols', 'traced'])
def test_symbols_and_traced_scalars_give_the_same(kind: str, assert_close: Any) -> None:
    model = load_model(four_bar_text())
    end, tip = Attachment('coupler', (0.9, 0.0, 0.0)), Attachment('rocker', (0.7, 0.0, 0.0))
    loops = [
        *(HingeLoop('h', end, tip), DistanceLoop('d', 'coupler', tip, length=0.4)),
        *(PointLoop('p', end, tip, base_axes=True), BladeConstraint('b', 'coupler', (0, 1, 0))),
        *(RollingWheel('r', 'rocker', 0.2), Coupling('g', {'j1': 2.0, 'j3': -1.0})),
    ]
    system = ConstraintSystem(model, loops)
    q, qd = np.array([0.9, -0.4, 1.6]), np.array([0.3, 1.2, -0.7])
    expected = system.geometry(q, qd)
    if kind == 'symbols':
        x = np.array(sympy.symbols('q1:4 w1:4', real=True), dtype=object)
        at = dict(zip(x, [*q, *qd], strict=True))
        parts = system.geometry(x[:3], x[3:])
        found = [
            np.reshape([float(sympy.sympify(e).subs(at)) for e in part.flat], part.shape)
            for part in map(np.asarray, parts)
        ]
    else:
        trace = Trace(lambda a, b: tuple(system.geometry_function(model, a, b)), [3, 3])
        outs = [np.zeros((1, part.size)) for part in expected]
        Interpreted(trace)(1, [q[None], qd[None]], outs)
        found = [out.reshape(part.shape) for out, part in zip(outs, expected, strict=True)]
    for part, own in zip(found, expected, strict=True):
        assert_close(part, own, 1e-12, floor=1e-9)


def test_derivatives_by_q_are_exact(assert_close: Any) -> None:
    """The geometry runs on numbers with derivatives: A is df/dq to rounding."""
    q, qd, _ = states()
    for constraint in HOLONOMIC[:-1]:
        f = jacobian_of(lambda x, c=constraint: c.geometry(arms(), x, 0 * qd).f, q)[1]
        assert_close(constraint.geometry(arms(), q, qd).A, f, 1e-12, floor=1.0)


@pytest.mark.parametrize(
    ('make', 'error', 'words'),
    [
        (lambda: HingeLoop('pin', 'left3', 'nowhere'), kd.UnknownFrameError, "'pin': link 'now"),
        (lambda: HingeLoop('pin', 'left3', 'left3'), kd.ConstraintError, "'pin' is between"),
        (lambda: Coupling('gear', {'elbow': 1.0}), kd.ConstraintError, "'gear': joint 'elbow'"),
        (lambda: Coupling('gear', {1: 2.0, 'a': 1}), kd.ArgumentTypeError, 'a joint in ratios'),
        (lambda: Coupling('gear', {}), kd.ConstraintError, "'gear' has ratios"),
        (lambda: Coupling('gear', {'turn': 0.0}), kd.ConstraintError, "ratio 0 of joint 'turn'"),
        (lambda: Coupling('g', {'turn': 1.0}, unit='mm'), kd.ParameterError, "'mm'"),
        (lambda: DistanceLoop('rod', A, B), kd.ConstraintError, "'rod' has length 0.0"),
        (lambda: PointLoop('p', A, B, components='xw'), kd.ConstraintError, "'p' has components"),
        (lambda: PointLoop('p', A, 3), kd.ConstraintError, "'p' has 3 as frame b"),
        (lambda: PointLoop('p', A, Attachment('base', axis=(0, 0, 0))), kd.ConstraintError, "'p'"),
        (
            lambda: WeldLoop('w', A, Attachment('base', axis=(1, 0, 0), rpy=(0, 0, 1))),
            kd.ConstraintError,
            'expected axis or rpy, not both',
        ),
        (lambda: BladeConstraint('b', 'none', (1, 0, 0)), kd.UnknownFrameError, "'b': link"),
        (lambda: BladeConstraint('b', 'left3', (0, 0, 0)), kd.ConstraintError, "'b' has dir"),
        (lambda: RollingWheel('w', 'left3', -1.0), kd.ConstraintError, "'w' has radius"),
        (
            lambda: Pfaffian('own', lambda q, t: np.zeros((2, 3))),
            kd.ConstraintError,
            r"'own': A has shape \(2, 3\), expected \(1, 7\)",
        ),
        (
            lambda: Pfaffian('own', lambda q, t: q[9]),
            kd.ConstraintError,
            "'own': A cannot be evaluated",
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_name(make: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        ConstraintSystem(arms(), [make()]).terms(*states())


def undefined(kind: str) -> Any:
    """A function that is not defined at 0, or nowhere."""
    return {
        'divides': lambda x: 1.0 / x,
        'finds nothing': lambda x: [][0],
        'no number': lambda x: float('x'),
        'no attribute': lambda x: x.angle,
        'recurses': lambda x: undefined(kind)(x),
        'no name': lambda x: eval('x_of_nobody'),
        'asserts': lambda x: exec('assert False'),
    }[kind]


@pytest.mark.parametrize(
    'kind',
    [
        *('divides', 'finds nothing', 'no number', 'no attribute'),
        *('recurses', 'no name', 'asserts'),
    ],
)
def test_functions_are_evaluated_where_the_robot_is(kind: str) -> None:
    function = undefined(kind)
    of_angle = Pfaffian('own', lambda q, t: np.array([[function(q[0]), 0 * t, 1, 0, 0, 0, 0]]))
    of_time = PrescribedMotion('drive', 'turn', lambda t: function(t))
    zero, ones = np.zeros(7), np.ones(7)
    for constraint in (of_angle, of_time):
        system = ConstraintSystem(arms(), [constraint])
        with pytest.raises(kd.ConstraintError, match=f"'{constraint.name}': "):
            system.terms(zero, ones, 0.0)
        if kind == 'divides':
            terms = system.terms(ones, ones, 1.0)
            assert np.abs(terms.A_dot).max() + np.abs(terms.b_dot).max() > 0.5


def test_names_are_unique_and_functions_of_time_are_numbers() -> None:
    q, qd, t = states()
    with pytest.raises(kd.ConstraintError, match="several constraints are named 'loop'"):
        ConstraintSystem(arms(), [PointLoop('loop', A, B), HingeLoop('loop', A, B)])
    with pytest.raises(kd.ArgumentTypeError, match='constraints'):
        ConstraintSystem(arms(), ['loop'])  # type: ignore[list-item]
    for signal, words in (
        (lambda t: (t, t), r"'c': what it prescribes has shape \(2,\), expected \(1,\)"),
        (lambda t: 'fast', "'c': its function of time"),
        (np.nan, "'c' prescribes holds a NaN"),
        ('fast', "'c' prescribes is or holds 'fast'"),
    ):
        system = ConstraintSystem(arms(), [PrescribedMotion('c', 'turn', signal)])
        with pytest.raises(kd.KronDynamicsError, match=words):
            system.terms(q, qd, t)
