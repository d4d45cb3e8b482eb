# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What the page says between its tables."""

from __future__ import annotations

INTRODUCTION = r"""
<!-- Made by `python -m parsa_2007` in docs/papers; a test makes it again and compares. -->

# [P]: Kane's equations from Lagrange's, after Parsa (2007), tried

K. Parsa, *The Lagrangian derivation of Kane's equations*, derives the equations of motion of rigid
bodies, free or constrained, from their kinetic energy: the derivative of an angular velocity by
the coordinates, theorem 1, spares that of the mass matrix, and what comes out are Kane's
equations. Here every numbered equation is tried: what `kron_dynamics` computes by it is compared
with what comes out another way. Then comes what is misprinted, and what is right and easily read
as something else. The paper has no example and no numbers, so all numbers are of machines of this
page, computed when it is made. The page works from a machine-made text of the paper, which tells
no year; the newest work that it cites is of 2007. Which function computes each equation, and which
test tries it: [equations.md](../equations.md).

$[\boldsymbol{\omega}\times]$ is the matrix of the cross product. Derivatives by a column have a
column for each of its entries: $\partial\boldsymbol{\omega}/\partial\mathbf{q}$ is $3 \times n$,
with $\dot{\mathbf{q}}$ held.
"""

LETTERS_TITLE = r"""
## Letters

Names of the program are below `kron_dynamics`.
"""

# [P], what it is, the program's name.
LETTERS = [
    (r'$\mathbf{q}$, $n$', 'coordinates of the tree', '`RobotModel.joint_names`'),
    (
        r'$\boldsymbol{\omega}_i$, $\mathbf{v}_i$',
        'angular velocity in axes of the body; velocity of the mass centre in those of the base',
        '`dynamics.KaneBody.velocity`',
    ),
    (
        r'$\mathbf{J}_i = [\mathbf{J}_{\omega i}; \mathbf{J}_{vi}]$',
        'Jacobian of both, $6 \\times n$',
        '`dynamics.KaneBody`: `J`, `J_dot`',
    ),
    (
        r'$\mathbf{M}_i$, $\mathbf{W}_i$',
        'inertia dyad, angular velocity dyad',
        '`dynamics.KaneBody`: `M`, `W`',
    ),
    (
        r'$\mathbf{R}_i$, $\mathbf{c}_i$',
        'axes of the body and place of its mass centre, base axes',
        '`dynamics.KaneBody`: `rotation`, `center`',
    ),
    (r'$T$, $V$', 'energies', '`dynamics.kinetic_energy`, `dynamics.potential_energy`'),
    (
        r'$\mathbf{M}$, $\mathbf{h}$, $\mathbf{C}$',
        'generalized inertia, Coriolis and centrifugal forces, their matrix',
        '`dynamics.kane_terms`',
    ),
    (
        r'$\mathbf{f}_c$',
        'forces of gravity; `gravity_vector` is minus this',
        '`dynamics.gravity_vector`, `dynamics.field_forces`',
    ),
    (
        r'$\mathbf{w}_i$, $\mathbf{f}_{nc}$',
        'forces and moments from outside',
        '`dynamics.Wrench`, `dynamics.wrench_forces`',
    ),
    (r'$\boldsymbol{\tau}$', 'efforts of the joints', '`dynamics.inverse_dynamics`'),
    (
        r'$\mathbf{A}$, $\mathbf{b}$, $r$',
        'conditions of the rates, their number',
        '`constraints.ConstraintTerms`, `ConstrainedRobot.terms`',
    ),
    (
        r'$\mathbf{u}$, $m$, $\mathbf{B}$, $\mathbf{d}$',
        r'independent speeds, $\dot{\mathbf{q}} = \mathbf{B}\mathbf{u} + \mathbf{d}$',
        '`constraints.Speeds`, `ConstrainedRobot.speeds`',
    ),
    (
        r'$\dot{\mathbf{B}}\mathbf{u} + \dot{\mathbf{d}}$, not written in [P]',
        r'what $\ddot{\mathbf{q}}$ has beside $\mathbf{B}\dot{\mathbf{u}}$',
        '`constraints.Speeds`: `gamma`',
    ),
    (
        r'$\boldsymbol{\phi}$, $\boldsymbol{\lambda}$ (not in [P])',
        r'$\boldsymbol{\phi} = \mathbf{A}^T\boldsymbol{\lambda}$, what holds the conditions',
        '`constrained.ConstrainedMotion`: `multipliers`',
    ),
    (
        r'$\boldsymbol{\eta}$, $\circledast$, $\otimes$, $\boldsymbol{\eta}^*$',
        'quaternion, vector part first; products; conjugate',
        '`kinematics.star`, `kinematics.times`, `kinematics.conjugate`',
    ),
]

TREE = r"""
## The tree

{bodies} bodies in {n} coordinates, without any symmetry, described as a URDF; the finger goes half
as far as the slide. Axes are of length one in rational numbers, and at the one state all sines and
cosines are rational, so that everything below is exact: an error of 0 is exactly 0. SI units.
"""

STATE = r"""
Coordinates: of the joints to {links}. $\mathbf{{q}} = [{q}]^T$,
$\dot{{\mathbf{{q}}}} = [{qd}]^T$, $\ddot{{\mathbf{{q}}}} = [{qdd}]^T$,
$\mathbf{{g}} = [{g}]^T$.

## Trees, (2)-(4), (12)-(38)

What the program computes is compared with exact derivatives of poses: $\boldsymbol{{\omega}}$ is
read off $\mathbf{{R}}^T\dot{{\mathbf{{R}}}}$, and the *energy of particles* is half the sum of
the squares of all their velocities,
$\frac{{1}}{{2}}\sum\mathrm{{tr}}(\dot{{\mathbf{{X}}}}_i\mathbf{{P}}_i\dot{{\mathbf{{X}}}}_i^T)$
with the pose $\mathbf{{X}}_i$ of a body and its second moments of mass $\mathbf{{P}}_i$: neither
angular velocities nor Jacobians are in it.
"""

LOOP = r"""
## Constraints, (1), (5)-(11), (39)-(46)

The same tree with a point of its wrist on one of its tail, which moves away from it with time:
three conditions, so two independent speeds, $\mathbf{{u}} = [{u}]^T$ of {free}. All rates,
$\dot{{\mathbf{{q}}}} = [{qd}]^T$ rounded, follow.
Compared with: Lagrange's equation in these two coordinates alone,
$\frac{{d}}{{dt}}\frac{{\partial T^*}}{{\partial\mathbf{{u}}}} -
\frac{{\partial T^*}}{{\partial\mathbf{{s}}}} + \frac{{\partial V^*}}{{\partial\mathbf{{s}}}} =
\mathbf{{B}}^T\boldsymbol{{\tau}}$, $T^*(\mathbf{{s}}, \mathbf{{u}}, t)$ the energy along what the
loop allows. It has no multipliers, and no $\dot{{\mathbf{{B}}}}$. `ConstrainedRobot` computes with
floats: *below* bounds its error over the largest entry, or 1.
"""

QUATERNIONS = r"""
## Theorem 1 by quaternions, (A-2)-(A-8), (B-9)-(B-19)

A wrist of three skew joints at rational half angles; (B-10)-(B-12) and (B-16) on quaternions of
any length. Misprints are put right. (A-1), (A-4), (A-6) of the tree and (A-7) of the loop are
above.
"""

VECTORS = r"""
## Reference vectors

Those of `test/vectors/public_vectors.json` that belong to [P], in floats; the largest error of all
entries, each over its largest number or 1.
"""

MACHINES = r"""
## Machines of these files

The sums over bodies against other equations of the program: composite bodies for $\mathbf{M}$,
$\mathbf{h}$ and $\mathbf{C}\dot{\mathbf{q}}$, recursive inverse dynamics for (30), and for
$\ddot{\mathbf{q}}$ of (46), with the constraints in `config/`, one system of all accelerations and
multipliers. Over the largest entries.
"""

MISPRINTS = r"""
## Where the text is wrong

Exact numbers; the loop for (41), the wrist for the others. *Transcription*: the fault is in the
text that this page works from and most likely not in print; the two operators differ in what is
inside a small circle. Where one misprint repeats another, that is said; the others are by
themselves, and no numbered equation but those named here takes one over: (42) follows from
(41) put right, and (A-3) from (A-2) put right.
"""

MIND = r"""
## Right, but mind

Equations that are right as printed, and how one may read them, or what they are easily taken for.
Exact numbers of the tree, the loop and the wrist, where no other is named; SI units.
"""
