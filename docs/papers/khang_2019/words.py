# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What the page says between its equations and tables."""

from __future__ import annotations

INTRODUCTION = r"""
<!-- Made by `python -m khang_2019` in docs/papers; a test makes it again and compares. -->

# [K]: Taylor expansion and the flexible link of Khang, Dinh and Nguyen (2019), derived

What N. V. Khang, D. C. Dat and N. T. M. Tuan, *Taylor expansion for matrix functions of vector
variable using the Kronecker product*, Vietnam J. Mech. 41(4), 2019, 337-348,
doi 10.15625/0866-7136/14196, states, tried by `kron_dynamics` and derived by it; what is
misprinted there is in the last table. Every number here is computed when the page is made.

$\mathbf{A}(\mathbf{x})$ has shape $m \times p$, $\mathbf{x}$ length $n$,
$\boldsymbol{\Delta} = \mathbf{x} - \mathbf{x}_0$. The derivative
$\partial\mathbf{A}/\partial\mathbf{x}$ has shape $m \times pn$, and its column $(j-1)n + k$ is
$\partial\mathbf{a}_j/\partial x_k$ (`kron_dynamics.kronecker.khang_derivative`).
"""

IDENTITIES = r"""
## Kronecker products and derivatives

(6)-(10) on matrices of whole numbers of different sizes; the others on rational functions
$\mathbf{A}$ of shape $2 \times 3$, $\mathbf{a}$ and $\alpha$ of two variables, in exact rational
numbers, where there is a $j$ for $j = 1, 2, 3$. The error is the largest of all entries; 0 is
exactly 0.
"""

SERIES = r"""
## Taylor series

Terms $\frac{1}{j!}\frac{\partial^j}{\partial\mathbf{x}^j}(\ldots)_0$ times the factor below, up to
$j = k$, of functions that are no polynomials. The columns are
the power of $h$ with which what is left out vanishes as $h\boldsymbol{\Delta}$ does, found from
exact numbers at $h = 2^{-20}$ and $2^{-21}$. A right series has $k + 1$. Last: the
largest difference between the printed sum, made with Kronecker powers, and
`kron_dynamics.taylor.taylor_value`, which makes none.
"""

SWAPPED = r"""
With $\boldsymbol{{\Delta}}^{{\otimes j}} \otimes \mathbf{{E}}_p$ in (47) instead the sizes fit,
but for $k = 3$ the power is {order}: not even the first order is right.
"""

LINEAR = r"""
## First order

A right linearization leaves a remainder of order 2. Last, the difference to
`kron_dynamics.taylor`: `taylor_value`, `linear_value`, and `linearized_product` of the products.
$\mathbf{E}_n$ has the size of the variable of the derivative before it: that of $\mathbf{y}$
in the terms of $\mathbf{y}$ and that of $\mathbf{x}$ in those of $\mathbf{x}$ (the paper has both
of length $n$).
"""

FIRST_ORDER = {
    '(48)': r'$\frac{\partial\mathbf{A}}{\partial\mathbf{x}}(\mathbf{E}_p \otimes '
    r'(\mathbf{x} - \mathbf{x}_0))$',
    '(50)': r'$\frac{\partial\mathbf{A}}{\partial\mathbf{y}}(\mathbf{E}_p \otimes '
    r'(\mathbf{y} - \mathbf{y}_0)) + \frac{\partial\mathbf{A}}{\partial\mathbf{x}}'
    r'(\mathbf{E}_p \otimes (\mathbf{x} - \mathbf{x}_0))$',
    '(52)': r'$(\mathbf{A} + \frac{\partial\mathbf{A}}{\partial\mathbf{y}}'
    r'(\mathbf{y}_0 \otimes \mathbf{E}_n))(\mathbf{y} - \mathbf{y}_0) + '
    r'\frac{\partial\mathbf{A}}{\partial\mathbf{x}}'
    r'(\mathbf{y}_0 \otimes \mathbf{E}_n)(\mathbf{x} - \mathbf{x}_0)$',
    '(53)': r'$\mathbf{A}(\mathbf{y} - \mathbf{y}_0) + '
    r'\frac{\partial\mathbf{A}}{\partial\mathbf{x}}'
    r'(\mathbf{y}_0 \otimes \mathbf{E}_n)(\mathbf{x} - \mathbf{x}_0)$',
}

LINK = r"""
## The flexible link

One link on a hub in a vertical plane, one mode, $w(x, t) = X_1(x)\,q_e(t)$,
$\mathbf{s} = [q, q_e]^T$. For deviations $\mathbf{y}$ from a motion $q(t)$ with $q_e = 0$,
$\mathbf{M}_L\ddot{\mathbf{y}} + \mathbf{D}_L\dot{\mathbf{y}} + \mathbf{K}_L\mathbf{y} =
\mathbf{h}_L$, (63). Integrals run from 0 to $l$.
"""

LETTERS = [
    ('$q$', '$q_a^R$: angle of the hub from the horizontal', '`q`'),
    (r'$\rho A$', r'mass per length, also $\mu$; $m_{OE} = \rho A l$', '`mass_per_length`'),
    ('$E I$', 'bending stiffness', '`bending_stiffness`'),
    ('$l$', 'length', '`length`'),
    ('$J_1$', 'inertia of the hub, with whatever turns with it', '`hub_inertia`'),
    ('$m_E$', 'mass at the tip', '`tip_mass`'),
    (r'$\tau$', 'driving torque', '`torque`'),
    ('$X_1(l)$', 'deflection of the tip; $X_1$ alone in (68), (71)', '`tip_deflection`'),
    (r'$D_1$', r'$\int x X_1\,dx$', '`D`'),
    (r'$C_1$', r'$\int X_1\,dx$', '`C`'),
    (r'$m_{11}$', r'$\int X_1^2\,dx$', '`m`'),
    (r'$k_{11}$', r"$\int X_1''^2\,dx$", '`k`'),
    (r'$S_{11}$, not in [K]', r"$\int \frac{1}{2}(l^2 - x^2) X_1'^2\,dx$", '`S`'),
    (r'$T_{11}$, not in [K]', r"$\int (l - x) X_1'^2\,dx$", '`T`'),
    (r'$N_{11}$, not in [K]', r"$\int X_1'^2\,dx$", '`N`'),
]

LAGRANGE = r"""
Lagrange's equations of a link whose points are at $[x, w]$ in the frame of the hub, with the
Coriolis matrix of Christoffel's symbols, linearized by (52), (53) as (64)-(67) say: (68), (70),
(69), (71).
"""

FORESHORTENED = r"""
A link whose axis keeps its length has its points at $[x - u, w]$,
$u = \frac{1}{2}\int_0^x w'^2\,d\xi$. That changes one entry: the axial force of the centrifugal
load stiffens the link, that of the weight does so while it hangs. From the same equations,
"""

COMPARED = r"""
What is derived less what is printed, symbolically:
"""

LEFT_SIDE = {
    '(67)': r'derivative of $\mathbf{M}\ddot{\mathbf{s}} + \mathbf{C}\dot{\mathbf{s}} + '
    r'\mathbf{g}$ by $\mathbf{s}$, and $\mathbf{K}_L$ derived',
    '(66)': r'the same by $\dot{\mathbf{s}}$, and $\mathbf{D}_L$ derived',
}

NUMBERS = r"""
## In numbers

The links of the public vectors, SI units, $\tau = 0$, from
`kron_dynamics.flexible.SingleLinkManipulator`; $n$ modes extend (68)-(71) entry by entry, and
one mode is the upper left $2 \times 2$ block.
A tip inertia $J_E$, which [K] does not have, adds to $\mathbf{M}_L$ and $\mathbf{h}_L$.
$\mathbf{D}_L = 0$. $\mathbf{K}_L^{printed}$ is (69) (`geometric_stiffness=False`), $\mathbf{K}_L$
has the axial force.
"""

# The parameters of a vector and their letters.
PARAMETERS = {
    'l': '$l',
    'rhoA': r'$\rho A',
    'EI': '$E I',
    'm_E': '$m_E',
    'J_E': '$J_E',
    'J_1': '$J_1',
    'g': '$g',
    'q_a': '$q',
    'qd_a': r'$\dot{q}',
    'qdd_a': r'$\ddot{q}',
}

MODES = r"""
## Modes and Southwell's coefficient

The clamped-free beam of {case}, $1 + \cos\beta l\,\cosh\beta l = 0$.
A link that turns at $\dot{{q}}$, horizontal at the moment, has in one mode
$\omega^2 = \omega_j^2 + (S_{{jj}}/m_{{jj}} - 1)\,\dot{{q}}^2$ in its plane of turning;
$S_{{11}}/m_{{11}}$ is Southwell's coefficient of rotating blades. As printed, (69) gives
$\omega_j^2 - \dot{{q}}^2$.
"""

STABILITY = r"""
## From which speed on the link is unstable

$q = 0$, where gravity is no part of the stiffness of the modes. The speed is the lowest at which
the modes' block of $\mathbf{K}_L$ is no longer positive definite.
"""

FREQUENCIES = r"""
## Lowest natural frequency against the speed of the hub

The link of {case} at $q = 0$, the hub kept to its motion, in rad/s.
*Grows* is the rate of deviations that no longer oscillate.
"""

ROBOT = r"""
## The robot of these files

`urdf/flexible_manipulator.urdf` with `config/flexible_manipulator_flexible.yaml` is this link as a
robot like any other, `kron_dynamics.load(urdf, flexible=yaml)`. Its `linearize` goes through the
tree of bodies and knows nothing of (68)-(71). Largest difference from them over the largest entry,
below the rounding error where it says 0, at $q = 0.6$, $\dot{q} = 2.3$, $\ddot{q} = -1.1$:
"""

SWING = r"""
## A periodic reference

[K] closes with a reference motion that repeats itself, about which the coefficients are periodic.
The hub of the robot swings, $q = A \sin \Omega t$, and is held to that; the link, at rest with
{omega} rad/s, has one mode and no damping. The margin of stability in 1/s is minus the largest
growth rate of deviations, by Floquet: 0 where they neither grow nor die out. Growth comes in
tongues from $\Omega = 2\omega/k$, $k = 1, 2, \ldots$: the weight along the link goes with the
swing, and the axial force of turning, $\dot{{q}}^2$, twice as fast. As printed, fast wide swings
throw the link aside.

![map of the printed equation](khang-2019-swing-printed.png)
![map with the axial force](khang-2019-swing-right.png)
"""

MISPRINTS = r"""
## Where the text is wrong

Those of sections 2 and 3 in exact rational numbers, those of section 4 for
{case} with one mode, SI units. The error is the largest of all entries;
0 is exactly 0.
"""

MIND = r"""
## Right, but mind

What is true as printed, for the model that it is of, and what more there is.
"""
