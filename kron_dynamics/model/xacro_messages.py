# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages that xacro prints while it expands a text."""

from __future__ import annotations

import contextlib
import io
import sys
import threading
from collections.abc import Iterator
from typing import TextIO

from kron_dynamics.messages import clipped
from kron_dynamics.model.findings import Findings

_LENGTH = 300  # characters after which a message is cut
# Starts of lines that say where the message before them comes from.
_PLACES = (
    *('when instantiating macro:', 'instantiated from:', 'in file:', 'when processing file:'),
    'included from:',
)
_ERROR, _WARNING = 'error: ', 'warning: '


class _Listener(io.TextIOBase):
    """Stream that keeps what one thread writes, and passes on what the others write."""

    def __init__(self, said: list[str], others: TextIO | None) -> None:
        self._said, self._others = said, others
        self._thread = threading.get_ident()

    def write(self, text: str) -> int:
        if threading.get_ident() == self._thread:
            self._said.append(text)
        elif self._others is not None:
            self._others.write(text)
        return len(text)

    def flush(self) -> None:
        if self._others is not None:
            self._others.flush()


@contextlib.contextmanager
def messages_of_xacro() -> Iterator[list[str]]:
    """Context of a list that holds, afterwards, the messages that this thread has printed.

    Each is one line, with its place.
    """
    said, messages = list[str](), list[str]()
    with (
        contextlib.redirect_stderr(_Listener(said, sys.stderr)),
        contextlib.redirect_stdout(_Listener(said, sys.stdout)),
    ):
        try:
            yield messages
        finally:
            for line in ''.join(said).splitlines():
                words, _, name = line.partition(': ')
                if messages and f'{words}:' in _PLACES:
                    messages[-1] += f', {words}: {clipped(name)}'
                elif line.strip():
                    messages.append(_shown(line.strip()))


def _shown(line: str) -> str:
    line = ''.join(c if c.isprintable() else repr(c)[1:-1] for c in line)
    return line if len(line) <= _LENGTH else f'{line[:_LENGTH]}...'


def tell_messages(messages: list[str], findings: Findings) -> None:
    """Record each message once: a warning if xacro calls it an error, a hint otherwise."""
    for message in dict.fromkeys(messages):
        is_error = message.startswith(_ERROR)
        text = message.removeprefix(_ERROR).removeprefix(_WARNING)
        findings.warn(
            'xacro_error' if is_error else 'xacro_message',
            'xacro',
            text,
            'the file, or one that it includes, prints this',
        )
