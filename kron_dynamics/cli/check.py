# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics check`: errors in a description and their remedies."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from kron_dynamics.cli.options import add_flexible, add_urdf, description_options
from kron_dynamics.exceptions import ModelError, ModelWarning
from kron_dynamics.flexible import load_flexible_model
from kron_dynamics.messages import clipped
from kron_dynamics.model import load_model, read_urdf_file
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.xacro_text import expanded, is_xacro

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
    except (ModelError, OSError) as error:
        print(f'kron_dynamics: error: {" ".join(str(error).split())}', file=sys.stderr)
        return EXIT_UNREADABLE
    lines = check(text, arguments.flexible, arguments.hold_base, findings)
    if arguments.format == 'json':
        print(json.dumps([line._asdict() for line in lines], indent=2))
    else:
        print('\n'.join(_shown(lines, arguments.urdf)))
    serious = ('error', 'warning') if arguments.strict else ('error',)
    return EXIT_FOUND if any(line.severity in serious for line in lines) else 0


def check(
    text: str,
    flexible: Path | None = None,
    hold_base: bool = False,
    findings: Findings | None = None,
) -> list[Line]:
    """Return the findings about a description, errors first.

    Args:
        text: URDF.
        flexible: file that describes the flexible links.
        hold_base: as for `load`.
        findings: findings of the xacro expansion.
    """
    findings = Findings() if findings is None else findings
    errors: list[ModelError] = []
    try:
        if flexible is None:
            load_model(text, hold_base=hold_base, findings=findings)
        else:
            load_flexible_model(text, flexible, hold_base=hold_base, findings=findings)
    except ModelError as error:
        errors = findings.errors if error in findings.errors else [*findings.errors, error]
    return [*map(_error, errors), *map(_warning, findings.in_order())]


def _read(arguments: argparse.Namespace, findings: Findings) -> str:
    """Return the text of the URDF, and check that the file of flexible links is readable."""
    text = read_urdf_file(arguments.urdf)
    if arguments.flexible is not None:
        arguments.flexible.read_bytes()
    if is_xacro(text, arguments.urdf):
        options = description_options(arguments)
        text = expanded(text, arguments.urdf, options['xacro_args'], findings)
    return text


def _error(error: ModelError) -> Line:
    found = _SUBJECT.fullmatch(str(error))
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
