# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of a robot description in C: identifiers, comments and strings that nothing breaks."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.messages import clipped, shown

_PREFIX = re.compile(r'[a-z][a-z0-9]*(?:_[a-z0-9]+)*')
# Of a prefix, and of a link's name: C compilers have to tell the first 63 characters apart.
_LONGEST = 40
# What a namespace or a prefix must not be: keywords of C and C++, and words that the C library or
# a compiler means something by. Its other names, such as `fmin`, are nobody's idea of a robot.
_TAKEN = frozenset(
    'alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl '
    'concept const consteval constexpr constinit continue decltype default delete do double '
    'else enum explicit export extern false float for friend goto if inline int long main '
    'mutable namespace new noexcept not not_eq nullptr operator or or_eq posix private '
    'protected public register reinterpret_cast requires restrict return short signed sizeof '
    'static static_assert std struct switch template this thread_local throw true try typedef '
    'typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq '
    'abort abs access alarm asin atan atoi basename bind bsearch calloc ceil clearerr clock '
    'clone close connect cos cosh difftime div dup errno exit exp fabs finite floor fma fork '
    'free gamma getchar getenv getline hypot index ioctl kill link linux listen log logb '
    'lseek malloc memcpy nan nice open optarg pause perror pipe poll pow printf puts qsort '
    'rand random read realloc remainder remove rename rewind rint round scanf select send '
    'setenv signal significand sin sinh sleep socket sqrt stat stderr stdin stdout sync '
    'system tan tanh time timezone trunc unix wait write y0 y1 yn j0 j1 jn'.split()
)


def identifier(name: str) -> str:
    """Return a name made of lower-case ASCII letters, digits and single underscores.

    It is the name itself where that is so already, and 'robot' where nothing is left.
    """
    words = re.findall(r'[a-z0-9]+', name.lower())
    found = '_'.join(words)[:_LONGEST].rstrip('_')
    if not found:
        return 'robot'
    if found[0].isdigit():
        found = f'robot_{found}'[:_LONGEST].rstrip('_')
    return f'{found}_robot' if found in _TAKEN else found


def checked_prefix(prefix: str) -> str:
    """Return the prefix that every name of a library begins with, if it can be one.

    Raises:
        ParameterError: it is no identifier of lower-case letters, too long, or taken.
    """
    if not _PREFIX.fullmatch(prefix) or len(prefix) > _LONGEST or prefix in _TAKEN:
        raise ParameterError(
            f'prefix is {shown(prefix)}, expected at most {_LONGEST} lower-case letters, digits '
            f'and single underscores, a letter first, and no word of C or C++'
        )
    return prefix


def different_identifiers(names: Sequence[str], taken: Collection[str] = ()) -> list[str]:
    """Return an identifier for each name: equal ones, and those taken, get numbers in order."""
    found: list[str] = []
    for name in names:
        plain = candidate = identifier(name)
        number = 2
        while candidate in found or candidate in taken:
            candidate, number = f'{plain}_{number}', number + 1
        found.append(candidate)
    return found


def in_comment(text: str) -> str:
    """Return a text that may stand in a comment of C: short, printable ASCII, never its end."""
    text = clipped(text).encode('ascii', 'backslashreplace').decode('ascii')
    text = text.replace('\\', '/')  # at the end of a line it would take in the next
    return re.sub(r'\*(?=/)|/(?=\*)|\?(?=\?)|/(?=/)', r'\g<0> ', text)


def c_string(text: str) -> str:
    """Return a string literal of C that holds a text in UTF-8."""
    letters = [
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f'\\{byte:03o}'
        for byte in text.encode('utf-8', 'surrogatepass')
    ]
    return f'"{"".join(letters)}"'
