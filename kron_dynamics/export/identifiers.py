# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Safe C identifiers, comments and string literals for the names of a robot description."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.messages import clipped, shown

_PREFIX = re.compile(r'[a-z][a-z0-9]*(?:_[a-z0-9]+)*')
# Longest prefix, and longest identifier of a link: C compilers need to distinguish only the first
# 63 characters.
_LONGEST = 40
# Reserved words that a namespace or prefix must not be: keywords of C and C++, and names of the C
# library and of compilers, apart from names that no robot has, such as `fmin`.
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
    """Return a name converted to lower-case ASCII letters, digits and single underscores.

    A valid name is unchanged; a name without any such character becomes 'robot'.
    """
    words = re.findall(r'[a-z0-9]+', name.lower())
    found = '_'.join(words)[:_LONGEST].rstrip('_')
    if not found:
        return 'robot'
    if found[0].isdigit():
        found = f'robot_{found}'[:_LONGEST].rstrip('_')
    return f'{found}_robot' if found in _TAKEN else found


def checked_prefix(prefix: str) -> str:
    """Return the prefix of all names of a library after checking it.

    Raises:
        ParameterError: the prefix is not a lower-case identifier, too long or reserved.
    """
    if not _PREFIX.fullmatch(prefix) or len(prefix) > _LONGEST or prefix in _TAKEN:
        raise ParameterError(
            f'prefix is {shown(prefix)}, expected at most {_LONGEST} lower-case letters, digits '
            f'and single underscores, a letter first, and no word of C or C++'
        )
    return prefix


def different_identifiers(names: Sequence[str], taken: Collection[str] = ()) -> list[str]:
    """Return a unique identifier for each name; numbers are appended to equal or taken ones."""
    found: list[str] = []
    for name in names:
        plain = candidate = identifier(name)
        number = 2
        while candidate in found or candidate in taken:
            candidate, number = f'{plain}_{number}', number + 1
        found.append(candidate)
    return found


def in_comment(text: str) -> str:
    """Return a text that is safe in a C comment: short, printable ASCII, without its end mark."""
    text = clipped(text).encode('ascii', 'backslashreplace').decode('ascii')
    text = text.replace('\\', '/')  # at the end of a line it would continue the line
    return re.sub(r'\*(?=/)|/(?=\*)|\?(?=\?)|/(?=/)', r'\g<0> ', text)


def c_string(text: str) -> str:
    """Return a C string literal of a text in UTF-8."""
    letters = [
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f'\\{byte:03o}'
        for byte in text.encode('utf-8', 'surrogatepass')
    ]
    return f'"{"".join(letters)}"'
