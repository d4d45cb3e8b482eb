# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""One bag of `kron_dynamics campaign`: told on standard input what to analyse.

It ends when standard input does, so that nothing goes on for a campaign that is gone.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from pathlib import Path

from kron_dynamics import __version__
from kron_dynamics.cli import PROGRAM, analyze, guarded
from kron_dynamics.exceptions import BagError


def main() -> int:
    """Analyse a bag as told, and return the process's exit code."""
    task = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    return guarded(lambda: _analyze(task))


def _analyze(task: dict[str, object]) -> int:
    if task['version'] != __version__:
        raise BagError(
            f'this worker has {PROGRAM} {__version__}, expected {task["version"]} as the campaign'
        )
    options = task['options']
    assert isinstance(options, dict)
    arguments = argparse.Namespace(
        **options, bag=Path(str(task['bag'])), output=Path(str(task['output']))
    )
    analyze.analyze_as_told(arguments)
    return 0


def _end_with_input() -> None:
    # Not through the buffer, whose lock would be held when Python ends.
    while os.read(0, 1024):
        pass
    os._exit(1)


if __name__ == '__main__':
    sys.exit(main())
