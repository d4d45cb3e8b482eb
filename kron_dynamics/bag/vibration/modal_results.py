# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Results of the identification of vibrations of flexible links."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModeContent:
    """A predicted mode and its identification.

    Attributes:
        name: the modal coordinate that it is closest to.
        predicted_frequency: predicted with held joints, mean over the used windows, Hz.
        predicted_damping: predicted damping ratio.
        frequency: identified frequency at the same poses, Hz; NaN if the mode is not detected.
        frequency_interval: half the 95 % interval, Hz; NaN likewise.
        damping: identified damping ratio; NaN likewise.
        damping_interval: bounds of its 95 % interval; NaN likewise.
        evidence: decrease of the squared residuals by the mode beyond the decrease expected from
            noise, in standard deviations of the latter.
        channels: channels that show it: joints by name, for their efforts, and 'tip acceleration'.
        verdict: 'seen' if the mode is detected, else why there are no values.
    """

    name: str
    predicted_frequency: float
    predicted_damping: float
    frequency: float
    frequency_interval: float
    damping: float
    damping_interval: tuple[float, float]
    evidence: float
    channels: tuple[str, ...]
    verdict: str

    @property
    def seen(self) -> bool:
        """Whether the mode is detected, so that there are values."""
        return self.verdict == 'seen'


@dataclass(frozen=True)
class ModalContent:
    """The vibrations of a run.

    Attributes:
        modes: modes in the order of the modal coordinates.
        windows: number of windows used for the slowest modes; faster ones have more, shorter ones.
        window: their length, s.
        disturbed: number of these windows with a weight below 0.5, because of other excitation.
        pose: a pose of the record, at which a description is updated, shape (n_j,), rad or m.
        frame: link whose acceleration was used.
    """

    modes: tuple[ModeContent, ...]
    windows: int
    window: float
    disturbed: int
    pose: tuple[float, ...]
    frame: str
