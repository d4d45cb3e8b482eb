# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Residual efforts of identified models on simulated recordings, relative to the noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.known_payloads import Lines, Row
from benchmarks.known_recordings import Simulated
from kron_dynamics.bag.motions import motions
from kron_dynamics.bag.replaying.replay import replay_run
from kron_dynamics.identification import identify
from kron_dynamics.identification.procedure import HELD_OUT

MODELS = ('identified', 'least_squares', 'urdf')


def residuals(simulated: Simulated, seed: int) -> Row:
    """Return rms residuals on a run's held-out end over the noise of its efforts, shape (n,).

    Efforts are not filtered, so that all their noise counts.
    """
    recording = simulated.empty(seed)
    (motion,) = motions(replay_run(simulated.described, recording.run()))
    found = identify(simulated.described, [motion])
    held = recording.time >= motion.time[round((1.0 - HELD_OUT) * len(motion.time))]
    held &= recording.time <= motion.time[-1]
    floor = np.linalg.norm(recording.effort_noise[held], axis=0)
    floor /= np.linalg.norm(recording.effort[held], axis=0)
    return {name: (found.unfiltered[name].joints / floor).tolist() for name in MODELS}


def residual_lines(rows: Sequence[Row]) -> Lines:
    """Return lines that summarize the runs of a machine."""
    identified, plain, before = (np.array([row[name] for row in rows]) for name in MODELS)
    held = (identified <= 1.5).all(axis=1)
    return [
        (
            'residual of a joint over the noise of its efforts, median and largest',
            f'{np.median(identified):.3f}, {identified.max():.3f}',
        ),
        ('runs with all joints within 1.5', f'{held.sum()} of {len(rows)}'),
        ('by least squares, median and largest', f'{np.median(plain):.3f}, {plain.max():.3f}'),
        ('as described, median', f'{np.median(before):.3g}'),
    ]
