# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Coloured noise of velocities: stronger at low frequencies than differences of samples show.

Drives filter their velocity estimates, so the noise is coloured and hardly visible from sample to
sample. It is detected by comparison with the positions: spectral power of velocities that
derivatives of positions do not have is noise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.bag.replaying.bandwidth import power_density
from kron_dynamics.typing import FloatArray

# Velocity power above this multiple of the power of position derivatives is noise.
CLEARLY = 2.0
# Noise above this multiple of the sample-to-sample noise power is coloured.
COLOURED = 2.0
# Spectra are averaged over octaves with at least this many frequencies.
LEAST_IN_OCTAVE = 4


def coloured_noise(
    positions: Sequence[FloatArray],
    velocities: Sequence[FloatArray],
    step: float,
    velocity_noise: float,
) -> float:
    """Return the standard deviation of white noise with the velocity noise's largest density.

    Args:
        positions: positions in each segment, evenly spaced, shape (N,).
        velocities: velocities likewise.
        step: time step of the samples in s.
        velocity_noise: standard deviation from differences of velocities, in rad/s or m/s.
    """
    angle, from_positions = power_density([np.diff(part) / step for part in positions], step)
    means = [0.5 * (part[1:] + part[:-1]) for part in velocities]
    _, recorded = power_density([part - part.mean() for part in means], step)
    # Both as densities of the velocity itself, below half of the highest frequency.
    inner = (angle > 0.0) & (angle <= 0.5 * np.pi)
    half = 0.5 * angle[inner]
    from_positions = from_positions[inner] * (half / np.sin(half)) ** 2
    recorded = recorded[inner] / np.cos(half) ** 2
    octave = np.floor(np.log2(angle[inner] / angle[inner][-1:]) + 1e-9)
    white = 2.0 * velocity_noise**2 * step
    worst = COLOURED * white
    for number in np.unique(octave):
        band = octave == number
        ours, theirs = float(recorded[band].mean()), float(from_positions[band].mean())
        if np.count_nonzero(band) >= LEAST_IN_OCTAVE and ours > CLEARLY * theirs:
            worst = max(worst, ours - theirs)
    return float(np.sqrt(worst / (2.0 * step))) if worst > COLOURED * white else velocity_noise
