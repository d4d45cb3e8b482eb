# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The tables as text, and their insertion into the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import floor, log10

from .robustness import Difference, ratios, settling_time

SHAPINGS = ('zv', 'zvd', 'ei')
MACHINES = {
    "the model's numbers": Difference(),
    '20 % more stiffness': Difference(stiffness=1.2),
    '1.5 times the friction': Difference(friction=1.5),
    'half the friction': Difference(friction=0.5),
    'no friction at all': Difference(friction=0.0),
}
# Modal coordinate and impulse, N s.
GUSTS = {
    'up and down, 5 kN s': ('boom/w1', 5e3),
    'up and down, 10 kN s': ('boom/w1', 10e3),
    'up and down, 30 kN s': ('boom/w1', 30e3),
    'sideways, 5 kN s': ('boom/v1', 5e3),
    'sideways, 10 kN s': ('boom/v1', 10e3),
}


def robustness_table() -> str:
    """Return the table of vibration reduction by shaping, for machines unlike the model."""
    rows = [
        (name, *(_cell(ratios(machine, joint, SHAPINGS)) for joint in ('slew', 'luff')))
        for name, machine in MACHINES.items()
    ]
    return _table(
        ('The machine has', 'after the slew, sideways', 'after the luff, up and down'), rows
    )


def gust_table() -> str:
    """Return the table of settling times after gusts, without and with damping."""
    rows = [
        (name, *(f'{_digits(settling_time(*gust, damping=kind))} s' for kind in (False, True)))
        for name, gust in GUSTS.items()
    ]
    return _table(('A gust', 'computed torque', 'damped'), rows)


def with_table(text: str, name: str, table: str) -> str:
    """Return a page with the table between the markers of a name replaced.

    Raises:
        ValueError: the page does not have exactly one such pair of markers.
    """
    place = rf'(<!-- {name}:[^\n]*-->\n\n).*?(\n\n<!-- end -->)'
    found = list(re.finditer(place, text, re.DOTALL))
    if len(found) != 1:
        raise ValueError(f"the page has {len(found)} places for a table '{name}', expected one")
    return text[: found[0].end(1)] + table + text[found[0].start(2) :]


def _cell(values: Sequence[float]) -> str:
    return ' / '.join(map(_digits, values))


def _digits(value: float) -> str:
    """Return a positive number with two significant digits."""
    rounded = float(f'{value:.1e}')
    return f'{rounded:.{max(0, 1 - floor(log10(rounded)))}f}'


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [titles, ['---'] * len(titles), *rows]
    return '\n'.join('| ' + ' | '.join(line) + ' |' for line in lines)
