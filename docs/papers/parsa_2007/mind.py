# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Equations of [P] that are correct but easily misread: trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from shared.claims import Misprint, reading
from shared.derivatives import rate, slope
from shared.exact import largest

from kron_dynamics import dynamics, kinematics
from kron_dynamics.dynamics import Wrench
from kron_dynamics.kronecker import cross, skew

from .places import Bodies
from .tree import LINKS, State
from .trees import FORCE, MOMENT, PLACE, Matrices, drives, virtual_work


def trees(state: State, matrices: Matrices) -> list[Misprint]:
    """Return the easily misread equations of sections 2 and 3."""
    return [
        *_sums(state, matrices),
        *_derivatives(state, matrices),
        *_forces(state, matrices.bodies),
        *_coriolis(state, matrices),
    ]


def _sums(state: State, matrices: Matrices) -> list[Misprint]:
    q, qd, n, bodies = state.q, state.qd, state.n, matrices.bodies
    parts = [J.T @ M_i @ J for J, M_i in zip(matrices.J, matrices.M, strict=True)]
    k = 3  # the wrist
    _, _, center, _ = bodies.links[k]
    arm = PLACE - center
    at_place = [(k, FORCE, MOMENT, PLACE)]
    work = virtual_work(state, bodies, at_place)
    centers = [
        dynamics.wrench_forces(state.model, q, [Wrench(LINKS[k], FORCE, moment)])
        for moment in (MOMENT, MOMENT + cross(arm, FORCE))
    ]
    energies = []
    moving = bodies.velocities(q, qd)
    for turning in (bodies.base_spins(q, qd), bodies.spins(q, qd)):
        energies.append(
            sum(
                (w @ inertia @ w + m * v @ v) / 2
                for w, v, (_, m, _, inertia) in zip(turning, moving, bodies.links, strict=True)
            )
        )
    exact = bodies.kinetic_energy(q, qd)
    return [
        reading(
            '(2), (4), (13), ...',
            r'$n$ bodies for $n$ coordinates',
            f'sums run over all bodies: here {len(LINKS)}, with {n} coordinates',
            r'$\mathbf{M}$',
            largest(sum(parts[:n]) - matrices.mass),
            largest(sum(parts) - matrices.mass),
        ),
        reading(
            '(4)',
            r'$\mathbf{v}_i$ of the centre of mass, wherever $\mathbf{f}_i$ acts',
            r'then with the moment $\mathbf{n}_i + \mathbf{p}\times\mathbf{f}_i$; or with '
            r'$\dot{\mathbf{r}}_i$ as in (2), (11)',
            'virtual work',
            largest(centers[0] - work),
            largest(centers[1] - work),
        ),
        reading(
            '(13), (21)',
            r'$\boldsymbol{\omega}_i$ in base axes like $\mathbf{v}_i$',
            r'$\boldsymbol{\omega}_i$ in axes of the body, like $\mathbf{I}_i$',
            '$T$',
            *(abs(energy - exact) for energy in energies),
        ),
    ]


def _derivatives(state: State, matrices: Matrices) -> list[Misprint]:
    model, q, qd, bodies = state.model, state.q, state.qd, matrices.bodies
    k, name = 3, LINKS[3]
    exact = slope(lambda x: bodies.base_spins(x, qd)[k], q)
    J = kinematics.rotational_jacobian(model, q, name)
    turning = skew(bodies.base_spins(q, qd)[k]) @ J
    J_dot = kinematics.jacobian_dot(model, q, qd, name)[3:]

    def own(x: Any, rates: Any) -> Any:
        return bodies.rotations(x)[k].T @ bodies.velocities(x, rates)[k]

    def own_jacobian(x: Any) -> Any:
        return slope(lambda rates: own(x, rates), qd)

    by_q = slope(lambda x: own(x, qd), q)
    own_rate = rate(lambda t: own_jacobian(q + qd * t))
    J_w = matrices.J[k][:3]
    more = skew(matrices.twists[k][:3]) @ own_jacobian(q) + skew(own(q, qd)) @ J_w
    energy = slope(lambda x: bodies.kinetic_energy(x, qd), q)[:3]
    gradients = [
        kinematics.body_angular_velocity_gradient(model, q, qd, link)[:, :3] for link in LINKS
    ]
    momenta = [M[:3, :3] @ twist[:3] for M, twist in zip(matrices.M, matrices.twists, strict=True)]
    moving = sum(
        (J_dot[3:].T @ M[3:, 3:] @ twist[3:])[:3]
        for J_dot, M, twist in zip(matrices.J_dot, matrices.M, matrices.twists, strict=True)
    )
    both = list(zip(gradients, momenta, strict=True))
    untransposed = moving + sum(G @ momentum for G, momentum in both)
    transposed = moving + sum(G.T @ momentum for G, momentum in both)
    return [
        reading(
            '(17)',
            r'$+[\boldsymbol{\omega}\times]\mathbf{J}_\omega$ also in base axes',
            'minus in base axes: (A-6)',
            r'$\partial\boldsymbol{\omega}/\partial\mathbf{q}$ of the wrist',
            largest(J_dot + turning - exact),
            largest(J_dot - turning - exact),
        ),
        reading(
            '(18)',
            r'$\mathbf{v}_i$ also in axes of the body',
            r'in axes of the body $+ [\boldsymbol{\omega}\times]\mathbf{J}_v + [\mathbf{v}\times]'
            r'\mathbf{J}_\omega$',
            r'$\partial\mathbf{v}/\partial\mathbf{q}$ of the wrist, in its axes',
            largest(own_rate - by_q),
            largest(own_rate + more - by_q),
        ),
        reading(
            '(23)',
            r'$\partial\boldsymbol{\omega}/\partial\mathbf{q}$ is $n \times 3$: no transpose, '
            'for which the sizes fit if $n = 3$',
            r'$3 \times n$, column $k$ with respect to $q_k$, like all of (16)-(18)',
            r'$\partial T/\partial\mathbf{q}$, the first three entries',
            largest(untransposed - energy),
            largest(transposed - energy),
        ),
    ]


def _forces(state: State, bodies: Bodies) -> list[Misprint]:
    model, q = state.model, state.q
    k = 3
    _, _, center, _ = bodies.links[k]
    work = virtual_work(state, bodies, [(k, FORCE, MOMENT, center)])
    kane = list(dynamics.kane_bodies(model, q, state.qd))[k]
    R = bodies.rotations(q)[k]
    readings = [kane.J.T @ np.concatenate([MOMENT, turn @ FORCE]) for turn in (R.T, R)]
    tau = dynamics.inverse_dynamics(model, q, state.qd, state.qdd)
    sides = [
        dynamics.wrench_forces(model, q, drives(state, tau, reaction))
        for reaction in (False, True)
    ]
    return [
        reading(
            '(28), (31)',
            r'"from the base-frame to the body frame": $\mathbf{R}_i$ takes base components to '
            'those of the body',
            r'from body to base components: its columns are the axes of the body',
            'virtual work',
            *(largest(reading - work) for reading in readings),
        ),
        reading(
            '(31), (32)',
            r'$\mathbf{w}_i$ of a drive acts on the body that it moves',
            'and its opposite on the body on which it is mounted',
            r'$\boldsymbol{\tau}$',
            *(largest(side - tau) for side in sides),
        ),
    ]


def _coriolis(state: State, matrices: Matrices) -> list[Misprint]:
    model, q, qd = state.model, state.q, state.qd
    C = dynamics.kane_coriolis_matrix(model, q, qd)
    short = matrices.total(lambda J, Jd, M, W: J.T @ (M @ Jd + W @ M @ J))
    assert largest((short - C) @ qd) == 0
    defects = [matrices.mass_rate - 2 * each for each in (short, C)]

    def term(J: Any, Jd: Any, M: Any, W: Any) -> Any:
        inertia, spin, J_w = M[:3, :3], W[:3, :3], J[:3]
        momentum = skew(inertia @ (J_w @ qd))
        gyroscopic = (np.trace(inertia) * spin / 2 - momentum) @ J_w
        return J_w.T @ (inertia @ Jd[:3] + gyroscopic) + J[3:].T @ M[3:, 3:] @ Jd[3:]

    symbols = matrices.christoffel @ qd
    return [
        reading(
            '(36)',
            r'every $\mathbf{C}$ with $\mathbf{C}\dot{\mathbf{q}} = \mathbf{h}$ has '
            r'$\dot{\mathbf{M}} - 2\mathbf{C}$ skew; $\sum\mathbf{J}_i^T(\mathbf{M}_i'
            r'\dot{\mathbf{J}}_i + \mathbf{W}_i\mathbf{M}_i\mathbf{J}_i)$ suffices',
            r'only with the third term of (36), $\mathbf{M}_i\mathbf{W}_i\mathbf{J}_i$',
            r'$\dot{\mathbf{M}} - 2\mathbf{C}$ plus its transpose',
            *(largest(S + S.T) for S in defects),
        ),
        reading(
            '(36)',
            r'$\mathbf{C}$ is the matrix of Christoffel symbols',
            r'that is $\sum\{m_i\mathbf{J}_{vi}^T\dot{\mathbf{J}}_{vi} + \mathbf{J}_{\omega i}^T'
            r'[\mathbf{I}_i\dot{\mathbf{J}}_{\omega i} + (\frac{1}{2}\mathrm{tr}(\mathbf{I}_i)'
            r'[\boldsymbol{\omega}_i\times] - [(\mathbf{I}_i\boldsymbol{\omega}_i)\times])'
            r'\mathbf{J}_{\omega i}]\}$, `dynamics.coriolis_matrix`',
            r'derivatives of $\mathbf{M}$',
            largest(C - symbols),
            largest(matrices.total(term) - symbols)
            + largest(dynamics.coriolis_matrix(model, q, qd) - symbols),
        ),
    ]
