# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Equations of [P] that are correct but easily misread: fields, loops, quaternions."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy
from shared.claims import Misprint, reading, relative
from shared.derivatives import rate, slope
from shared.exact import largest, rationals
from shared.vectors import cases

import kron_dynamics as kd
from kron_dynamics import dynamics, kinematics
from kron_dynamics.constraints import Speeds
from kron_dynamics.constraints.motion_equations import reduced_coriolis
from kron_dynamics.dual import derivatives_of
from kron_dynamics.dynamics import CentralField, FieldOf
from kron_dynamics.model import load_model

from .loop import Loop
from .places import Bodies
from .quaternions import Wrist
from .tree import LINKS, State
from .vectors import SLEIGH, FourBar

# Centre of a field with rational derivatives: g = -2 c/R^4, from the potential -1/R^2.
CENTER = rationals('1/3', '-1/2', '-2')
PLACE = rationals('1/5', '-1/3', '1/2')


def potential(place: Any) -> Any:
    """Return -1/R^2."""
    ray = place - CENTER
    return -1 / (ray @ ray)


def field(place: Any) -> Any:
    """Return g, minus the gradient of the potential."""
    ray = place - CENTER
    square = ray @ ray
    return -2 * ray / (square * square)


class WithoutForce(FieldOf):
    """A field whose gradient acts on bodies only by its moment, not by a force."""

    def second_derivative(self, place: Any) -> Any:
        """Return zeros, so that the gradient causes no force."""
        return np.zeros((3, 9), dtype=int)


def fields(state: State) -> list[Misprint]:
    """Return the easily misread statements of section 3.2."""
    model, q = state.model, state.q
    bodies = Bodies(model, LINKS)
    masses = [m for _, m, _, _ in bodies.links]
    assert largest(field(PLACE) + slope(potential, PLACE)) == 0

    def total(x: Any) -> Any:
        return sum(m * potential(c) for m, c in zip(masses, bodies.centers(x), strict=True))

    def printed(x: Any) -> Any:
        return -sum(m * c @ field(c) for m, c in zip(masses, bodies.centers(x), strict=True))

    def extended(x: Any) -> Any:
        value = sympy.S.Zero
        sides = zip(bodies.links, bodies.rotations(x), bodies.centers(x), strict=True)
        for (_, m, _, inertia), R, center in sides:
            S = R @ (np.trace(inertia) / 2 * np.eye(3, dtype=int) - inertia) @ R.T
            phi, _, curvature = derivatives_of(potential, center, 2)
            value = value + m * phi + np.trace(S @ curvature) / 2
        return value

    exact, exact_extended = -slope(total, q), -slope(extended, q)
    forces = dynamics.field_forces(model, q, FieldOf(field))
    same = field(0 * CENTER)
    propagated = dynamics.field_forces(model, q, FieldOf(lambda c: same + 0 * c))
    (case,) = cases('gravity_field')
    return [
        reading(
            '(26)',
            r'$V$ also holds for $\mathbf{g}(\mathbf{c})$',
            r'only (27) does, $\mathbf{f}_c = \sum m_i\mathbf{J}_{vi}^T\mathbf{g}(\mathbf{c}_i)$',
            r'$\mathbf{f}_c$ in a field $-2\mathbf{c}/R^4$, from its potential $-m/R^2$',
            largest(-slope(printed, q) - exact),
            largest(forces - exact),
        ),
        _sign(case),
        reading(
            '3.2',
            r'gravity as an acceleration $-\mathbf{g}$ of the base',
            r'only if $\mathbf{g}$ is the same at all centres of mass',
            r'$\mathbf{f}_c$ in that field, with $\mathbf{g}$ at the base',
            largest(propagated - exact),
            largest(forces - exact),
        ),
        reading(
            '3.2',
            'for large bodies, only the moment of gravity about the centre of mass is added',
            'the force changes by the same order: `field_forces(..., extended=True)` has both',
            'derivative of the potential including second moments of mass',
            largest(
                dynamics.field_forces(model, q, WithoutForce(field), extended=True)
                - exact_extended
            ),
            largest(
                dynamics.field_forces(model, q, FieldOf(field), extended=True) - exact_extended
            ),
        ),
    ]


def _sign(case: Any) -> Misprint:
    """Return the case of a planet, where (26) even has the wrong sign."""
    given, expected = case['inputs'], case['expected']
    model, q = load_model(given['urdf'], joints=given['joint_order']), np.array(given['q'])
    central = CentralField(given['mu'], tuple(given['centre']))
    printed = 0.0
    for body in dynamics.kane_bodies(model, q, 0 * q):
        ray = body.center - np.array(given['centre'])
        printed -= body.M[3, 3] * (ray @ central.acceleration(body.center))
    right = dynamics.central_field_potential(model, q, central)
    return reading(
        '(26)',
        rf'also holds near a planet: here $V = {printed:.1f}$ J',
        rf'$V = -\mu m/R$: {right:.1f} J; misread, even the sign is wrong',
        f'$V$ of {case["id"]}',
        abs(printed - expected['V_point_mass']),
        relative(right, expected['V_point_mass']),
    )


def loops(loop: Loop) -> list[Misprint]:
    """Return the easily misread equations of sections 2 and 4."""
    return [_rank(), _choice(loop), _quasi_velocities(), _held(loop), _skew(loop), *_drift()]


def _rank() -> Misprint:
    """Check a stretched parallelogram, which may move on as an antiparallelogram."""

    def end(q: Any) -> Any:
        s, c = (
            np.array([f(x) for x in (q[0], q[0] + q[1], q[2])]) for f in (sympy.sin, sympy.cos)
        )
        return sympy.Matrix(
            [[-s[0] - 2 * s[1], -2 * s[1], s[2]], [c[0] + 2 * c[1], 2 * c[1], -c[2]]]
        )

    turn = sympy.atan(sympy.Rational(3, 4))
    freedoms = [3 - end(q).rank() for q in ((0, 0, 0), (turn, -turn, turn))]
    return reading(
        '(5)',
        r'$r$ conditions leave $m = n - r$ speeds everywhere',
        r'only where $\mathbf{A}$ has full rank: not at singularities, which `ConstrainedRobot` '
        'refuses',
        'degrees of freedom of a parallelogram four-bar minus $n - r$, stretched and elsewhere',
        *(found - 1 for found in freedoms),
    )


def _choice(loop: Loop) -> Misprint:
    other = Loop((0, 1))
    assert largest(other.qd - loop.qd) == 0
    return reading(
        '(8)',
        r'$\dot{\mathbf{B}}\mathbf{u} + \dot{\mathbf{d}}$ is independent of the choice of '
        r'$\mathbf{u}$',
        r'it depends on this choice, as $\mathbf{B}$ does; $\ddot{\mathbf{q}}$ does not',
        r'$\ddot{\mathbf{q}}$ of the loop, with rates of other joints as $\mathbf{u}$',
        largest(other.B @ other.u_dot + loop.gamma - loop.qdd),
        largest(other.B @ other.u_dot + other.gamma - loop.qdd),
    )


def _quasi_velocities() -> Misprint:
    """Check Chaplygin's sleigh, with du/dt from the Newton-Euler equations."""
    m, a, inertia = rationals('2', '3/10', '3/20')
    text = SLEIGH.format(m='2', a='0.3', I='0.15')
    model = kd.loads(text, gravity=(0, 0, 0)).symbolic.model
    q = np.array([0, 0, sympy.atan(sympy.Rational(3, 4))], dtype=object)
    s, c = rationals('3/5', '4/5')
    v, w = u = rationals('6/5', '-4/5')
    B = np.array([[c, 0], [s, 0], [0, 1]], dtype=object)
    B_dot = w * np.array([[-s, 0], [c, 0], [0, 0]], dtype=object)
    M = B.T @ dynamics.mass_matrix(model, q) @ B
    assert M.tolist() == [[m, 0], [0, inertia + m * a * a]]  # constant: d/dt(dT*/du) = M du/dt
    right = np.array([a * w * w, -m * a * v * w / M[1, 1]])
    errors = [
        largest(dynamics.kane_inertia_forces(model, q, B @ u, B @ u_dot + B_dot @ u, B))
        for u_dot in (0 * right, right)
    ]
    return reading(
        '(10)',
        r'for quasi-velocities $\mathbf{u}$, $T$ may be expressed in $\mathbf{u}$ first: '
        r'$\frac{d}{dt}\frac{\partial T}{\partial\mathbf{u}} = \mathbf{B}^T\mathbf{f}$',
        r'differentiate $T(\mathbf{q}, \dot{\mathbf{q}})$, then project',
        "forces on Chaplygin's sleigh in free motion",
        *errors,
    )


def _held(loop: Loop) -> Misprint:
    q, qd, k = loop.q, loop.qd, 3
    exact = slope(lambda x: loop.bodies.spins(x, loop.rates(x, loop.u, 0))[k], q)
    gradient = kinematics.body_angular_velocity_gradient(loop.model, q, qd, LINKS[k])
    J_w = kinematics.body_angular_jacobian(loop.model, q, LINKS[k])
    change = J_w @ slope(lambda x: loop.rates(x, loop.u, 0), q)
    return reading(
        '(17), (40)',
        r'$\partial\boldsymbol{\omega}/\partial\mathbf{q}$ at constant $\mathbf{u}$',
        r'at constant $\dot{\mathbf{q}}$; at constant $\mathbf{u}$, '
        r'$\mathbf{J}_\omega\,\partial(\mathbf{B}\mathbf{u} + \mathbf{d})/'
        r'\partial\mathbf{q}$ is added',
        r'$\boldsymbol{\omega}$ of the wrist in the loop',
        largest(gradient - exact),
        largest(gradient + change - exact),
    )


def _skew(loop: Loop) -> Misprint:
    model, q, qd, B = loop.model, loop.q, loop.qd, loop.B

    def mass(t: Any) -> Any:
        x = q + qd * t
        return loop.map(x).T @ loop.bodies.mass_matrix(x) @ loop.map(x)

    M_dot, B_dot = rate(mass), rate(lambda t: loop.map(q + qd * t))
    M, C = dynamics.mass_matrix(model, q), dynamics.kane_coriolis_matrix(model, q, qd)
    whole = reduced_coriolis(M, C, Speeds(B, loop.d, loop.gamma, B_dot))
    defects = [M_dot - 2 * each for each in (B.T @ C @ B, whole)]
    return reading(
        '(38)',
        r'in independent speeds $\mathbf{B}^T\mathbf{C}\mathbf{B}$ replaces $\mathbf{C}$',
        r'$\mathbf{B}^T(\mathbf{C}\mathbf{B} + \mathbf{M}\dot{\mathbf{B}})$, '
        '`ConstrainedRobot.coriolis_matrix`',
        r'$\frac{d}{dt}(\mathbf{B}^T\mathbf{M}\mathbf{B}) - 2\mathbf{C}_u$ plus its transpose',
        *(largest(S + S.T) for S in defects),
    )


def _drift() -> list[Misprint]:
    """Return (46) of the four-bars without and with the terms of dB/dt and dd/dt."""
    found = []
    for case in cases('fourbar'):
        bar = FourBar(case)
        robot, q, qd = bar.closed.robot, bar.q, bar.qd
        speeds = bar.closed.speeds(q, qd)
        M = robot.mass_matrix(q)
        force = bar.tau - robot.bias_forces(q, qd)
        reduced = (speeds.B.T @ M @ speeds.B)[0, 0]
        read, right = (
            (speeds.B.T @ (force - M @ drift))[0] / reduced for drift in (0 * q, speeds.gamma)
        )
        expected = case['expected']['udot']
        found.append(
            reading(
                '(46)',
                r'$\frac{d}{dt}(\mathbf{J}_i\dot{\mathbf{q}})$ with $\ddot{\mathbf{q}} = '
                rf'\mathbf{{B}}\dot{{\mathbf{{u}}}}$: here $\dot{{u}} = {read:.2f}$',
                r'with $\ddot{\mathbf{q}} = \mathbf{B}\dot{\mathbf{u}} + '
                r'\dot{\mathbf{B}}\mathbf{u} + \dot{\mathbf{d}}$: '
                rf'$\dot{{u}} = {right:.2f}$ rad/s$^2$',
                rf'$\dot{{u}}$ of {case["id"]}',
                abs(read - expected),
                relative(right, expected),
            )
        )
    return found


def quaternions(at: Wrist) -> list[Misprint]:
    """Return the easily misread equations of appendix B."""
    e, e_q = 2 * at.e, 2 * at.e_q
    one = np.array([0, 0, 0, 1])
    products = [kinematics.star(x, kinematics.conjugate(x)) - one for x in (e, at.e)]
    derivatives = [
        kinematics.conjugate_derivative(*pair) - exact
        for pair, exact in (((e, e_q), 2 * at.conjugate_q), ((at.e, at.e_q), at.conjugate_q))
    ]
    return [
        reading(
            '(B-13), (B-17)',
            'for any quaternion',
            'for unit quaternions, as for rotations',
            'both, for a quaternion of norm 2 and a unit one',
            *(largest(p) + largest(d) for p, d in zip(products, derivatives, strict=True)),
        ),
    ]
