# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Removal of options in $CC that would change what kernels compute.

The kernels' own flags: `compiler.py`.
"""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Sequence

from kron_dynamics.exceptions import KernelBuildError

_log = logging.getLogger(__name__)

# Options that change the rounding, order or types of arithmetic, the registers or the size of
# addresses; and sanitizers, which abort a process that loads such code. Compiled when $CC has
# options, as compiling takes time in every start.
_ARITHMETIC = (
    r'-fsanitize=.*|-Ofast|-fp-model.*|-f(fast-math|unsafe-math-optimizations|associative-math|reciprocal-math'
    r'|finite-math-only|no-honor-nans|no-honor-infinities|no-signed-zeros|no-trapping-math'
    r'|approx-func|single-precision-constant|short-double|excess-precision=.*|fp-(model|eval-method|exception-behavior)=.*'
    r'|denormal-fp-math.*|fast)'
    r'|-m(32|16|x32|fpmath=.*|daz-ftz|recip.*|no-sse.*|soft-float|general-regs-only'
    r'|pc(32|64|80)|long-double-.*|single-float)'
)
# Options that prepend text to the generated source or redefine words in it.
_TEXT = r'-[DU].*|-(include|imacros)|-Wp,.*|-Xpreprocessor|--?(include|imacros)=.*'
_VALUE_BEHIND = ('-D', '-U', '-include', '-imacros', '-Xpreprocessor')


def without_harm(command: Sequence[str]) -> tuple[str, ...]:
    """Return a compiler's command without the options that change what a kernel computes.

    A warning lists the removed options, once.

    Raises:
        KernelBuildError: the command reads options from a file, which are not checked.
    """
    kept, left_out = [command[0]], []
    words = iter(command[1:])
    for word in words:
        if word.startswith('@'):
            raise KernelBuildError(
                f'CC takes options from a file, {word}: expected the options themselves'
            )
        if re.fullmatch(_TEXT, word):
            left_out += [word, *([next(words, '')] if word in _VALUE_BEHIND else [])]
        elif re.fullmatch(_ARITHMETIC, word):
            left_out.append(word)
        else:
            kept.append(word)
    if left_out:
        _warn(' '.join(left_out))
    return tuple(kept)


@functools.cache
def _warn(options: str) -> None:
    _log.warning(
        'kernels are compiled without these options of $CC, which change what they '
        'compute or cannot be loaded: %s',
        options,
    )
