# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The C header of an exported library: declarations with their documentation."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from math import prod
from typing import TYPE_CHECKING

from kron_dynamics import __version__
from kron_dynamics.export.identifiers import in_comment
from kron_dynamics.export.quantities import Function
from kron_dynamics.model.joint_kinds import joint_kind

if TYPE_CHECKING:
    from kron_dynamics.export.library import Library

LICENCE = """\
/* Copyright 2026 The kron_dynamics Authors
 * SPDX-License-Identifier: Apache-2.0
"""
# Constants of the coordinates by their names in C, with attributes of the model.
CONSTANTS = (
    ('position_lower', 'position_lower', 'Lower position limits, rad or m; -INFINITY: none.'),
    ('position_upper', 'position_upper', 'Upper position limits, rad or m; INFINITY: none.'),
    ('velocity_limit', 'velocity_limit', 'Velocity limits, rad/s or m/s; INFINITY: none.'),
    ('effort_limit', 'effort_limit', 'Effort limits, N m or N; INFINITY: none.'),
    ('damping', 'damping', 'Viscous friction, N m s/rad or N s/m.'),
    ('friction', 'friction', 'Coulomb friction, N m or N.'),
)
# Placeholder of a non-breaking space while lines are wrapped.
_KEPT = '\0'
_BEFORE = """\
#ifndef {guard}
#define {guard}

/* Number of coordinates: the length of q, qd, qdd and tau. */
#define {upper}_N {n}
/* Fingerprint of the model; `kron_dynamics info` shows the fingerprint of a description. */
#define {upper}_FINGERPRINT "{fingerprint}"
/* Digest of this export: its functions, their arguments and constants. */
#define {upper}_EXPORT "{digest}"
/* Length of a workspace that is sufficient for every function, in numbers; 0: none needs one. */
#define {upper}_WORKSPACE {workspace}
/* Upper bound of the stack use of a call of any function, bytes, optimized or not. */
#define {upper}_STACK {stack}

#ifdef __cplusplus
extern "C" {{
#endif

/* Call once before a loop starts. 0: the library was made from the model with this fingerprint,
 * in the export with this digest ({upper}_EXPORT of the header). 1: from another
 * model. 2: from this model, but in another export than the header. */
int {prefix}_check(const char *fingerprint, const char *export_digest);
/* Fingerprint of the model, and version of kron_dynamics that exported the library. */
const char *{prefix}_fingerprint(void);
const char *{prefix}_version(void);

/* Names of the coordinates, UTF-8. */
extern const char *const {prefix}_joint_names[{upper}_N];
"""
_PAYLOAD = """\
payload: ten inertial parameters of the load on each of these links, about the link's origin and
in its axes: mass (kg), first moment x y z (kg m), inertia xx xy xz yy yz zz (kg m^2); zeros for
no load:
"""
_LOOPS = """\
The closed loops are solved for positions from position_lower to position_upper. Beyond these,
results are numbers without meaning, and nothing tells so: check positions before each call.
"""
_CONVENTIONS = """\
All numbers are in SI units, in base axes unless stated otherwise. Arrays are row-major and
contiguous: element (i, j) of a matrix with m columns is [i * m + j]; column i n + j of the
derivative of a matrix by q is the derivative of its column i by q[j]. Results must not overlap
arguments. Results that depend on a NaN are NaN.

Nothing here allocates memory, locks, reads a clock, writes a global or fails. All functions are
reentrant: threads may call them concurrently, each with its own workspace if a function takes
one. The workspace needs no initialization and keeps no state between calls.
"""
_BRANCHES = {
    'double': """\
The operations of a call do not depend on the values of the arguments, except for the sine and
cosine of an angle beyond 823549 rad or NaN, which call the C library, and for the C library's
tanh() (joint friction).
""",
    'float': """\
The operations of a call do not depend on the values of the arguments, except within sinf(),
cosf() and tanhf() of the C library.
""",
}
_AFTER = """
#ifdef __cplusplus
}}
#endif

#endif /* {guard} */
"""


def header(library: Library) -> str:
    """Return the text of the header."""
    names = {
        'guard': f'{library.prefix.upper()}_H',
        'upper': library.prefix.upper(),
        'prefix': library.prefix,
        'n': library.model.n,
        'fingerprint': library.model.fingerprint,
        'digest': library.digest,
        'workspace': library.workspace,
        'stack': library.stack,
    }
    constants = ''.join(
        f'/* {about} */\nextern const {library.real} {library.prefix}_{name}'
        f'[{library.prefix.upper()}_N];\n'
        for name, _, about in CONSTANTS
    )
    functions = ''.join(f'\n{_declaration(library, each)}' for each in library.functions)
    return (
        f'{LICENCE} *\n{comment(_about(library))}'
        f'{_BEFORE.format(**names)}{constants}{functions}{_AFTER.format(**names)}'
    )


def arguments(library: Library, function: Function) -> list[tuple[str, int]]:
    """Return name and length of each argument of a function."""
    return function.specification.lengths(library.model)


def workspace_macro(library: Library, function: Function) -> str:
    """Return the macro with the length of a function's workspace."""
    return f'{library.prefix.upper()}_{function.name.upper()}_WORKSPACE'


def validity(library: Library) -> str:
    """Return in which positions results hold, a paragraph; empty if that is in all."""
    return _LOOPS if library.model.has_closed_loops else ''


def comment(lines: Iterable[str]) -> str:
    """Return the lines that continue and close the comment begun by `LICENCE`."""
    return ''.join(f' * {line}'.rstrip() + '\n' for line in lines) + ' */\n'


def _about(library: Library) -> Iterator[str]:
    model = library.model
    gravity = ' '.join(f'{value:g}' for value in model.gravity)
    yield f"Dynamics of the robot '{in_comment(model.name)}'. Made by kron_dynamics {__version__}."
    yield 'Do not edit: export a changed model again instead.'
    yield ''
    yield f'model    {model.fingerprint}'
    yield f'export   {library.digest}'
    yield f'gravity  {gravity} m/s^2 in the axes of link {in_comment(model.root_link)}'
    yield f'numbers  {library.real}'
    yield ''
    yield 'Coordinates, in the order of every array:'
    for k, name in enumerate(model.joint_names):
        kind = joint_kind(model.joint_types[k])
        length, force = kind.unit('position'), kind.unit('effort')
        yield (
            f'  {k:<3} {in_comment(name)}: {model.joint_types[k]}, '
            f'{length}, {kind.unit("velocity")}, {force}'
        )
    yield ''
    if library.carriers:
        yield from _PAYLOAD.splitlines()
        for k, (carrier, links) in enumerate(library.carriers.items()):
            others = ', '.join(in_comment(link) for link in links if link != carrier)
            fixed = f', also for {others}, fixed to it' if others else ''
            yield f'  {10 * k}..{10 * k + 9}  {in_comment(carrier)}{fixed}'
        yield ''
    if loops := validity(library):
        yield from loops.splitlines()
        yield ''
    yield from _CONVENTIONS.splitlines()
    yield ''
    yield from _BRANCHES[library.real].splitlines()


def _declaration(library: Library, function: Function) -> str:
    given, code = arguments(library, function), function.code
    about = function.description
    if function.link is not None:
        about = f'Link {in_comment(function.link)}: {about}'
    lines = textwrap.wrap(about, 96)
    lines.append('in:  ' + ', '.join(f'{name}[{length}]' for name, length in given))
    shapes = [
        f'{name}[{prod(shape)}]' + (f' ({" x ".join(map(str, shape))})' if len(shape) > 1 else '')
        for name, shape in function.results
    ]
    lines.append('out: ' + ', '.join(shapes))
    lines.append(f'{function.operations} operations; stack at most {code.stack} bytes')
    words = [f'const {library.real} *{name}' for name, _ in given]
    words += [f'{library.real} *{name}' for name, _ in function.results]
    macro = ''
    if code.workspace:
        name = workspace_macro(library, function)
        macro = f'#define {name} {code.workspace}\n'
        lines.append(f'workspace: {name} numbers')
        words.append(f'{library.real} *workspace')
    text = '\n * '.join(lines)
    words = [word.replace(' ', _KEPT) for word in words]
    declared = f'void{_KEPT}{library.prefix}_{function.name}({", ".join(words)});'
    wrapped = textwrap.wrap(declared, 98, subsequent_indent='    ', break_long_words=False)
    return f'{macro}/* {text} */\n' + '\n'.join(wrapped).replace(_KEPT, ' ') + '\n'
