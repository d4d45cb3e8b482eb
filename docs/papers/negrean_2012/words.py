# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What the page says between its tables."""

from __future__ import annotations

INTRODUCTION = r"""
<!-- Made by `python -m negrean_2012` in docs/papers; a test makes it again and compares. -->

# [N]: advanced systems dynamics, after Negrean, Kacso and Rusu (2012), tried

I. Negrean, K. Kacso, F. Rusu, *Formulations in advanced systems dynamics*, has kinematics by
matrix exponentials of screws, the twelve sets of orientation angles, energies of acceleration and
equations of motion of third order by them, and the example 2TR. Of the kinematics, (1)-(45), what
`kron_dynamics` computes by each equation is compared here with what comes out another way; the
example is derived anew. Then comes what is misprinted, and what is right and easily read as
something else. The paper has no numbers, so all numbers are of machines of this page, computed
when it is made. The page works from a machine-made text of the paper, which tells no year; the
newest work that it cites is of 2012. Its dots over letters are mostly lost in (46)-(78) and were
put back. Which function computes each equation, and which test tries it:
[equations.md](../equations.md).

In the program the kinematics of [N] are a second way to what it computes from body to body, and
share no step with that: each is a check of the other, on every robot that can be had. What rates
of efforts are good for: [third-order.md](../third-order.md).

In (1)-(25), $c$ and $s$ are cosine and sine of $q_i^*$. "The exponential of a sum" stands for
ordered products throughout the paper; below, they are written as such.
"""

LETTERS_TITLE = r"""
## Letters

Names of the program are below `kron_dynamics`.
"""

# [N], what it is, the program's name.
LETTERS = [
    (r'$\bar{\theta}$, $n$', 'coordinates', '`RobotModel.joint_names`'),
    (
        r'$\bar{p}_i^{(0)}$, $\bar{k}_i^{(0)}$, $\bar{v}_i^{(0)}$',
        'origin and axis of a joint where all positions are 0, velocity of what passes the base',
        '`kinematics.Screw`: `point`, `axis`, `linear`',
    ),
    (
        r'$\Delta_i\bar{k}_i$',
        r'axis of what turns, 0 of what slides: no other switch is needed',
        '`kinematics.Screw`: `angular`',
    ),
    (r'$M_{vn}^{(0)}$', 'table of the screws', '`kinematics.screw_table`'),
    (r'$T_{x0}^{(0)}$', 'pose where all positions are 0', '`kinematics.zero_pose`'),
    (
        r'$e^{A_i q_i}$, $\bar{b}_i$',
        'motion by one joint, its translation',
        '`kinematics.screw_exponential`',
    ),
    (r'$T_{x0}$', 'pose', '`kinematics.product_of_exponentials`'),
    (r'${}^0J$', 'Jacobian, velocities of the origin above', '`kinematics.screw_jacobian`'),
    (
        r'$\alpha_A$, $\beta_B$, $\gamma_C$',
        "angles of a set, which goes by its axes: 'zyx'",
        '`kinematics.ORIENTATION_SETS`',
    ),
    (
        r'${}^0J_\Omega$, $J_\psi$',
        'angular transfer matrix',
        '`kinematics.angular_transfer_matrix`',
    ),
]

ARM = r"""
## The arm

{n} joints about skew axes, the third of which slides, and a tool on the last link, described as a
URDF. Axes are of length one in rational numbers, frames of the joints are turned by right angles,
and at the one state all sines and cosines are rational, so that everything below is exact: an
error of 0 is exactly 0. SI units.
"""

STATE = r"""
$\bar{{\theta}} = [{q}]^T$, $\dot{{\bar{{\theta}}}} = [{qd}]^T$,
$\ddot{{\bar{{\theta}}}} = [{qdd}]^T$, $\dddot{{\bar{{\theta}}}} = [{qddd}]^T$.

## Screws and their exponentials, (1)-(10)

Compared with poses that go from body to body, by rotation matrices and offsets of each joint in
axes of the body before, and with exact derivatives of them. (26) names coordinates and has nothing
to compute.
"""

MOTION = r"""
## Jacobian, velocities, accelerations, jerks, (11)-(25)

The matrices of the paper, multiplied as it has them, and the functions of the program are both
compared with exact derivatives of these poses along a motion; $\bar{\omega}$ is read off
$\dot{R}R^T$.
"""

ANGLES = r"""
## Orientation angles, (27)-(45)

All twelve sets at $\bar{{\Omega}} = [{angles}]^T$, $\dot{{\bar{{\Omega}}}} = [{rates}]^T$,
$\ddot{{\bar{{\Omega}}}} = [{accelerations}]^T$. Compared with turns about x, y and z written entry
by entry, and exact derivatives of their products.
"""

VECTORS = r"""
## Reference vectors

Those of `test/vectors/public_vectors.json` that belong to (1)-(45), in floats; the largest error
of all entries, each over its largest number or 1.
"""

MACHINES = r"""
## Machines of these files

By matrix exponentials and from body to body, in floats, all links; over the largest entry or 1.
The gripper has joints that follow others, the last file joints that turn and slide at once.
"""

EXAMPLE = r"""
## The robot 2TR, (68)-(78)

Derived by the program from [urdf/two_tr.urdf](../../urdf/two_tr.urdf) with symbols for its
parameters. $s_3 = \sin q_3$, $c_3 = \cos q_3$; $I_z = {}^3I_{xx} + {}^3I_{yy}$ is about the mass
centre, as $M_3 a_2^2$ stands beside it. The error is that of the paper's forms at one state of
rational numbers, 0 being exactly 0. Those with an error are below.
"""

MISPRINTS = r"""
## Where the text is wrong

Up to (45) exact numbers of the arm, an exponential of a sum as one exponential in floats; then one
rigid body in rational numbers, joint $q_3$ of 2TR, which lifts nothing, and 2TR. *Transcription*:
the fault is in the text that this page works from and most likely not in print. What is misprinted
in (6) and (16) goes through (7), (8), (10), (17) and (21)-(23); each of these is right with the
others put right.
"""

MIND = r"""
## Right, but mind

Equations of (1)-(45) that are right as printed, and how one may read them, or what they are easily
taken for. Exact numbers of the arm and of the set zyx, where no other is named; SI units.
"""

MIND_DYNAMICS = r"""
Of (46)-(67):

- (59): the $m$-th time derivative of $E_C$ is differentiated by that of $q_j$ of the same order,
  and $E_C$ itself by $q_j$: Nielsen's equations for $m = 1$, Tsenov's for $m = 2$.
  `mangeron_tsenov_forces`.
- (60): the $m$-th time derivative of $E_A^{(1)}$ is differentiated by that of $q_j$ of order
  $m + 2$. `appell_forces`.
- (61), (62): time derivatives are those of an observer at rest; to components in the axes of the
  bodies $\omega \times$ has to be added.
- (64), (65) hold for the complete $E_A^{(1)}$, with its term $\frac{1}{2} \omega^2 (\omega I
  \omega)$, which (57) may leave out. `appell_rate_terms`.
- (67): the $m$-th time derivative of $E_A^{(2)}$ is differentiated by that of $q_j$ of order
  $m + 3$ (`appell_jerk_forces`), and the middle member is the rate of $Q_m - Q_g$.
"""
