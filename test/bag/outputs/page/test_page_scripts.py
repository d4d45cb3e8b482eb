# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The scripts of pages, run by Node where it is there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from kron_dynamics.bag.outputs import page
from kron_dynamics.bag.outputs.files import write_files
from kron_dynamics.bag.outputs.series import series_blocks

NODE = shutil.which('node')
LEAST_VERSION = 18  # has a runner of tests
DRAWN = (('position', 0), ('velocity', 2), ('recorded', 1), ('residual', 1), ('external', 1))
DRAWN += (('tip_recomputed', 4), ('jerk', 0))


def why_not():
    if NODE is None:
        return 'node is not installed'
    version = subprocess.run([NODE, '--version'], capture_output=True, text=True).stdout
    if int(version.lstrip('v').split('.')[0] or 0) < LEAST_VERSION:
        return f'node is {version.strip()}, and tests need {LEAST_VERSION}'
    return None


def test_scripts_of_pages_compute_and_draw_what_they_are_given(analysis, tmp_path):
    reason = why_not()
    if reason:
        pytest.skip(reason)
    write_files(analysis, tmp_path, ['html'])
    samples, parts = {}, {}
    for block in series_blocks(analysis.runs[0]):
        for key, column in DRAWN:
            values = np.where(block.compared, block.values[key][:, column], np.nan)
            parts.setdefault((key, column, block.segment), []).extend(values.tolist())
    for (key, column, _), values in parts.items():
        row = samples.setdefault(f'{key} {column}', [])
        row += [None if value != value else value for value in [*values, float('nan')]]
    (tmp_path / 'samples.json').write_text(json.dumps(samples))
    done = subprocess.run(
        [NODE, '--test', '--test-reporter=tap', str(Path(__file__).with_name('page_scripts.mjs'))],
        env={
            **os.environ,
            'PAGE_SCRIPTS': str(Path(page.__file__).parent),
            'PAGE': str(tmp_path / 'report.html'),
            'SAMPLES': str(tmp_path / 'samples.json'),
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    counts = dict(re.findall(r'^# (tests|pass) (\d+)$', done.stdout, flags=re.MULTILINE))
    assert int(counts['pass']) == int(counts['tests']) >= 14
