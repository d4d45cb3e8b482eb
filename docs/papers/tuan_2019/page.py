# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The page itself, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy
from shared.tables import error_text, mind_table, misprint_table, page_of, statement_table, table

from kron_dynamics import dynamics
from kron_dynamics.symbolic import SymbolicRobot

from . import equations, frames, motion, theorems
from .relation import Relation
from .stacker import (
    LETTERS,
    Q,
    State,
    a3,
    d2,
    in_letters,
    load_stacker,
    simplified,
    tex,
    with_products,
)

# Rows (d, theta, a, alpha) of the paper's Table 1, T = Rz(theta) Tz(d) Tx(a) Rx(alpha).
RIGHT_ANGLE = sympy.pi / 2
TABLE_1 = (
    (Q[0], 0, 0, RIGHT_ANGLE),
    (d2, Q[1], 0, RIGHT_ANGLE),
    (0, Q[2], a3, 0),
)

INTRODUCTION = """\
<!-- Made by `python -m tuan_2019` in docs/papers; a test makes it again and compares. -->

# [T]: the stacker of Tuan, Pham, Do and Phan (2019), derived

The example of section 5 of [T] (N. T. M. Tuan et al., *Kinematic and dynamic analysis of multibody
systems using the Kronecker product*, Vietnam J. Sci. Technol. 57(1), 2019, 112-127,
doi 10.15625/2525-2518/57/1/12285), derived by `kron_dynamics` from
[urdf/paper_stacker.urdf](../../urdf/paper_stacker.urdf) with symbols for its parameters, and what
is misprinted in the text. Of the formulas, only those in the tables are typed. Which function
computes each equation, and which test tries it: [equations.md](../equations.md).

$S_i = \\sin q_i$, $C_i = \\cos q_i$. Column $(i, j)$ of an $r \\times n^2$ matrix is column
$(i-1)n + j$ and belongs to $\\dot{q}_i \\dot{q}_j$.
"""

THEOREMS = """\
## Kronecker products and derivatives, (1)-(18)

On matrices of whole numbers of different sizes, and on rational functions at a point, in exact
rational numbers. The error is the largest of all entries; 0 is exactly 0. (17) is below.
"""

MOTIONS = """\
## Jacobians and Hessians of a frame, (19)-(67)

Frame a is frame 0, b the boom's, c that of a grab on frame 3, which [T] does not have: a fourth
joint, askew, without which terms of relative motion are zero. Everything is evaluated at one
state, exactly, in rational numbers: $q_1 = 2$ m, $S_2 = 3/5$, $C_2 = 4/5$, $S_3 = 5/13$,
$C_3 = 12/13$, $S_4 = 8/17$, $C_4 = 15/17$, $\\dot{\\mathbf{q}} = [1/2, -1/3, 1/4, -2/5]^T$,
$\\ddot{\\mathbf{q}} = [1/5, 2/3, -1/2, 3/7]^T$, with the numbers of the URDF. $\\mathbf{A}$ is
$\\mathbf{A}_c^{(a)}$, and $\\mathbf{d}$ the place of c. The program's matrices are compared with
derivatives of the place and of the direction cosines.
"""

MISPRINTS = """\
## Where the text is wrong

Each printed form and each right one is evaluated at that state; in the rows of section 5 without
the grab. The error is the largest of all entries, in SI units; 0 is exactly 0. *Transcription*:
the fault is in the text that this page works from and most likely not in print. That text is a
machine-made one of the paper
([doi 10.15625/2525-2518/57/1/12285](https://doi.org/10.15625/2525-2518/57/1/12285)), Markdown with
LaTeX formulas, which lost tildes, indices and an entry of a matrix. *One transcription*: a second
one of the same kind has it right.
"""

MIND = """\
## Right, but mind

What is true as printed and has not all that one may look for, in the numbers of the stacker.
"""

RELATIONS = """\
## Accelerations and Hessians of relative motion, (84), (86)-(91)

The vectors of (83)-(85), the first and last of which are in the table of misprints, come from
`frame(c).relative_to(b, axes=a)` and the like. (86)-(91) hold
`kron_dynamics.kinematics.relative_hessian` against what the paper adds up. With the misprints put
right, all hold for every $\\dot{\\mathbf{q}}$, which is what they are printed for: columns
$(i, j)$ and $(j, i)$ together have no error. Most do not hold as matrices, since
$\\dot{\\mathbf{q}} \\otimes \\dot{\\mathbf{q}}$ has equal elements. $\\mathbf{K}$ swaps columns
$(i, j)$ and $(j, i)$. Last: the error where the centripetal term of (86) and (89), or the last
term of the others, has $\\mathbf{K}$ when it must not, or has it not when it must.
"""


def page() -> str:
    """Return the page.

    Raises:
        AssertionError: the frames of the URDF are not those of Table 1.
    """
    symbolic, state, grab = load_stacker(), State(), State(grab=True)
    misprints = [*motion.misprints(grab), *equations.misprints(state, symbolic)]
    parts = [
        INTRODUCTION,
        *_machine(symbolic),
        *_kinematics(symbolic),
        *_dynamics(symbolic),
        THEOREMS,
        statement_table([*theorems.products(), *theorems.derivatives()]),
        MOTIONS,
        statement_table(frames.motions(motion.Motion(grab))),
        RELATIONS,
        _relation_table(motion.relations(grab)),
        MISPRINTS,
        misprint_table(misprints),
        MIND,
        mind_table(_MORE, equations.right_but(state)),
    ]
    return page_of(parts)


def _machine(symbolic: SymbolicRobot) -> list[str]:
    pose = sympy.eye(4)
    for k, row in enumerate(TABLE_1, start=1):
        pose = pose * denavit_hartenberg(*row)
        frame = in_letters(symbolic.frame(f'frame_{k}').pose())
        assert simplified(sympy.ImmutableMatrix(frame - pose)) == sympy.zeros(4, 4)
    rows = [
        (str(k), *(f'${tex(sympy.sympify(x))}$' for x in row))
        for k, row in enumerate(TABLE_1, start=1)
    ]
    table_1 = table(('body', '$d_i$', r'$\theta_i$', '$a_i$', r'$\alpha_i$'), rows)
    values = [
        (f'${tex(sympy.sympify(LETTERS[str(symbol)]))}$', _meaning(str(symbol)), f'`{symbol}`')
        + (f'{float(value):g}',)
        for symbol, value in symbolic.values.items()
        if str(symbol) in LETTERS
    ]
    return [
        '## The machine\n\nTable 1 of [T], Denavit-Hartenberg rows; the frames of the URDF are '
        'these, entry by entry:',
        table_1,
        "The paper's letters, what they are in the URDF, the program's symbols, numbers in SI:",
        table(('[T]', 'in the URDF', 'symbol', 'number'), values),
        'The mass centre of the boom is at $[l_3 - a_3, 0, 0]^T$ in frame 3, that of the mast at '
        '$[0, y_{G2}, 0]^T$ in frame 2.',
    ]


_MORE = ('where', 'printed', 'what else there is', 'compared', 'as printed', 'of the other')

_KINDS = {
    'm': 'mass of {}',
    'l': 'offset of joint {}',
    'c': 'mass centre of {}',
    'I': 'central inertia of {}',
    'p': 'place of {}',
}


def _meaning(symbol: str) -> str:
    """Return what a symbol of the program stands for, from its parts: kind, name, component."""
    kind, _, rest = symbol.partition('_')
    if kind == 'g':
        return 'gravity'
    if kind == 'm':
        return _KINDS[kind].format(f'`{rest}`')
    name, component = rest.rsplit('_', 1)
    return f'{_KINDS[kind].format(f"`{name}`")}, {component}'


def denavit_hartenberg(d: Any, theta: Any, a: Any, alpha: Any) -> Any:
    """Return Rz(theta) Tz(d) Tx(a) Rx(alpha), shape (4, 4)."""
    ct, st, ca, sa = sympy.cos(theta), sympy.sin(theta), sympy.cos(alpha), sympy.sin(alpha)
    rows = [
        [ct, -st * ca, st * sa, a * ct],
        [st, ct * ca, -ct * sa, a * st],
        [0, sa, ca, d],
        [0, 0, 0, 1],
    ]
    return sympy.Matrix(rows)


def _kinematics(symbolic: SymbolicRobot) -> list[str]:
    """Return [T] eqs. (102)-(105), derived."""
    frame = symbolic.frame('frame_3')
    pose, J, H = (
        in_letters(form) for form in (frame.pose(), frame.jacobian(), frame.kinematic_hessian())
    )
    return [
        '## Kinematics of frame 3\n\nPosition of its origin:',
        _equation(r'\mathbf{d}_3', pose[:3, 3]),
        'Translational Jacobian, (102):',
        _equation(r'\mathbf{J}_{T_3}', J[:3, :]),
        'Translational Hessian, (103):',
        _equation(r'\mathbf{H}_{T_3}', H[:3, :]),
        'Rotational Jacobian, (104):',
        _equation(r'\mathbf{J}_{R_3}', J[3:, :]),
        'Rotational Hessian, (105):',
        _equation(r'\mathbf{H}_{R_3}', H[3:, :]),
    ]


def _dynamics(symbolic: SymbolicRobot) -> list[str]:
    """Return [T] eqs. (106), (107), derived."""
    C_star = with_products(
        in_letters(symbolic.evaluate(dynamics.lagrange_velocity_free_matrix, symbolic.q))
    )
    reduced = with_products(in_letters(symbolic.reduced_coriolis_matrix()))
    symmetric = with_products(in_letters(symbolic.velocity_free_coriolis_matrix()))
    return [
        '## Dynamics\n\nMass matrix, (106):',
        _equation(r'\mathbf{M}', in_letters(symbolic.mass_matrix())),
        r'Velocity-free Coriolis matrix by eq. (101), (107), with $P = m_3 l_3$ and '
        r'$D = m_3 l_3^2 + I_{3y} - I_{3x}$:',
        _equation(r'\mathbf{C}^{*}', C_star),
        r'$\mathbf{C}^{*}$ is not unique, since $\dot{\mathbf{q}} \otimes \dot{\mathbf{q}}$ has '
        'equal elements. Unique are the reduced form, columns (1,1), (1,2), (1,3), (2,2), (2,3), '
        '(3,3), which multiplies each product of rates once:',
        _equation(r'\mathbf{C}^{*}_{red}', reduced),
        'and the symmetrised form, whose entries are the Christoffel symbols of the first kind '
        '(`velocity_free_coriolis_matrix`):',
        _equation(r'\mathbf{C}^{*}_{sym}', symmetric),
        'Gravity is not in [T]. The slewing axis $z_1 = -y_0$ carries the height $d_2$ of the '
        'mast, so up is $-y_0$; then the efforts that hold the machine are:',
        _equation(r'\mathbf{g}', in_letters(symbolic.gravity_vector())),
    ]


def _equation(name: str, matrix: Any) -> str:
    return f'$$\n{name} = {tex(sympy.Matrix(matrix))}\n$$'


def _relation_table(relations: Sequence[Relation]) -> str:
    titles = (
        'equation',
        r'error times $\dot{\mathbf{q}} \otimes \dot{\mathbf{q}}$',
        'error as matrices',
        'change that makes the matrices equal',
        'error then',
        r'$\mathbf{K}$ the other way',
    )
    rows = [
        (r.equation, error_text(r.squared), error_text(r.matrix), r.change, error_text(r.exact))
        + (error_text(r.otherwise),)
        for r in relations
    ]
    return table(titles, rows)
