# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The C source of an exported library: constants and functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isinf
from typing import TYPE_CHECKING

from kron_dynamics import __version__
from kron_dynamics.export.c_header import CONSTANTS, LICENCE, comment
from kron_dynamics.export.identifiers import c_string, in_comment
from kron_dynamics.kernels.prelude import literal

if TYPE_CHECKING:
    from kron_dynamics.export.library import Library

_ABOUT = """
const char *{prefix}_fingerprint(void) {{ return {upper}_FINGERPRINT; }}

const char *{prefix}_version(void) {{ return "kron_dynamics {version}"; }}

int {prefix}_check(const char *fingerprint, const char *export_digest) {{
  if (strcmp(fingerprint, "{fingerprint}") != 0) return 1;
  return strcmp(export_digest, "{digest}") != 0 ? 2 : 0;
}}
"""


def source(library: Library) -> str:
    """Return the text of the source file, valid as C11 and C++."""
    names = {
        'prefix': library.prefix,
        'upper': library.prefix.upper(),
        'version': __version__,
        'fingerprint': library.model.fingerprint,
        'digest': library.digest,
    }
    include = f'#include "{library.package}/{library.prefix}.h"\n\n'
    _, _, foundation = library.foundation.partition(' */\n')
    functions = ''.join(
        f'\n/* {library.prefix}_{each.name} */\n{each.code.text}' for each in library.functions
    )
    return (
        f'{LICENCE} *\n{comment(_about(library))}{include}{foundation}'
        f'{_ABOUT.format(**names)}{_constants(library)}{functions}'
    )


def _about(library: Library) -> Iterator[str]:
    yield f"Dynamics of the robot '{in_comment(library.model.name)}': see the header."
    yield ''
    yield 'x0, x1, ... are the arguments of a function and y0, y1, ... its results, in order.'


def _constants(library: Library) -> str:
    size = f'{library.prefix.upper()}_N'
    names = ',\n  '.join(c_string(name) for name in library.model.joint_names)
    text = f'\nconst char *const {library.prefix}_joint_names[{size}] = {{\n  {names}}};\n'
    for name, attribute, _ in CONSTANTS:
        values = ', '.join(_numbers(getattr(library.model, attribute), library.real))
        text += f'const {library.real} {library.prefix}_{name}[{size}] = {{{values}}};\n'
    return text


def _numbers(values: Iterable[float], real: str) -> Iterator[str]:
    for value in values:
        if isinf(value):
            yield 'INFINITY' if value > 0 else '-INFINITY'
        else:
            yield literal(float(value), real)
