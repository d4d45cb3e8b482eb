# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Worker process that analyses one bag of `kron_dynamics campaign`.

It reads its task from standard input and exits when standard input is closed, so that no worker
outlives its campaign.
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
    """Analyse the bag of the task and return the process's exit code."""
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
    # Read without the buffer, whose lock would still be held when Python shuts down.
    while os.read(0, 1024):
        pass
    os._exit(1)


if __name__ == '__main__':
    sys.exit(main())
