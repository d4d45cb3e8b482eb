# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics derive`: the equations of a robot in closed form."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import sympy

from kron_dynamics.cli.options import add_gravity, add_urdf, description_options
from kron_dynamics.cli.tree_options import tree_options
from kron_dynamics.constraints import Geometry, read_constraints
from kron_dynamics.constraints.system import ConstraintSystem, stacked_geometry
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.loading import load
from kron_dynamics.model import RobotModel
from kron_dynamics.symbolic import (
    SymbolicFrame,
    SymbolicRelativeFrame,
    SymbolicRobot,
    plain,
    simplified,
)
from kron_dynamics.symbolic.exact import exact_array

DESCRIPTION = """\
Print the equations of a robot in closed form, M qdd + C* (qd (x) qd) + g = tau, with the joints'
names as symbols: entry by entry (from 0; what is not listed is 0), or as LaTeX. Closed forms grow
fast: print a robot of more than three or four joints with --simplify, and only what is needed.
With --constraints the equations are those of the tree in all of its coordinates, with
M qdd + C* (qd (x) qd) + g = tau + A^T lambda and phi(q) = 0, A = d phi/dq, dA its time derivative:
the dependent joints of a loop have no closed form in the coordinates of the drives.
"""

# By symbol: the method that derives the quantity, and its LaTeX notation.
ROBOT_QUANTITIES: dict[str, tuple[Callable[[SymbolicRobot], Any], str]] = {
    'M': (SymbolicRobot.mass_matrix, r'\mathbf{M}'),
    'dM': (
        SymbolicRobot.mass_matrix_derivative,
        r'\frac{\partial \mathbf{M}}{\partial \mathbf{q}}',
    ),
    'C*': (SymbolicRobot.velocity_free_coriolis_matrix, r'\mathbf{C}^{*}'),
    'C*red': (SymbolicRobot.reduced_coriolis_matrix, r'\mathbf{C}^{*}_{red}'),
    'C': (SymbolicRobot.coriolis_matrix, r'\mathbf{C}'),
    'c': (SymbolicRobot.coriolis_vector, r'\mathbf{c}'),
    'g': (SymbolicRobot.gravity_vector, r'\mathbf{g}'),
    'tau': (SymbolicRobot.inverse_dynamics, r'\boldsymbol{\tau}'),
    'T': (SymbolicRobot.kinetic_energy, 'T'),
    'V': (SymbolicRobot.potential_energy, 'V'),
}
# Quantities of closed loops, from the constraints and the tree's closed forms.
LOOP_QUANTITIES: dict[str, tuple[Callable[[Any], Any], str]] = {
    'phi': (lambda geometry: geometry.f, r'\boldsymbol{\varphi}'),
    'A': (lambda geometry: geometry.A, r'\mathbf{A}'),
    'dA': (lambda geometry: geometry.A_dot, r'\dot{\mathbf{A}}'),
}
Frame = SymbolicFrame | SymbolicRelativeFrame
FRAME_QUANTITIES: dict[str, tuple[Callable[[Any], Any], str]] = {
    'pose': (lambda frame: frame.pose(), r'\mathbf{T}'),
    'J': (lambda frame: frame.jacobian(), r'\mathbf{J}'),
    'H': (lambda frame: frame.kinematic_hessian(), r'\mathbf{H}'),
    'v': (lambda frame: frame.velocity(), r'\mathbf{v}'),
    'a': (lambda frame: frame.acceleration(), r'\mathbf{a}'),
}
DEFAULT_FRAME_QUANTITIES = ('pose', 'J', 'H')
DEFAULT_QUANTITIES = ('M', 'C*', 'g')


def set_up(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.description = DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_urdf(parser)
    symbols = [*ROBOT_QUANTITIES, *FRAME_QUANTITIES, *LOOP_QUANTITIES]
    parser.add_argument(
        '--quantity',
        metavar='SYMBOL',
        nargs='+',
        choices=symbols,
        help=f'quantities to print: {", ".join(symbols)}; quote those with *, or the shell may '
        'take them for names of files (default: '
        f'{" ".join(DEFAULT_QUANTITIES)}, with --constraints also phi A; with --frame: '
        f'{" ".join(DEFAULT_FRAME_QUANTITIES)})',
    )
    parser.add_argument(
        '--frame',
        metavar='LINK',
        help=f'link of {", ".join(FRAME_QUANTITIES)}: its origin, base axes (default: the tip)',
    )
    parser.add_argument(
        '--relative-to',
        metavar='LINK',
        help='link relative to which --frame moves (default: the base)',
    )
    parser.add_argument(
        '--axes',
        metavar='LINK',
        help='link in whose axes components are expressed (default: that of --relative-to)',
    )
    parser.add_argument(
        '--point',
        nargs=3,
        type=float,
        metavar=('X', 'Y', 'Z'),
        help='point of --frame in its own axes, m (default: its origin)',
    )
    parser.add_argument(
        '--symbolic-parameters',
        action='store_true',
        help='masses, inertias, lengths and gravity as symbols, with a list of their values',
    )
    parser.add_argument('--simplify', action='store_true', help='simplify the expressions')
    parser.add_argument('--latex', action='store_true', help='print LaTeX')
    add_gravity(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print closed forms.

    Raises:
        ModelError: the robot is unusable.
        UnknownFrameError: the robot does not have the link.
        ParameterError: a link is given, but no quantity of a link is requested.
    """
    options = tree_options(arguments)  # only the tree has closed forms
    robot = load(arguments.urdf, gravity=arguments.gravity, **options)
    symbolic = robot.symbolic
    if arguments.symbolic_parameters:
        symbolic = symbolic.with_parameters('symbolic')
    link = arguments.frame or robot.model.tip_link
    frame, seen = _frame(symbolic, link, arguments)
    about_link = bool(arguments.frame or seen)
    values = description_options(arguments)['xacro_args']
    loops = _loops(symbolic, robot.model, arguments.constraints, values)
    default = DEFAULT_QUANTITIES + (() if loops is None else ('phi', 'A'))
    quantities = tuple(arguments.quantity or (DEFAULT_FRAME_QUANTITIES if about_link else default))
    if loops is None and LOOP_QUANTITIES.keys() & quantities:
        raise ParameterError(f'{", ".join(LOOP_QUANTITIES)} need --constraints FILE')
    if about_link and not FRAME_QUANTITIES.keys() & quantities:
        raise ParameterError(
            f'--frame {link} is for {", ".join(FRAME_QUANTITIES)}, none of which --quantity names'
        )
    write, comment = (_latex, '%') if arguments.latex else (_text, '#')
    print(f'{comment} {robot.model.name}, coordinates {_coordinates(symbolic)}')
    for quantity in quantities:
        if quantity in FRAME_QUANTITIES:
            derive_frame, name = FRAME_QUANTITIES[quantity]
            closed_form, about = derive_frame(frame), f' of {link}{seen}'
        elif quantity in LOOP_QUANTITIES:
            of_loops, name = LOOP_QUANTITIES[quantity]
            closed_form, about = sympy.Matrix(of_loops(loops)), ''
        else:
            derive, name = ROBOT_QUANTITIES[quantity]
            closed_form, about = derive(symbolic), ''
        if arguments.simplify:
            closed_form = simplified(closed_form, symbolic.q)
        if isinstance(closed_form, sympy.MatrixBase):
            about += f', shape {closed_form.shape}'
        print(f'\n{comment} {quantity}{about}')
        print(write(symbolic, name if arguments.latex else quantity, closed_form))
    if symbolic.values:
        print(f'\n{comment} parameters')
    for symbol, value in symbolic.values.items():
        name = symbolic.latex(symbol) if arguments.latex else str(symbol)
        print(write(symbolic, name, value))
    return 0


def _coordinates(symbolic: SymbolicRobot) -> str:
    """Return the symbols of the coordinates, with the joints that are not named like them."""
    return ', '.join(
        joint if str(symbol) == joint else f'{symbol} (joint {joint})'
        for symbol, joint in zip(symbolic.q, symbolic.joint_names, strict=True)
    )


def _loops(
    symbolic: SymbolicRobot, model: RobotModel, path: Path | None, xacro_args: Mapping[str, str]
) -> Geometry | None:
    """Return the constraint equations of a file in closed form; None without a file."""
    if path is None:
        return None
    system = ConstraintSystem(model, read_constraints(path, model, xacro_args).constraints)
    found: Geometry = symbolic.evaluate(
        lambda tree, q, qd: stacked_geometry(*system.geometric, tree, q, qd),
        symbolic.q,
        symbolic.qd,
    )
    targets = sympy.Matrix(exact_array(system.targets))
    return found._replace(f=found.f - targets)


def _frame(symbolic: SymbolicRobot, link: str, arguments: argparse.Namespace) -> tuple[Frame, str]:
    """Return the link's frame, and a text with its point and observer unless they are default."""
    reference, axes, point = arguments.relative_to, arguments.axes, arguments.point
    frame = symbolic.frame(link)
    if reference is None and axes is None and point is None:
        return frame, ''
    relative = frame.relative_to(reference or symbolic.model.root_link, axes=axes, point=point)
    at = f' at {" ".join(f"{x:g}" for x in point)}' if point is not None else ''
    return relative, f'{at} seen from {relative.reference} in the axes of {relative.axes}'


def _text(symbolic: SymbolicRobot, name: str, closed_form: Any) -> str:
    """Return one line for each nonzero entry."""
    if not isinstance(closed_form, sympy.MatrixBase):
        return f'{name} = {plain(closed_form)}'
    rows, columns = closed_form.shape
    lines = [
        f'{name}[{f"{i}, {j}" if columns > 1 else i}] = {plain(closed_form[i, j])}'
        for i in range(rows)
        for j in range(columns)
        if closed_form[i, j] != 0
    ]
    return '\n'.join(lines or [f'{name} = 0'])


def _latex(symbolic: SymbolicRobot, name: str, closed_form: Any) -> str:
    return f'{name} = {symbolic.latex(closed_form)}'
