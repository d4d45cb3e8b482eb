# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Frequency equation of a uniform beam with a body at its tip, accurate for high modes.

With b = beta l, c = cos b, s = sin b, ch = cosh b, sh = sinh b, alpha = mE/(rhoA l) and
gamma = JE/(rhoA l^3), the tip's shear force and moment

    X'''(l) = -alpha b beta^3 X(l),    X''(l) = gamma b^3 beta X'(l)

and the two conditions at the root have a nonzero solution if, with a = alpha b and g = gamma b^3,

    clamped  1 + c ch + a (c sh - s ch) - g (c sh + s ch) + a g (1 - c ch) = 0
    pinned   (1 - a g)(c sh - s ch) - 2 g c ch - 2 a s sh = 0
    guided   (1 - a g)(c sh + s ch) - 2 g s sh + 2 a c ch = 0

All are evaluated times exp(-b), so that no term overflows and no digits cancel.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.reproducible import cosine_and_sine, exponential, exponential_less_one, power
from kron_dynamics.typing import FloatArray

ROOTS = ('clamped', 'pinned', 'guided')


def frequency_function(beta_l: FloatArray, alpha: float, gamma: float, root: str) -> FloatArray:
    """Return the left-hand side of the frequency equation times a positive factor.

    Args:
        beta_l: beta times the length, above 0, shape (k,).
        alpha: tip mass over beam mass.
        gamma: tip inertia over rho A l^3.
        root: 'clamped', 'pinned' or 'guided'.

    Returns:
        shape (k,), of order 1.
    """
    return np.asarray(_left_hand_side(beta_l, alpha, gamma, root))


def _left_hand_side(beta_l: Any, alpha: float, gamma: float, root: str) -> Any:
    """Return `frequency_function` of an array or a float."""
    c, s = cosine_and_sine(beta_l)
    E, ch, sh = _scaled(beta_l)
    a, g = alpha * beta_l, gamma * power(beta_l, 3)
    if root == 'clamped':
        value = E + c * ch + a * (c * sh - s * ch) - g * (c * sh + s * ch) + a * g * (E - c * ch)
    elif root == 'pinned':
        value = (1 - a * g) * (c * sh - s * ch) - 2 * g * c * ch - 2 * a * s * sh
    else:
        value = (1 - a * g) * (c * sh + s * ch) - 2 * g * s * sh + 2 * a * c * ch
    return value / ((1 + a) * (1 + g))


@functools.lru_cache(maxsize=16)
def frequency_parameters(count: int, alpha: float, gamma: float, root: str) -> FloatArray:
    """Return the lowest positive roots b of the frequency equation, shape (count,), read-only.

    The root 0 of a rigid motion is left out. Cached, as all beams with a free tip have them in
    common.

    Args:
        count: number of roots, 1 or more.
        alpha: tip mass over beam mass.
        gamma: tip inertia over rho A l^3.
        root: 'clamped', 'pinned' or 'guided'.

    Raises:
        ParameterError: the tip is so heavy that the equation overflows.
    """
    # Bracket the roots on a grid. A tip body only lowers the roots, and without one the last is
    # at most (count + 1/4) pi; heavy bodies lower the first to about (1 / mass ratio)^(1/4). For
    # any tip, roots above 1 are at least 0.5 apart and those below 1 differ by a factor of at
    # least 1.9, so that the grid misses none.
    lowest = 0.1 / math.sqrt(math.sqrt(1 + alpha + gamma))
    ratio = round(lowest ** (1 / 199), 9)
    falling = np.cumprod(np.full(199, ratio))
    grid = np.concatenate([falling[::-1], np.arange(1.0, (count + 0.5) * np.pi, 0.02)])
    with np.errstate(over='ignore', invalid='ignore'):
        values = frequency_function(grid, alpha, gamma, root)
    if not np.isfinite(values).all():
        raise ParameterError(
            f'the tip is too heavy for the beam: {alpha:.3g} times its mass, inertia {gamma:.3g} '
            'times its mass times length^2'
        )
    crossings = np.flatnonzero(np.sign(values[:-1]) != np.sign(values[1:]))[:count]

    def negative(beta_l: float) -> bool:
        return bool(_left_hand_side(beta_l, alpha, gamma, root) < 0.0)

    roots = np.array([_last_before(negative, *grid[k : k + 2].tolist()) for k in crossings])
    roots.setflags(write=False)
    return roots


def _last_before(condition: Callable[[float], bool], begin: float, end: float) -> float:
    """Return the last number from `begin` on before a condition changes; by `end` it has.

    Bisection: the result depends on nothing but the condition, and SciPy's root finders take
    longer to import than all that a model needs.
    """
    before = condition(begin)
    while (middle := (begin + end) / 2.0) not in (begin, end):
        if condition(middle) == before:
            begin = middle
        else:
            end = middle
    return begin


def mode_sigma(beta_l: FloatArray, alpha: float, root: str) -> FloatArray:
    """Return the factor sigma in the mode shapes, shape (n,).

    Computed from the shear force at the tip, whose denominator is a sum of positive terms; the
    denominator from the moment vanishes for some tips.

    Args:
        beta_l: roots of the frequency equation, shape (n,).
        alpha: tip mass over beam mass.
        root: 'clamped', 'pinned' or 'guided'.
    """
    c, s = cosine_and_sine(beta_l)
    E, ch, sh = _scaled(beta_l)
    a = alpha * beta_l
    if root == 'clamped':
        sigma = (sh - E * s + a * (ch - E * c)) / (ch + E * c + a * (sh - E * s))
    elif root == 'pinned':
        sigma = E * (c - a * s) / (ch + a * sh)
    else:
        sigma = -E * (s + a * c) / (sh + a * ch)
    return np.asarray(sigma)


def mode_coefficients(beta_l: FloatArray, alpha: float, root: str) -> FloatArray:
    """Return A, B, C, D in A exp(-beta (l-x)) + B exp(-beta x) + C cos(beta x) + D sin(beta x).

    Args:
        beta_l: roots of the frequency equation, shape (n,).
        alpha: tip mass over beam mass.
        root: 'clamped', 'pinned' or 'guided'.

    Returns:
        shape (4, n), of order 1, in the normalisation of `kron_dynamics.flexible.beams.beam`.
    """
    c, s = cosine_and_sine(beta_l)
    E, ch, sh = _scaled(beta_l)
    a = alpha * beta_l
    sigma = mode_sigma(beta_l, alpha, root)
    one, zero = np.ones_like(beta_l), np.zeros_like(beta_l)
    if root == 'clamped':
        # (1 - sigma)/2 exp(b), simplified so that no digits cancel.
        A = (E + c + s + a * (c - s - E)) / (2 * (ch + E * c + a * (sh - E * s)))
        return np.array([A, (1 + sigma) / 2, -one, sigma])
    if root == 'pinned':
        return np.array([(c - a * s) / (2 * (ch + a * sh)), -sigma / 2, zero, one])
    return np.array([-(s + a * c) / (2 * (sh + a * ch)), sigma / 2, one, zero])


def _scaled(beta_l: Any) -> tuple[Any, Any, Any]:
    """Return exp(-b), cosh(b) exp(-b) and sinh(b) exp(-b)."""
    E = exponential(-beta_l)
    return E, (1 + E * E) / 2, -exponential_less_one(-2 * beta_l) / 2
