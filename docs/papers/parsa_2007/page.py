# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The page itself, as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sympy
from shared.claims import Misprint
from shared.tables import check_table, error_text, mind_table, misprint_table, page_of, table
from shared.vectors import Row

from . import loops, machines, mind, mind_more, misprints, quaternions, trees, vectors, words
from .loop import FREE, Loop
from .quaternions import Wrist
from .tree import GRAVITY, JOINTS, LINKS, MULTIPLIER, State
from .trees import Matrices

_MIND = ('where', 'misread as', 'meaning', 'compared', 'error misread', 'error right')


def page() -> str:
    """Return the page."""
    state, loop, wrist = State(), Loop(), Wrist()
    matrices = Matrices(state)
    parts = [
        words.INTRODUCTION,
        words.LETTERS_TITLE,
        table(('[P]', 'meaning', 'program'), words.LETTERS),
        *_tree(state),
        check_table(trees.statements(state, matrices)),
        _loop(loop),
        check_table(loops.statements(loop)),
        words.QUATERNIONS,
        check_table(quaternions.statements(wrist)),
        words.VECTORS,
        _vectors(vectors.rows()),
        words.MACHINES,
        _machines(machines.rows()),
        words.MISPRINTS,
        misprint_table(misprints.misprints(loop, wrist)),
        words.MIND,
        mind_table(_MIND, minds(state, matrices, loop, wrist)),
    ]
    return page_of(parts)


def _tree(state: State) -> list[str]:
    rows = []
    for link, body in zip(LINKS, state.model.bodies, strict=True):
        parent, _, axis, slides = JOINTS[f'to_{link}']
        center = ', '.join(f'{float(x):g}' for x in body.center_of_mass)
        joint = 'prismatic' if slides else 'revolute', f'[{", ".join(axis.split())}]'
        rows.append((link, parent, *joint, f'{float(body.mass):g}', f'[{center}]'))
    titles = ('body', 'parent', 'joint', 'axis', 'mass', 'centre of mass')
    given = {
        'q': _angles(state.q),
        'qd': _numbers(state.qd),
        'qdd': _numbers(state.qdd),
        'g': ', '.join(f'{x:g}' for x in GRAVITY),
        'links': ', '.join(name.removeprefix('to_') for name in state.model.joint_names),
    }
    return [
        words.TREE.format(bodies=len(rows), n=state.n, k=MULTIPLIER),
        table(titles, rows),
        words.STATE.format(**given),
    ]


def _loop(loop: Loop) -> str:
    return words.LOOP.format(
        u=_numbers(loop.u),
        qd=', '.join(f'{float(x):.3f}' for x in loop.qd),
        free=' and '.join(loop.model.joint_names[k].removeprefix('to_') for k in FREE),
    )


def _numbers(values: Sequence[Any]) -> str:
    return ', '.join(str(value) for value in values)


def _angles(values: Sequence[Any]) -> str:
    return ', '.join(
        rf'\arctan {sympy.tan(value)}' if value.has(sympy.atan) else str(value) for value in values
    )


def _vectors(rows: Iterable[Row]) -> str:
    titles = ('vector', 'equations', 'entries', 'error')
    return table(
        titles,
        [
            (row.name, row.equations, ', '.join(f'`{x}`' for x in row.compared))
            + (error_text(row.error),)
            for row in rows
        ],
    )


def _machines(rows: Iterable[machines.Row]) -> str:
    titles = (
        *('machine', 'coordinates', 'bodies', '(34)-(38)', '(30)'),
        r'$\dot{\mathbf{M}} - 2\mathbf{C}$ plus its transpose',
        '(46)',
    )
    cells = []
    for row in rows:
        errors = [row.matrices, row.equations, row.skew, row.loops]
        shown = ['no loop' if error is None else error_text(error) for error in errors]
        cells.append((f'`{row.file}`', *map(str, row.sizes), *shown))
    return table(titles, cells)


def minds(state: State, matrices: Matrices, loop: Loop, wrist: Wrist) -> list[Misprint]:
    """Return the correct but easily misread equations, in the page's order."""
    return [
        *mind.trees(state, matrices),
        *mind_more.fields(state),
        *mind_more.loops(loop),
        *mind_more.quaternions(wrist),
    ]
