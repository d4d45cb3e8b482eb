# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Panels of plots: the series of a run that are drawn together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kron_dynamics.bag.outputs.series import Quantity

# A series: a quantity's key and one of its columns.
Column = tuple[str, int]
DASHED = 1  # index into the dash styles in report.js


@dataclass(frozen=True)
class Line:
    """A line of a panel.

    Attributes:
        label: its label.
        series: the series that it shows; None for a band about zero without a line.
        colour: index of its colour.
        band: standard deviation; two standard deviations to both sides are shaded. None for no
            band.
        dash: dash style: 0 or DASHED.
        width: width in pixels.
    """

    label: str
    series: Column | None
    colour: int
    band: Column | None = None
    dash: int = 0
    width: float = 1.3


@dataclass(frozen=True)
class Panel:
    """Lines with one unit, drawn together.

    Attributes:
        title: title of the panel.
        quantity: quantity on the axis.
        unit: unit of the axis.
        lines: the lines.
    """

    title: str
    quantity: str
    unit: str
    lines: tuple[Line, ...]

    @property
    def columns(self) -> list[Column]:
        """The series that are drawn."""
        found = [each for line in self.lines for each in (line.series, line.band)]
        return [column for column in found if column is not None]


@dataclass(frozen=True)
class Section:
    """Panels under a heading."""

    title: str
    panels: tuple[Panel, ...]


def sections_of(quantities: Sequence[Quantity], frame: str) -> list[Section]:
    """Return the plots of a run: motion of joints, efforts of each joint, motion of tip and links.

    Args:
        quantities: quantities of the run.
        frame: name of the tip.
    """
    by_key = {quantity.key: quantity for quantity in quantities}
    joints = by_key['position'].columns
    motion = [
        panel
        for key in ('position', 'velocity', 'acceleration', 'jerk')
        for panel in _motion_panels(by_key[key])
    ]
    efforts = [
        Section(f'Effort of {name}', _effort_panels(by_key, k)) for k, name in enumerate(joints)
    ]
    tip = [
        Panel(
            f'{kind} {title} of {frame}',
            title,
            by_key[key].units[rows[0]],
            _tip_lines(key, rows),
        )
        for key, title in (
            ('tip_velocity', 'velocity'),
            ('tip_recomputed', 'acceleration'),
            ('tip_jerk', 'jerk'),
        )
        for kind, rows in (('Linear', (0, 1, 2)), ('Angular', (3, 4, 5)))
    ]
    return [
        Section('Motion of the joints', tuple(motion)),
        *efforts,
        Section(f'Motion of {frame}', tuple(tip)),
        *(
            Section('Flexible links', tuple(_motion_panels(quantity)))
            for quantity in quantities
            if quantity.owner == 'links'
        ),
    ]


def _motion_panels(quantity: Quantity) -> list[Panel]:
    """Return a panel for each unit of a quantity."""
    return [
        Panel(
            quantity.title.capitalize(),
            quantity.title,
            unit,
            tuple(
                Line(name, (quantity.key, k), k)
                for k, name in enumerate(quantity.columns)
                if quantity.units[k] == unit
            ),
        )
        for unit in dict.fromkeys(quantity.units)
    ]


def _effort_panels(by_key: dict[str, Quantity], k: int) -> tuple[Panel, ...]:
    unit, band = by_key['recomputed'].units[k], ('uncertainty', k)
    terms = ('inertia', 'coriolis', 'gravity', 'friction')
    return (
        Panel(
            'Recorded and recomputed',
            'effort',
            unit,
            (
                Line('recorded', ('recorded', k), 0, width=2.0),
                Line('recomputed', ('recomputed', k), 1, band),
            ),
        ),
        Panel(
            'Residual: recorded minus recomputed',
            'residual',
            unit,
            (
                Line('± 2 standard deviations', None, 7, band),
                Line('residual', ('residual', k), 3),
            ),
        ),
        Panel(
            'External effort, by momentum observer',
            'effort',
            unit,
            (Line('external', ('external', k), 2),),
        ),
        Panel(
            'Terms of the recomputed effort',
            'effort',
            unit,
            tuple(
                Line(term.replace('coriolis', 'Coriolis'), (term, k), colour)
                for colour, term in enumerate(terms)
            ),
        ),
        Panel(
            'Rate of the effort',
            'effort rate',
            by_key['recomputed_rate'].units[k],
            (
                Line('recorded', ('recorded_rate', k), 0, width=2.0),
                Line('recomputed', ('recomputed_rate', k), 1),
            ),
        ),
    )


def _tip_lines(key: str, rows: Sequence[int]) -> tuple[Line, ...]:
    if key != 'tip_recomputed':
        return tuple(Line('xyz'[row % 3], (key, row), row % 3) for row in rows)
    recorded = [
        Line(f'{"xyz"[row % 3]} recorded', ('tip_recorded', row), row % 3, dash=DASHED, width=2.0)
        for row in rows
    ]
    recomputed = [
        Line(f'{"xyz"[row % 3]} recomputed', (key, row), row % 3, ('tip_uncertainty', row))
        for row in rows
    ]
    return (*recorded, *recomputed)
