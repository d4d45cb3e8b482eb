# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics check`: errors in a description and their remedies."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from kron_dynamics.cli.options import add_flexible, add_urdf, description_options
from kron_dynamics.closed_loops import close_loops
from kron_dynamics.dynamics.forward import (
    AGAINST_OTHERS,
    AGAINST_OTHERS_CURE,
    joint_against_others,
)
from kron_dynamics.exceptions import (
    KronDynamicsError,
    ModelError,
    ModelWarning,
    ParameterError,
)
from kron_dynamics.flexible import load_flexible_model
from kron_dynamics.loading import expanded_description
from kron_dynamics.messages import clipped, named
from kron_dynamics.model import RobotModel, load_model, read_urdf_file
from kron_dynamics.model.findings import Findings

DESCRIPTION = """\
Print everything that is wrong with a description: errors, with which the equations have no
solution; warnings, which should be fixed; and hints, which are harmless or may be intended. One
run reports as many findings as possible, each with the link or joint, the numbers and a remedy.
"""
EPILOG = """\
exit codes: 0 no errors (with --strict: and no warnings), 1 errors (with --strict: or warnings),
2 a file cannot be read, or a wrong command line
"""
EXIT_FOUND, EXIT_UNREADABLE = 1, 2
# Subject at the start of an error's text.
_SUBJECT = re.compile(r"((?:link|joint|transmission|robot|flexible link) '[^']*'):? (.*)")


class Line(NamedTuple):
    """A finding as it is shown; an error has no kind, and its text contains the remedy."""

    severity: str
    kind: str
    subject: str
    finding: str
    cure: str


def set_up(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_urdf(parser)
    add_flexible(parser)
    parser.add_argument('--strict', action='store_true', help='warnings count as errors')
    parser.add_argument(
        '--format', choices=('text', 'json'), default='text', help='default: %(default)s'
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the findings and return the exit code."""
    findings = Findings()
    try:
        text = _read(arguments, findings)
    except (ModelError, ParameterError, OSError) as error:
        print(f'kron_dynamics: error: {" ".join(str(error).split())}', file=sys.stderr)
        return EXIT_UNREADABLE
    flexible, constraints = arguments.flexible, arguments.constraints
    xacro_args = description_options(arguments)['xacro_args']
    lines = check(text, flexible, constraints, arguments.hold_base, findings, xacro_args)
    if arguments.format == 'json':
        print(json.dumps([line._asdict() for line in lines], indent=2))
    else:
        print('\n'.join(_shown(lines, arguments.urdf)))
    serious = ('error', 'warning') if arguments.strict else ('error',)
    return EXIT_FOUND if any(line.severity in serious for line in lines) else 0


def check(
    text: str,
    flexible: Path | None = None,
    constraints: Path | None = None,
    hold_base: bool = False,
    findings: Findings | None = None,
    xacro_args: Mapping[str, str] | None = None,
) -> list[Line]:
    """Return the findings about a description, errors first.

    Args:
        text: URDF.
        flexible: file that describes the flexible links.
        constraints: file that describes loop closures and drives; they are checked if the tree has
            no errors.
        hold_base: as for `load`.
        findings: findings of the xacro expansion.
        xacro_args: as for `load`.
    """
    findings = Findings() if findings is None else findings
    errors: list[KronDynamicsError] = []
    found: Sequence[ModelWarning] | None = None  # of closed loops, the tree's included
    model: RobotModel
    try:
        if flexible is None:
            model = load_model(text, hold_base=hold_base, findings=findings)
        else:
            model = load_flexible_model(text, flexible, hold_base=hold_base, findings=findings)
        if constraints is not None:
            found = close_loops(model, constraints, xacro_args).warnings
        elif not model.is_massless:
            _look_at_mass_matrix(model, findings)
    except KronDynamicsError as error:
        errors = [*findings.errors, *([] if error in findings.errors else [error])]
    files = [file for file in (flexible, constraints) if file is not None]
    return [
        *(_error(error, files) for error in errors),
        *map(_warning, findings.in_order() if found is None else found),
    ]


def _look_at_mass_matrix(model: RobotModel, findings: Findings) -> None:
    joint = joint_against_others(model)
    if joint is not None:
        subject = named('joint', joint)
        findings.warn('singular_mass', subject, f'it {AGAINST_OTHERS}', AGAINST_OTHERS_CURE)


def _read(arguments: argparse.Namespace, findings: Findings) -> str:
    """Return the text of the URDF, and check that the other files are readable."""
    text = read_urdf_file(arguments.urdf)
    for other in (arguments.flexible, arguments.constraints):
        if other is not None:
            other.open('rb').close()  # not read: the content of a pipe would be lost
    values = description_options(arguments)['xacro_args']
    try:
        return expanded_description(text, arguments.urdf, arguments.constraints, values, findings)
    except ParameterError:
        file = clipped(str(arguments.urdf))
        raise ParameterError(
            f'--xacro-arg sets {", ".join(values)}, but {file} is not xacro'
        ) from None


def _error(error: KronDynamicsError, files: Sequence[Path]) -> Line:
    """Return an error as a line; its subject is in the URDF, or one of the other files."""
    names = '|'.join(re.escape(clipped(str(file))) for file in files)
    patterns = [_SUBJECT]
    if files:
        patterns.append(re.compile(f'((?:{names})(?:, line [0-9]+)?): (.*)'))
    found = next(filter(None, (each.fullmatch(str(error)) for each in patterns)), None)
    subject, text = found.groups() if found else ('URDF', str(error))
    return Line('error', '', subject, text, '')


def _warning(warning: ModelWarning) -> Line:
    return Line(warning.severity, warning.kind, warning.subject, warning.finding, warning.cure)


def _shown(lines: Sequence[Line], path: Path) -> list[str]:
    shown = []
    for line in lines:
        shown.append(f'{line.severity:8} {line.subject}: {line.finding}')
        if line.cure:
            shown.append(f'{"":8} {line.cure} [{line.kind}]')
    counts = []
    for severity in ('error', 'warning', 'hint'):
        count = sum(line.severity == severity for line in lines)
        counts.append(f'{count} {severity}{"" if count == 1 else "s"}')
    return [*shown, f'{clipped(str(path))}: {", ".join(counts)}']
