# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Noise of velocities that is stronger at low frequencies than differences of samples show.

Drives estimate velocities with filters of their own, and so their noise has a colour: from sample
to sample next to nothing is seen of it. The positions tell: what velocities have and derivatives
of the positions have not is no motion.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.bag.replaying.bandwidth import power_density
from kron_dynamics.typing import FloatArray

# Velocities that are so many times as strong as derivatives of positions are noise there.
CLEARLY = 2.0
# Noise so many times as strong as that from sample to sample has a colour.
COLOURED = 2.0
# Frequencies that are averaged: octaves of at least so many.
LEAST_IN_OCTAVE = 4


def coloured_noise(
    positions: Sequence[FloatArray],
    velocities: Sequence[FloatArray],
    step: float,
    velocity_noise: float,
) -> float:
    """Return the standard deviation of white noise as strong as that of velocities at its worst.

    Args:
        positions: of each segment, evenly spaced, shape (N,).
        velocities: likewise.
        step: distance of samples in s.
        velocity_noise: what differences of velocities show, in rad/s or m/s.
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
