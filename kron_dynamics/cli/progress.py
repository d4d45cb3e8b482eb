# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How far a long command is, on a line of the terminal that is written again and again."""

from __future__ import annotations

import sys
import time

_PERIOD = 0.2  # s from one writing to the next
_SOON = 0.5  # s: what is shorter is not told
_WIDTH = 24


class ProgressBar:
    """A bar with the time left, on stderr where that is a terminal; nothing elsewhere."""

    def __init__(self) -> None:
        """Begin without a bar."""
        self._stage, self._started, self._written = '', 0.0, 0.0
        self._is_shown = False

    def close(self) -> None:
        """Wipe the bar away."""
        if self._is_shown:
            sys.stderr.write('\r\x1b[K')
            sys.stderr.flush()

    def __call__(self, stage: str, share: float) -> None:
        """Tell how far it is.

        Args:
            stage: what is being done; the time left is of it alone.
            share: of that, 0 to 1.
        """
        now = time.monotonic()
        if stage != self._stage:
            self._stage, self._started = stage, now
        elapsed = now - self._started
        if now - self._written < _PERIOD or elapsed < _SOON or not sys.stderr.isatty():
            return
        self._written, self._is_shown = now, True
        sys.stderr.write(f'\r\x1b[K{progress_line(stage, share, elapsed)}')
        sys.stderr.flush()


def progress_line(stage: str, share: float, elapsed: float) -> str:
    """Return a bar as text.

    Args:
        stage: what is being done.
        share: how much of it is done, 0 to 1.
        elapsed: how long that took, in s.
    """
    share = min(max(share, 0.0), 1.0)
    done = int(_WIDTH * share)
    left = ''
    if share > 0.0:
        seconds = round(elapsed * (1.0 - share) / share)
        minutes, rest = divmod(seconds, 60)
        left = f', {minutes} min {rest:02d} s left' if minutes else f', {rest} s left'
    return f'{stage} [{"#" * done}{"." * (_WIDTH - done)}] {100 * share:.0f} %{left}'
