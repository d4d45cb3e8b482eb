# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Section 4 of [K] in its notation: the flexible link by Lagrange's equations, linearized.

The link has one mode, w = X_1(x) q_e. Its points are at [x, w] in the frame of the hub, which is
the paper's model, or at [x - u, w] with the foreshortening u = 1/2 int w'^2 of an inextensible
axis. Terms beyond the second order in q_e are omitted from the energies: they do not contribute to
the linearized equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from kron_dynamics.kronecker import khang_derivative
from kron_dynamics.taylor import linearized_product

# X and U are X_1(x) and 1/2 int_0^x X_1'^2 in integrands.
x, X, U = sympy.symbols('x X U')
q, q_e, qd, qd_e, qdd, qdd_e = sympy.symbols('q q_e qd qd_e qdd qdd_e')
l, rhoA, EI, J_1, m_E, g, tau = sympy.symbols('l rhoA EI J_1 m_E g tau')  # noqa: E741
X_1, D_1, C_1, m_11, k_11 = sympy.symbols('X_1 D_1 C_1 m_11 k_11')
S_11, T_11, N_11 = sympy.symbols('S_11 T_11 N_11')
# Integrals from 0 to l by the powers of (x, X, U); int x U and int U by parts.
INTEGRALS = {
    (0, 0, 0): l,
    (1, 0, 0): l**2 / 2,
    (2, 0, 0): l**3 / 3,
    (0, 1, 0): C_1,
    (1, 1, 0): D_1,
    (0, 2, 0): m_11,
    (0, 0, 1): T_11 / 2,
    (1, 0, 1): S_11 / 2,
}
TIP = {x: l, X: X_1, U: N_11 / 2}

_LATEX = {
    qd: r'\dot{q}',
    qdd: r'\ddot{q}',
    rhoA: r'\rho A',
    EI: 'E I',
    m_E: 'm_E',
    X_1: 'X_1(l)',
    tau: r'\tau',
}


@dataclass(frozen=True)
class Linearized:
    """M_L, D_L, K_L and h_L, SymPy matrices."""

    M: Any
    D: Any
    K: Any
    h: Any


def linearized(foreshortening: bool) -> Linearized:
    """Return (64)-(67) of the link.

    Args:
        foreshortening: whether the axis is inextensible; False for the paper's model.
    """
    M, C, gravity = _equations(foreshortening)
    s, sd = np.array([q, q_e], dtype=object), np.array([qd, qd_e], dtype=object)
    rigid, sdd = _rigid(sd), np.array([qdd, 0], dtype=object)
    inertia = linearized_product(_rigid(M), _rigid(khang_derivative(M, s)), sdd)
    velocity = linearized_product(
        _rigid(C), _rigid(khang_derivative(C, s)), rigid, _rigid(khang_derivative(C, sd))
    )
    stiffness = inertia.by_x + velocity.by_x + _rigid(khang_derivative(gravity, s))
    applied = np.array([tau, 0], dtype=object)
    h = applied - _rigid(gravity) - inertia.value - velocity.value
    return Linearized(*(_sorted(A) for A in (_rigid(M), velocity.by_y, stiffness, h)))


def printed() -> Linearized:
    """Return (68)-(71) as printed, m_OE = rho A l and mu = rho A."""
    m_OE, sine, cosine = rhoA * l, sympy.sin(q), sympy.cos(q)
    M_12 = m_E * l * X_1 + rhoA * D_1
    M_11 = J_1 + m_E * l**2 + m_OE * l**2 / 3
    K_12 = -m_E * g * X_1 * sine - rhoA * g * sine * C_1
    K_11 = -m_E * g * l * sine - m_OE * g * l * sine / 2
    K_22 = -m_E * qd**2 * X_1**2 - rhoA * qd**2 * m_11 + EI * k_11
    h = [
        tau - M_11 * qdd - m_E * g * l * cosine - m_OE * g * l * cosine / 2,
        -M_12 * qdd - m_E * g * X_1 * cosine - rhoA * g * cosine * C_1,
    ]
    return Linearized(
        sympy.Matrix([[M_11, M_12], [M_12, m_E * X_1**2 + rhoA * m_11]]),
        sympy.zeros(2, 2),
        sympy.Matrix([[K_11, K_12], [K_12, K_22]]),
        sympy.Matrix(h),
    )


def change_of_left_side(foreshortening: bool) -> tuple[Any, Any]:
    """Return the derivatives of M sdd + C sd + g by s and sd, which must equal (67), (66)."""
    M, C, gravity = _equations(foreshortening)
    s, sd = np.array([q, q_e], dtype=object), np.array([qd, qd_e], dtype=object)
    left = M @ np.array([qdd, qdd_e], dtype=object) + C @ sd + gravity
    return tuple(
        sympy.Matrix(_rigid(khang_derivative(left, by))).xreplace({qdd_e: sympy.Integer(0)})
        for by in (s, sd)
    )


def tex(expression: Any) -> str:
    """Return LaTeX in the paper's notation."""
    return sympy.latex(expression, symbol_names=_LATEX, fold_func_brackets=True)


def _equations(foreshortening: bool) -> tuple[Any, Any, Any]:
    """Return M, C from Christoffel symbols, and g of (55)."""
    u = U * q_e**2 if foreshortening else 0
    ud = 2 * U * q_e * qd_e if foreshortening else 0
    along = -ud - qd * X * q_e
    across = X * qd_e + qd * (x - u)
    square = along**2 + across**2
    height = (x - u) * sympy.sin(q) + X * q_e * sympy.cos(q)
    kinetic = J_1 * qd**2 / 2 + _over_link(square / 2)
    potential = g * _over_link(height) + EI * k_11 * q_e**2 / 2
    s, sd = [q, q_e], [qd, qd_e]
    M = np.array(sympy.hessian(kinetic, sd), dtype=object)
    d = khang_derivative(M, s).reshape(2, 2, 2)
    C = (d + d.transpose(0, 2, 1) - d.transpose(2, 1, 0)) @ np.array(sd, dtype=object) / 2
    return M, C, np.array([potential.diff(c) for c in s], dtype=object)


def _over_link(density: Any) -> Any:
    """Return the integral of rho A times a density plus m_E times its value at the tip.

    Terms up to the second order in q_e are kept.
    """
    # q_e and its rate are scaled by e, and terms with e^3 dropped.
    e = sympy.Symbol('e')
    scaled = sympy.expand(density.xreplace({q_e: e * q_e, qd_e: e * qd_e}))
    kept = sum(scaled.coeff(e, k) for k in range(3))
    terms = sympy.Poly(kept, x, X, U).terms()
    link = sum(coefficient * INTEGRALS[powers] for powers, coefficient in terms)
    return rhoA * link + m_E * kept.subs(TIP)


def _rigid(A: Any) -> Any:
    """Return an array on the basic motion (59): q_e and its rate are 0."""
    at = {q_e: sympy.Integer(0), qd_e: sympy.Integer(0)}
    array = np.array(A, dtype=object)
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    numbers = [sympy.sympify(entry).xreplace(at) for entry in array.flat]
    return np.array(numbers, dtype=object).reshape(array.shape)


def _sorted(A: Any) -> Any:
    """Return a matrix with entries collected by rates and gravity."""
    return sympy.Matrix(A).applyfunc(_sum_by_factors)


def _sum_by_factors(entry: Any) -> Any:
    rest = sympy.expand(entry)
    parts = []
    for factor in (qd**2, qdd, g * sympy.sin(q), g * sympy.cos(q)):
        share = rest.coeff(factor)
        rest = sympy.expand(rest - factor * share)
        # The sign of a sum of negative terms is factored out.
        negative = all(term.could_extract_minus_sign() for term in sympy.Add.make_args(share))
        parts.append(-factor * sympy.expand(-share) if negative else factor * share)
    return sympy.Add(rest, *parts)
