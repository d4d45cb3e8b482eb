# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""(2)-(4) and (12)-(38) of [P] for the tree, in exact numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from shared.claims import Check
from shared.derivatives import rate, slope
from shared.exact import eye, largest, rationals

from kron_dynamics import dynamics, kinematics
from kron_dynamics.dynamics import Wrench
from kron_dynamics.kronecker import skew

from .places import Bodies
from .tree import JOINTS, LINKS, State

FORCE, MOMENT = rationals('3', '-2', '5'), rationals('1/2', '7', '-4')
PLACE = rationals('1/5', '-1/3', '1/2')
POSES, ENERGY = 'derivatives of poses', 'derivatives of the energy of particles'


class Matrices:
    """The paper's matrices of all bodies, from derivatives of poses.

    Attributes:
        J: [J_w; J_v] of each body.
        J_dot: their rates.
        M: inertia dyads.
        W: angular velocity dyads.
        twists: [omega; v] of each body.
        bodies: the links.
        mass: mass matrix from the energy of particles.
        mass_rate: rate of the mass matrix.
        christoffel: Christoffel symbols of the first kind, [a, i, j].
    """

    def __init__(self, state: State) -> None:
        """Compute all attributes by exact differentiation."""
        self.bodies = bodies = Bodies(state.model, LINKS)
        q, qd = state.q, state.qd

        def jacobians(x: Any) -> Any:
            return slope(lambda rates: bodies.twists(x, rates), 0 * qd)

        self.J = jacobians(q)
        self.J_dot = rate(lambda t: jacobians(q + qd * t))
        self.twists = bodies.twists(q, qd)
        self.M, self.W = [], []
        for (_, m, _, inertia), twist in zip(bodies.links, self.twists, strict=True):
            M, W = np.zeros((2, 6, 6), dtype=object)
            M[:3, :3], M[3:, 3:], W[:3, :3] = inertia, m * eye(3), skew(twist[:3])
            self.M.append(M)
            self.W.append(W)
        self.mass = bodies.mass_matrix(q)
        by_q = slope(bodies.mass_matrix, q)
        self.mass_rate = by_q @ qd
        symbols = by_q + by_q.transpose(0, 2, 1) - by_q.transpose(2, 1, 0)
        self.christoffel = symbols / 2

    def total(self, term: Any) -> Any:
        """Return the sum of term(J, J_dot, M, W) over the bodies."""
        parts = zip(self.J, self.J_dot, self.M, self.W, strict=True)
        return sum(term(*part) for part in parts)


def statements(state: State, matrices: Matrices) -> list[Check]:
    """Check (2)-(4) and (12)-(38), the paper's equations for trees."""
    return [
        *_forces(state, matrices.bodies),
        *_velocities(state, matrices),
        *_energies(state, matrices.bodies),
        *_equations(state, matrices),
    ]


def virtual_work(state: State, bodies: Bodies, wrenches: list[Any]) -> Any:
    """Return sum f . dr/dq + n . dtheta/dq, of forces and moments in axes of the links.

    [P] eq. (2).
    """
    q, forces = state.q, 0 * state.q
    rotations = bodies.rotations(q)
    turns = slope(lambda rates: bodies.base_spins(q, rates), 0 * q)
    moves = bodies.moves(q)
    for k, force, moment, place in wrenches:
        R, by_q = rotations[k], moves[k]
        point = by_q[:, 3] + np.tensordot(by_q[:, :3], place, (1, 0))
        forces = forces + (R @ force) @ point + (R @ moment) @ turns[k]
    return forces


def _forces(state: State, bodies: Bodies) -> list[Check]:
    """Check (2)-(4), (28), (31): forces at any points, by virtual work."""
    model, q, qd, qdd = state.model, state.q, state.qd, state.qdd
    count = range(len(bodies.links))
    loads = [(FORCE * (k + 1), MOMENT * (k - 2), PLACE * (2 - k)) for k in count]
    at_places = [Wrench(LINKS[k], f, n, p) for k, (f, n, p) in enumerate(loads)]
    at_centers = [Wrench(LINKS[k], f, n) for k, (f, n, _) in enumerate(loads)]
    work = virtual_work(state, bodies, [(k, *load) for k, load in enumerate(loads)])
    centers = [(k, f, n, bodies.links[k][2]) for k, (f, n, _) in enumerate(loads)]
    force = dynamics.inverse_dynamics(model, q, qd, qdd)
    phi = bodies.inertia_forces(q, qd, qdd) + slope(bodies.potential_energy, q) - force
    return [
        Check(
            '(2)',
            r'$\mathbf{f}^T\delta\mathbf{q} = \sum(\mathbf{f}_i^T\,\delta\mathbf{r}_i + '
            r'\mathbf{n}_i^T\,\delta\boldsymbol{\theta}_i)$, forces at any points of the bodies',
            '`dynamics.wrench_forces`',
            'derivatives of the positions $\\mathbf{r}_i$ and of $\\mathbf{R}_i$',
            largest(dynamics.wrench_forces(model, q, at_places) - work),
        ),
        Check(
            '(3), (12)',
            r'$\boldsymbol{\phi} = \frac{d}{dt}\frac{\partial T}{\partial\dot{\mathbf{q}}} - '
            r'\frac{\partial T}{\partial\mathbf{q}} + \frac{\partial V}{\partial\mathbf{q}} - '
            r'\boldsymbol{\tau} = \mathbf{0}$',
            '`dynamics.inverse_dynamics`',
            ENERGY,
            largest(phi),
        ),
        Check(
            '(4), (28), (31)',
            r'$\mathbf{f} = \sum\mathbf{J}_i^T[\mathbf{n}_i; \mathbf{R}_i\mathbf{f}_i]$, forces '
            'at the centres of mass, in axes of the bodies',
            '`dynamics.wrench_forces`',
            'the same at $\\mathbf{c}_i$',
            largest(
                dynamics.wrench_forces(model, q, at_centers) - virtual_work(state, bodies, centers)
            ),
        ),
        Check(
            '(31)',
            r'$\boldsymbol{\tau}$ from moments and forces of drives, each acting on two bodies',
            '`dynamics.wrench_forces`',
            r'$\boldsymbol{\tau}$',
            largest(dynamics.wrench_forces(model, q, drives(state, force)) - force),
        ),
    ]


def drives(state: State, tau: Any, reaction: bool = True) -> list[Wrench]:
    """Return the wrenches of actuators: each joint's effort, and its reaction on the parent."""
    found = []
    for name, effort in zip(state.model.joint_names, tau, strict=True):
        parent, link, text, slides = JOINTS[name]
        axis = rationals(*text.split()) * effort
        nothing = 0 * axis
        place = kinematics.relative_pose(state.model, state.q, link, parent)[:3, 3]
        sides = [(link, 1, nothing), (parent, -1, place)] if reaction else [(link, 1, nothing)]
        for body, sign, point in sides:
            loads = (sign * axis, nothing) if slides else (nothing, sign * axis)
            found.append(Wrench(body, *loads, point, link))
    return found


def _velocities(state: State, matrices: Matrices) -> list[Check]:
    """Check (13)-(18), (21), (25): velocities of the bodies, their rates and derivatives."""
    model, q, qd, qdd, bodies = state.model, state.q, state.qd, state.qdd, matrices.bodies
    kane = list(dynamics.kane_bodies(model, q, qd))
    terms = dynamics.kane_energy_terms(model, q, qd, qdd)
    twists, rates = matrices.twists, rate(lambda t: bodies.twists(*state.along(t)))
    found = [body.velocity(qd) for body in kane], [body.acceleration(qd, qdd) for body in kane]
    velocity, acceleration = (np.array(x) for x in found)
    by_q = slope(lambda x: bodies.spins(x, qd), q)
    by_q_base = slope(lambda x: bodies.base_spins(x, qd), q)
    by_q_v = slope(lambda x: bodies.velocities(x, qd), q)
    base = [kinematics.angular_velocity_gradient(model, q, qd, name) for name in LINKS]
    gradients = [kinematics.body_angular_velocity_gradient(model, q, qd, name) for name in LINKS]
    linear = [
        kinematics.velocity_gradient(model, q, qd, name, center)
        for name, _, center, _ in bodies.links
    ]
    dyads = [body.M - M for body, M in zip(kane, matrices.M, strict=True)]
    spins = [body.W - W for body, W in zip(kane, matrices.W, strict=True)]
    by_rates = [body.J - J for body, J in zip(kane, matrices.J, strict=True)]
    omega = r'\boldsymbol{\omega}'
    return [
        Check(
            '(13)',
            rf'$T = \frac{{1}}{{2}}\sum({omega}_i^T\mathbf{{I}}_i{omega}_i + '
            r'\mathbf{v}_i^T m_i\mathbf{v}_i)$',
            '`dynamics.kane_energy_terms`',
            'squared velocities of all particles, from derivatives of poses',
            abs(terms.kinetic_energy - bodies.kinetic_energy(q, qd)),
        ),
        Check(
            '(14)',
            rf'${omega}_i = \mathbf{{J}}_{{\omega i}}\dot{{\mathbf{{q}}}}$, $\dot{{{omega}}}_i = '
            r'\mathbf{J}_{\omega i}\ddot{\mathbf{q}} + '
            r'\dot{\mathbf{J}}_{\omega i}\dot{\mathbf{q}}$',
            '`dynamics.KaneBody`',
            r'$\mathbf{R}^T\dot{\mathbf{R}}$ and its rate along a motion',
            largest([velocity[:, :3] - twists[:, :3]] + [acceleration[:, :3] - rates[:, :3]]),
        ),
        Check(
            '(15)',
            r'$\mathbf{v}_i = \mathbf{J}_{vi}\dot{\mathbf{q}}$, $\dot{\mathbf{v}}_i = '
            r'\mathbf{J}_{vi}\ddot{\mathbf{q}} + \dot{\mathbf{J}}_{vi}\dot{\mathbf{q}}$',
            '`dynamics.KaneBody`',
            r'$\dot{\mathbf{c}}_i$ and $\ddot{\mathbf{c}}_i$ along a motion',
            largest([velocity[:, 3:] - twists[:, 3:]] + [acceleration[:, 3:] - rates[:, 3:]]),
        ),
        Check(
            '(16), (21)',
            rf'$\mathbf{{J}}_i = [\partial{omega}_i/\partial\dot{{\mathbf{{q}}}}; '
            r'\partial\mathbf{v}_i/\partial\dot{\mathbf{q}}]$, $\mathbf{M}_i = '
            r'\mathrm{diag}(\mathbf{I}_i, m_i\mathbf{1})$',
            '`dynamics.KaneBody`',
            POSES + ', and the description',
            largest([*by_rates]) + largest([*dyads]),
        ),
        Check(
            '(17), (A-1), (A-4)',
            rf'$\partial{omega}/\partial\mathbf{{q}} = \dot{{\mathbf{{J}}}}_\omega + '
            rf'[{omega}\times]\mathbf{{J}}_\omega$',
            '`kinematics.body_angular_velocity_gradient`',
            r'derivative of $\mathbf{R}^T\dot{\mathbf{R}}$ with respect to $\mathbf{q}$',
            largest(np.array(gradients) - by_q),
        ),
        Check(
            '(A-6)',
            rf'$\partial{omega}/\partial\mathbf{{q}} = \dot{{\mathbf{{J}}}}_\omega - '
            rf'[{omega}\times]\mathbf{{J}}_\omega$ in base axes',
            '`kinematics.angular_velocity_gradient`',
            r'derivative of $\dot{\mathbf{R}}\mathbf{R}^T$ with respect to $\mathbf{q}$',
            largest(np.array(base) - by_q_base),
        ),
        Check(
            '(18)',
            r'$\partial\mathbf{v}_i/\partial\mathbf{q} = \dot{\mathbf{J}}_{vi}$',
            '`kinematics.velocity_gradient`',
            r'derivative of $\dot{\mathbf{c}}_i$ with respect to $\mathbf{q}$',
            largest(np.array(linear) - by_q_v),
        ),
        Check(
            '(25)',
            rf'$\mathbf{{W}}_i = \mathrm{{diag}}([{omega}_i\times], \mathbf{{O}})$',
            '`dynamics.KaneBody`',
            r'$\mathbf{R}^T\dot{\mathbf{R}}$',
            largest([*spins]),
        ),
    ]


def _energies(state: State, bodies: Bodies) -> list[Check]:
    """Check (19)-(24), (26), (27), (29): derivatives of the energies."""
    model, q, qd, qdd = state.model, state.q, state.qd, state.qdd
    terms = dynamics.kane_energy_terms(model, q, qd, qdd)
    momentum = bodies.momentum(q, qd)
    momentum_rate = rate(lambda t: bodies.momentum(*state.along(t)))
    by_q = slope(lambda x: bodies.kinetic_energy(x, qd), q)

    def height(x: Any) -> Any:
        return dynamics.potential_energy(model, x) - bodies.potential_energy(x)

    weight = slope(bodies.potential_energy, q)
    other = 0 * q
    return [
        Check(
            '(19), (20)',
            r'$\partial T/\partial\dot{\mathbf{q}} = '
            r'\sum\mathbf{J}_i^T\mathbf{M}_i\mathbf{J}_i\dot{\mathbf{q}}$',
            '`dynamics.kane_energy_terms`',
            ENERGY,
            largest(terms.momentum - momentum),
        ),
        Check(
            '(22)',
            r'$\frac{d}{dt}\frac{\partial T}{\partial\dot{\mathbf{q}}} = '
            r'\sum(\mathbf{J}_i^T\mathbf{M}_i\frac{d}{dt}(\mathbf{J}_i\dot{\mathbf{q}}) + '
            r'\dot{\mathbf{J}}_i^T\mathbf{M}_i\mathbf{J}_i\dot{\mathbf{q}})$',
            '`dynamics.kane_energy_terms`',
            ENERGY + ', along a motion',
            largest(terms.momentum_rate - momentum_rate),
        ),
        Check(
            '(23), (24)',
            r'$\partial T/\partial\mathbf{q} = \sum(\dot{\mathbf{J}}_i^T\mathbf{M}_i\mathbf{J}_i '
            r'- \mathbf{J}_i^T\mathbf{W}_i\mathbf{M}_i\mathbf{J}_i)\dot{\mathbf{q}}$',
            '`dynamics.kane_energy_terms`',
            ENERGY,
            largest(terms.energy_gradient - by_q),
        ),
        Check(
            '(26)',
            r'$V = -\sum m_i\mathbf{c}_i^T\mathbf{g}$, up to a constant',
            '`dynamics.potential_energy`',
            'positions of the centres of mass',
            abs(height(q) - height(other)),
        ),
        Check(
            '(27)',
            r'$\mathbf{f}_c = -\partial V/\partial\mathbf{q} = '
            r'\sum m_i\mathbf{J}_{vi}^T\mathbf{g}$',
            '`dynamics.gravity_vector`, `dynamics.field_forces`',
            'derivative of $V$',
            largest(dynamics.gravity_vector(model, q) - weight)
            + largest(dynamics.field_forces(model, q, constant_field(state)) + weight),
        ),
    ]


def constant_field(state: State) -> dynamics.FieldOf:
    """Return gravity as a uniform field."""
    return dynamics.FieldOf(lambda c: state.model.gravity + 0 * c)


def _equations(state: State, matrices: Matrices) -> list[Check]:
    """Check (29)-(38): the equations of motion."""
    model, q, qd, qdd, bodies = state.model, state.q, state.qd, state.qdd, matrices.bodies
    terms, energy = dynamics.kane_terms(model, q, qd), bodies.inertia_forces(q, qd, qdd)
    own = dynamics.kane_energy_terms(model, q, qd, qdd)
    forces = dynamics.kane_inertia_forces(model, q, qd, qdd)
    tau = dynamics.inverse_dynamics(model, q, qd, qdd)
    weights = [Wrench(name, m * model.gravity, axes='base') for name, m, _, _ in bodies.links]
    wrenches = dynamics.wrench_forces(model, q, [*drives(state, tau), *weights])
    masses = np.array([[m] for _, m, _, _ in bodies.links])

    def spins(t: Any) -> Any:
        x, xd = state.along(t)
        sides = zip(bodies.rotations(x), bodies.links, bodies.spins(x, xd), strict=True)
        return np.array([R @ inertia @ omega for R, (*_, inertia), omega in sides])

    euler = np.array([R.T @ x for R, x in zip(bodies.rotations(q), rate(spins), strict=True)])
    newton = rate(lambda t: masses * bodies.velocities(*state.along(t)))
    wrench = [body.inertia_wrench(qd, qdd) for body in dynamics.kane_bodies(model, q, qd)]
    balance = np.array(wrench) - np.concatenate([euler, newton], axis=1)
    by_q = slope(lambda x: bodies.kinetic_energy(x, qd), q)
    bias = rate(lambda t: bodies.momentum(q + qd * t, qd)) - by_q
    C = matrices.total(lambda J, Jd, M, W: J.T @ (M @ Jd + W @ M @ J + M @ W @ J))
    S = matrices.mass_rate - 2 * terms.C
    return [
        Check(
            '(29), (30)',
            r'$\frac{d}{dt}\frac{\partial T}{\partial\dot{\mathbf{q}}} - '
            r'\frac{\partial T}{\partial\mathbf{q}} = \sum\mathbf{J}_i^T[\mathbf{M}_i'
            r'\frac{d}{dt}(\mathbf{J}_i\dot{\mathbf{q}}) + '
            r'\mathbf{W}_i\mathbf{M}_i\mathbf{J}_i\dot{\mathbf{q}}]$',
            '`dynamics.kane_energy_terms`, `dynamics.kane_inertia_forces`',
            ENERGY,
            largest(own.momentum_rate - own.energy_gradient - energy) + largest(forces - energy),
        ),
        Check(
            '(32)',
            r'this equals $\sum\mathbf{J}_i^T\mathbf{w}_i$ of drives and weights',
            '`dynamics.kane_inertia_forces`, `dynamics.wrench_forces`',
            '`dynamics.inverse_dynamics` for the drives',
            largest(forces - wrenches),
        ),
        Check(
            '(33)',
            r'$[\mathbf{I}_i\dot{\boldsymbol{\omega}}_i + \boldsymbol{\omega}_i\times'
            r'\mathbf{I}_i\boldsymbol{\omega}_i; m_i\dot{\mathbf{v}}_i]$',
            '`dynamics.KaneBody.inertia_wrench`',
            'rates of momentum and of angular momentum, base axes',
            largest(balance),
        ),
        Check(
            '(34), (35)',
            r'$\mathbf{M} = \sum\mathbf{J}_i^T\mathbf{M}_i\mathbf{J}_i$, $\mathbf{h} = '
            r'\sum\mathbf{J}_i^T(\mathbf{M}_i\dot{\mathbf{J}}_i + '
            r'\mathbf{W}_i\mathbf{M}_i\mathbf{J}_i)\dot{\mathbf{q}}$',
            '`dynamics.kane_terms`',
            ENERGY,
            largest(terms.M - matrices.mass) + largest(terms.h - bias),
        ),
        Check(
            '(36)',
            r'$\mathbf{C} = \sum\mathbf{J}_i^T(\mathbf{M}_i\dot{\mathbf{J}}_i + '
            r'\mathbf{W}_i\mathbf{M}_i\mathbf{J}_i + \mathbf{M}_i\mathbf{W}_i\mathbf{J}_i)$',
            '`dynamics.kane_coriolis_matrix`',
            r'$\mathbf{J}_i$, $\dot{\mathbf{J}}_i$, $\mathbf{W}_i$ from derivatives of poses',
            largest(dynamics.kane_coriolis_matrix(model, q, qd) - C),
        ),
        Check(
            '(37), (38)',
            r'$\mathbf{C}\dot{\mathbf{q}} = \mathbf{h}$, $\mathbf{M}\ddot{\mathbf{q}} + '
            r'\mathbf{C}\dot{\mathbf{q}} = \boldsymbol{\tau} + \mathbf{f}_c$',
            '`dynamics.kane_terms`',
            ENERGY,
            largest(terms.C @ qd - bias) + largest(terms.M @ qdd + terms.C @ qd - energy),
        ),
        Check(
            'after (38)',
            r'$\dot{\mathbf{M}} - 2\mathbf{C}$ plus its transpose is 0',
            '`dynamics.kane_terms`',
            r'$\dot{\mathbf{M}}$ from ' + ENERGY,
            largest(S + S.T),
        ),
    ]
