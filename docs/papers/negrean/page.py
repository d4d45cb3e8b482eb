# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The page itself, as text."""

from __future__ import annotations

import sympy
from shared.tables import error_text, misprint_table, page_of, table

from . import misprints, two_tr

INTRODUCTION = """\
<!-- Made by `python -m negrean` in docs/papers; a test makes it again and compares. -->

# [N]: energies of acceleration and equations of third order, after Negrean, Kacso and Rusu

Sections 3 to 5 of [N] (I. Negrean, K. Kacso, F. Rusu, *Formulations in advanced systems
dynamics*), tried in exact numbers: what the example 2TR comes to, derived by `kron_dynamics` from
[urdf/two_tr.urdf](../../urdf/two_tr.urdf) with symbols for its parameters, and where the text is
wrong. Its dots over letters are mostly lost and were put back. Which function computes each
equation, and which test tries it: [equations.md](../equations.md). What the rates of efforts are
good for: [third-order.md](../third-order.md).
"""

EXAMPLE = """\
## The robot 2TR, (68)-(78)

$s_3 = \\sin q_3$, $c_3 = \\cos q_3$; $I_z = {}^3I_{xx} + {}^3I_{yy}$ is about the mass centre, as
$M_3 a_2^2$ stands beside it. The forms are the program's; the error is that of the paper's at one
state of rational numbers, 0 being exactly 0. Those with an error are below.
"""

MISPRINTS = """\
## Where the text is wrong

The first three rows: one rigid body in rational numbers. The next: joint $q_3$ of 2TR, which lifts
nothing. *Transcription*: the fault is in the text that this page works from and most likely not in
print.
"""

MIND = """\
## What is easily misread

- (59): the $m$-th time derivative of $E_C$ is differentiated by that of $q_j$ of the same order,
  and $E_C$ itself by $q_j$: Nielsen's equations for $m = 1$, Tsenov's for $m = 2$.
  `mangeron_tsenov_forces`.
- (60): the $m$-th time derivative of $E_A^{(1)}$ is differentiated by that of $q_j$ of order
  $m + 2$. `appell_forces`.
- (61), (62): time derivatives are those of an observer at rest; to components in the axes of the
  bodies $\\omega \\times$ has to be added.
- (64), (65) hold for the complete $E_A^{(1)}$, with its term $\\frac{1}{2} \\omega^2 (\\omega I
  \\omega)$, which (57) may leave out. `appell_rate_terms`.
- (67): the $m$-th time derivative of $E_A^{(2)}$ is differentiated by that of $q_j$ of order
  $m + 3$ (`appell_jerk_forces`), and the middle member is the rate of $Q_m - Q_g$.
"""


def page() -> str:
    """Return the page.  [N] eqs. (68)-(78)."""
    rows = []
    for number, form in two_tr.forms().items():
        printed = sympy.expand(two_tr.PRINTED[number] - form)
        error = 0 if printed == 0 else two_tr.at_state(printed)
        rows.append((number, f'${two_tr.tex(form)}$', error_text(error)))
    wrong = [
        *misprints.of_bodies(),
        *misprints.of_principles(two_tr.derived()),
        *misprints.of_two_tr(),
    ]
    return page_of(
        [
            INTRODUCTION,
            EXAMPLE,
            table(('equation', 'derived', 'error of what is printed'), rows),
            MISPRINTS,
            misprint_table(wrong),
            MIND,
        ]
    )
