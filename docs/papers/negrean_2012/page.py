# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The page itself, as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sympy
from shared.claims import Check, Misprint
from shared.tables import check_table, error_text, mind_table, misprint_table, page_of, table
from shared.vectors import Row

from . import (
    angles,
    dynamics_misprints,
    exponentials,
    machines,
    mind,
    misprints,
    motion,
    two_tr,
    vectors,
    words,
)
from .arm import JOINTS, Arm

_MIND = ('where', 'misread as', 'meaning', 'compared', 'error misread', 'error right')


def page() -> str:
    """Return the page.  [N] eqs. (68)-(78)."""
    arm = Arm()
    parts = [
        words.INTRODUCTION,
        words.LETTERS_TITLE,
        table(('[N]', 'meaning', 'program'), words.LETTERS),
        *_arm(arm),
        check_table(exponentials.statements(arm)),
        words.MOTION,
        check_table(motion.statements(arm)),
        _angles(),
        check_table(angles.statements(arm)),
        words.EXAMPLE,
        _example(),
        words.VECTORS,
        _vectors(vectors.rows()),
        words.MACHINES,
        _machines(machines.rows()),
        words.MISPRINTS,
        misprint_table([*misprints.misprints(arm), *misprints_of_dynamics()]),
        words.MIND,
        mind_table(_MIND, mind.minds(arm)),
        words.MIND_DYNAMICS,
    ]
    return page_of(parts)


def statements(arm: Arm) -> list[Check]:
    """Return all equations that hold, in the page's order."""
    return [
        check for section in (exponentials, motion, angles) for check in section.statements(arm)
    ]


def misprints_of_dynamics() -> list[Misprint]:
    """Return the misprints of sections 3 to 5, in the page's order."""
    return [
        *dynamics_misprints.of_bodies(),
        *dynamics_misprints.of_principles(two_tr.derived()),
        *dynamics_misprints.of_two_tr(),
    ]


def _example() -> str:
    rows = []
    for number, form in two_tr.forms().items():
        printed = sympy.expand(two_tr.PRINTED[number] - form)
        error = 0 if printed == 0 else two_tr.at_state(printed)
        rows.append((number, f'${two_tr.tex(form)}$', error_text(error)))
    return table(('equation', 'derived', 'error of the printed form'), rows)


def _arm(arm: Arm) -> list[str]:
    rows = []
    for k, (slides, place, turn, axis, mass, center, _) in enumerate(JOINTS):
        degrees = ', '.join('90' if float(x) else '0' for x in turn.split())
        vectors = [f'[{", ".join(text.split())}]' for text in (place, axis, center)]
        kind = 'prismatic' if slides else 'revolute'
        cells = (str(k + 1), kind, vectors[0], f'[{degrees}]', vectors[1], f'{mass:g}', vectors[2])
        rows.append(cells)
    titles = ('joint', 'type', 'origin', 'roll, pitch, yaw in degrees', 'axis', 'mass')
    qd, qdd, qddd = map(_numbers, arm.rates)
    return [
        words.ARM.format(n=arm.n),
        table((*titles, 'centre of mass'), rows),
        words.STATE.format(q=_arcs(arm.q), qd=qd, qdd=qdd, qddd=qddd),
    ]


def _angles() -> str:
    return words.ANGLES.format(
        angles=_arcs(angles.ANGLES),
        rates=_numbers(angles.RATES),
        accelerations=_numbers(angles.ACCELERATIONS),
    )


def _numbers(values: Sequence[Any]) -> str:
    return ', '.join(str(value) for value in values)


def _arcs(values: Sequence[Any]) -> str:
    return ', '.join(
        rf'\arctan {sympy.tan(value)}' if value.has(sympy.atan) else str(value) for value in values
    )


def _vectors(rows: Iterable[Row]) -> str:
    titles = ('vector', 'equations', 'entries', 'error')
    cells = [
        (row.name, row.equations, ', '.join(f'`{x}`' for x in row.compared), error_text(row.error))
        for row in rows
    ]
    return table(titles, cells)


def _machines(rows: Iterable[machines.Row]) -> str:
    titles = ('machine', 'coordinates', 'joints', 'pose', 'Jacobian', 'velocity', 'acceleration')
    return table(
        (*titles, 'jerk'),
        [(f'`{row.file}`', *map(str, row.sizes), *map(error_text, row.errors)) for row in rows],
    )
