# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Progress bar of long commands, on a terminal line that is overwritten."""

from __future__ import annotations

import sys
import time

_PERIOD = 0.2  # shortest time between updates, s
_SOON = 0.5  # stages shorter than this, s, show no bar
_WIDTH = 24  # characters


class ProgressBar:
    """A bar with the remaining time on stderr; silent if stderr is not a terminal."""

    def __init__(self) -> None:
        """Start without a visible bar."""
        self._stage, self._started, self._written = '', 0.0, 0.0
        self._is_shown = False

    def close(self) -> None:
        """Erase the bar."""
        if self._is_shown:
            sys.stderr.write('\r\x1b[K')
            sys.stderr.flush()

    def __call__(self, stage: str, share: float) -> None:
        """Update the bar.

        Args:
            stage: name of the current stage; the remaining time is that of this stage only.
            share: share of the stage that is done, 0 to 1.
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
        stage: name of the current stage.
        share: share of the stage that is done, 0 to 1.
        elapsed: time since the start of the stage, s.
    """
    share = min(max(share, 0.0), 1.0)
    done = int(_WIDTH * share)
    left = ''
    if share > 0.0:
        seconds = round(elapsed * (1.0 - share) / share)
        minutes, rest = divmod(seconds, 60)
        left = f', {minutes} min {rest:02d} s left' if minutes else f', {rest} s left'
    return f'{stage} [{"#" * done}{"." * (_WIDTH - done)}] {100 * share:.0f} %{left}'
