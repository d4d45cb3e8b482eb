# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""(1), (5)-(11) and (39)-(46) of [P] for the tree with a time-dependent loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy
from shared.claims import Bound, Check, relative
from shared.derivatives import rate, slope
from shared.exact import largest

from kron_dynamics import dynamics, kinematics
from kron_dynamics.constraints.reduction import Choice, reduction
from kron_dynamics.dynamics import Wrench

from .loop import TAU, Loop
from .tree import LINKS
from .trees import FORCE, MOMENT, PLACE, drives

REDUCED = "Lagrange's equation in two coordinates"
WORK = 'virtual work along the two coordinates'


def statements(loop: Loop) -> list[Check]:
    """Check (1), (5)-(11) and (39)-(46)."""
    return [*_conditions(loop), *_equations(loop), *_partial_velocities(loop)]


def program_map(loop: Loop) -> Any:
    """Return the program's B in exact numbers, for the loop with constant offset."""
    choice = Choice((loop.held(),), np.ones(3, dtype=int), tuple(loop.free), tuple(loop.bound))
    return reduction(loop.model, choice, loop.q, loop.u).B


def _conditions(loop: Loop) -> list[Check]:
    """Check (5)-(9): the constraints and compatible rates."""
    q, qd, u = loop.q, loop.qd, loop.u
    A = loop.held().geometry(loop.model, q, qd).A
    robot = loop.robot()
    point = np.array(q, dtype=float), np.array(qd, dtype=float)
    terms, speeds = robot.terms(*point), robot.speeds(*point)
    B = program_map(loop)
    along = slope(lambda change: loop.opening(q + B @ change), 0 * u)
    found = speeds.B @ np.array(u, dtype=float) + speeds.d
    missing = np.concatenate([(speeds.B - B).ravel(), speeds.d - np.array(loop.d, dtype=float)])
    return [
        Check(
            '(5), (6)',
            r'$\mathbf{A}\dot{\mathbf{q}} = \mathbf{b}$',
            '`constraints.PointLoop`',
            r'derivative of the closure with respect to $\mathbf{q}$',
            largest(A - loop.conditions(q)) + largest(A @ qd - loop.speed(0)),
        ),
        Check(
            '(6)',
            r'$\mathbf{A}$, $\mathbf{b}$, $\dot{\mathbf{A}}\dot{\mathbf{q}}$, $\dot{\mathbf{b}}$',
            '`ConstrainedRobot.terms`',
            'the same, and $\\dot{\\mathbf{A}}\\dot{\\mathbf{q}}$ from the derivative of (6)',
            max(
                relative(terms.A, loop.conditions(q)),
                relative(terms.b, loop.speed(0)),
                relative(terms.A_dot @ point[1], _drift(loop)),
                relative(terms.b_dot, loop.speed(1) - loop.speed(0)),
            ),
        ),
        Check(
            '(7)',
            r'$\mathbf{A}\,\delta\mathbf{q} = \mathbf{0}$: $\delta\mathbf{q} = '
            r'\mathbf{B}\,\delta\mathbf{u}$ keeps the loop closed, at constant time',
            '`constraints.reduction.reduction`',
            'derivative of the closure along this variation',
            largest(along),
        ),
        Check(
            '(8)',
            r'$\dot{\mathbf{q}} = \mathbf{B}\mathbf{u} + \mathbf{d}$',
            '`ConstrainedRobot.speeds`',
            'elimination in exact numbers',
            max(relative(found, qd), relative(missing, 0 * missing)),
        ),
        Check(
            'after (8)',
            r'$\ddot{\mathbf{q}} = \mathbf{B}\dot{\mathbf{u}} + \dot{\mathbf{B}}\mathbf{u} + '
            r'\dot{\mathbf{d}}$: the last two terms, and $\dot{\mathbf{B}}$',
            '`ConstrainedRobot.speeds`',
            r'derivatives of $\mathbf{B}$ and $\mathbf{d}$ of this elimination',
            max(
                relative(speeds.gamma, loop.gamma),
                relative(speeds.B_dot, rate(lambda t: loop.map(q + qd * t))),
            ),
        ),
        Check(
            '(9)',
            r'$\mathbf{A}\mathbf{B} = \mathbf{O}$, $\mathbf{A}\mathbf{d} = \mathbf{b}$',
            '`constraints.reduction.reduction`, `ConstrainedRobot.speeds`',
            r'$\mathbf{A}$ and $\mathbf{b}$ by derivatives of the closure',
            max(
                Bound(largest(loop.conditions(q) @ B)),
                relative(np.array(loop.conditions(q), dtype=float) @ speeds.d, loop.speed(0)),
            ),
        ),
    ]


def _drift(loop: Loop) -> Any:
    """Return dA/dt qd = db/dt - A qdd of the exact motion."""
    return loop.speed(1) - loop.speed(0) - loop.conditions(loop.q) @ loop.qdd


def _equations(loop: Loop) -> list[Check]:
    """Check (1), (10), (39), (42), (43), (46): the equations of motion."""
    model, q, qd, qdd = loop.model, loop.q, loop.qd, loop.qdd
    B = program_map(loop)
    gravity = dynamics.gravity_vector(model, q)
    phi = dynamics.inverse_dynamics(model, q, qd, qdd) - TAU
    A = sympy.Matrix(loop.conditions(q))
    multipliers = (A * A.T).LUsolve(A * sympy.Matrix(phi))
    robot = loop.robot()
    point = [np.array(x, dtype=float) for x in (q, qd, TAU)]
    motion = robot.forward_dynamics(*point)
    terms = dynamics.kane_energy_terms(model, q, qd, qdd)
    energies = B.T @ (terms.momentum_rate - terms.energy_gradient + gravity)
    reduced, weight = loop.reduced_forces(loop.u_dot), loop.reduced_weight()
    kane = dynamics.kane_inertia_forces(model, q, qd, qdd, B)
    force = B.T @ (TAU - gravity)
    return [
        Check(
            '(1)',
            r'$\boldsymbol{\phi}^T\delta\mathbf{q} = 0$: $\boldsymbol{\phi} = '
            r'\mathbf{A}^T\boldsymbol{\lambda}$, in the row space',
            '`dynamics.inverse_dynamics`',
            f'the motion by {REDUCED}',
            largest(phi - np.array(A.T * multipliers).reshape(-1)),
        ),
        Check(
            '(10)',
            r'$\mathbf{B}^T\boldsymbol{\phi} = \mathbf{0}$',
            '`dynamics.inverse_dynamics`, `constraints.reduction.reduction`',
            f'the motion by {REDUCED}',
            largest(B.T @ phi),
        ),
        Check(
            '(39)',
            r'$\mathbf{B}^T[\frac{d}{dt}\frac{\partial T}{\partial\dot{\mathbf{q}}} - '
            r'\frac{\partial T}{\partial\mathbf{q}} + \frac{\partial V}{\partial\mathbf{q}}]$',
            '`dynamics.kane_energy_terms`',
            REDUCED,
            largest(energies - reduced - weight),
        ),
        Check(
            '(42), (43)',
            r'$\sum\mathbf{T}_i^T[\mathbf{M}_i\frac{d}{dt}(\mathbf{J}_i\dot{\mathbf{q}}) + '
            r'\mathbf{W}_i\mathbf{M}_i\mathbf{J}_i\dot{\mathbf{q}}]$',
            '`dynamics.kane_inertia_forces`',
            REDUCED,
            largest(kane - reduced) + largest(kane - force),
        ),
        Check(
            '(46)',
            r'$\ddot{\mathbf{q}}$ and $\boldsymbol{\lambda}$ of given $\boldsymbol{\tau}$',
            '`ConstrainedRobot.forward_dynamics`',
            REDUCED,
            max(
                relative(motion.qdd, qdd),
                relative(motion.multipliers, np.array(multipliers).reshape(-1)),
            ),
        ),
    ]


def _partial_velocities(loop: Loop) -> list[Check]:
    """Check (11), (40), (44), (45): partial velocities and projections."""
    model, bodies, q, qd, u = loop.model, loop.bodies, loop.q, loop.qd, loop.u
    B = program_map(loop)
    kane = list(dynamics.kane_bodies(model, q, qd))
    partial = np.array([body.J @ B for body in kane])
    twists = slope(lambda rates: bodies.twists(q, loop.rates(q, rates, 0)), u)
    changes = slope(lambda change: bodies.spins(q + B @ change, qd), 0 * u)
    gradients = [kinematics.body_angular_velocity_gradient(model, q, qd, name) for name in LINKS]
    along = [gradient @ B for gradient in gradients]
    loads = [(k, FORCE * (k + 1), MOMENT * (k - 2), PLACE * (2 - k)) for k in range(len(LINKS))]
    wrenches = [Wrench(LINKS[k], f, n, p) for k, f, n, p in loads]
    work = _work(loop, B, loads)
    moments, forces = dynamics.wrenches.body_wrenches(model, q, wrenches)
    sides = zip(kane, partial, moments, forces, strict=True)
    total = sum(T.T @ np.concatenate([n, body.rotation @ f]) for body, T, n, f in sides)
    efforts = dynamics.wrench_forces(model, q, drives(loop, TAU))
    return [
        Check(
            '(11)',
            r'$\mathbf{B}^T\mathbf{f}$, forces anywhere on the bodies, and drives',
            '`dynamics.wrench_forces`, `constraints.reduction.reduction`',
            WORK,
            largest(B.T @ dynamics.wrench_forces(model, q, wrenches) - work)
            + largest(B.T @ (efforts - TAU)),
        ),
        Check(
            '(40), (A-7)',
            r'$(\partial\boldsymbol{\omega}/\partial\mathbf{q})\,\delta\mathbf{q} = '
            r'(\dot{\mathbf{J}}_\omega + [\boldsymbol{\omega}\times]\mathbf{J}_\omega)\,'
            r'\delta\mathbf{q}$',
            '`kinematics.body_angular_velocity_gradient`',
            r'derivative of $\mathbf{R}^T\dot{\mathbf{R}}$ along the loop',
            largest(np.array(along) - changes),
        ),
        Check(
            '(44)',
            r'$\mathbf{T}_i = \mathbf{J}_i\mathbf{B} = [\partial\boldsymbol{\omega}_i/'
            r'\partial\mathbf{u}; \partial\mathbf{v}_i/\partial\mathbf{u}]$',
            '`dynamics.KaneBody`, `constraints.reduction.reduction`',
            r'derivatives of $\mathbf{R}^T\dot{\mathbf{R}}$ and $\dot{\mathbf{c}}_i$ with respect '
            r'to $\mathbf{u}$',
            largest(partial - twists),
        ),
        Check(
            '(45)',
            r'$\sum\mathbf{T}_i^T\mathbf{w}_i = \mathbf{B}^T\mathbf{f}$',
            '`dynamics.wrenches.body_wrenches`',
            WORK,
            largest(total - work),
        ),
    ]


def _work(loop: Loop, B: Any, loads: list[Any]) -> Any:
    """Return sum f . dr/ds + n . dtheta/ds, of forces and moments in axes of the links."""
    bodies, q, total = loop.bodies, loop.q, 0 * loop.u
    rotations = bodies.rotations(q)
    turns = slope(lambda change: bodies.base_spins(q, B @ change), total)
    moves = slope(lambda change: bodies.poses(q + B @ change), total)
    for k, force, moment, place in loads:
        R, along = rotations[k], moves[k]
        point = along[:, 3] + np.tensordot(along[:, :3], place, (1, 0))
        total = total + (R @ force) @ point + (R @ moment) @ turns[k]
    return total
