# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a recording says of the vibrations of flexible links."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModeContent:
    """A predicted mode and what a recording says of it.

    Attributes:
        name: the modal coordinate that it is nearest to.
        predicted_frequency: with the joints held, mean over the windows looked at, Hz.
        predicted_damping: ratio.
        frequency: identified, at the same poses, Hz; NaN where not seen.
        frequency_interval: half the 95 % interval, Hz; NaN likewise.
        damping: identified ratio; NaN likewise.
        damping_interval: ends of its 95 % interval; NaN likewise.
        evidence: how much better the recording is explained with the mode than without, in
            standard deviations of what noise would do.
        channels: what shows it: joints by name, for their efforts, and 'tip acceleration'.
        verdict: 'seen', or why there are no numbers.
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
        """Whether there are numbers."""
        return self.verdict == 'seen'


@dataclass(frozen=True)
class ModalContent:
    """The vibrations of a run.

    Attributes:
        modes: in the order of the modal coordinates.
        windows: stretches that were looked at.
        window: their length for the slowest modes, s.
        disturbed: those of them that count less than half, as something else moved the machine.
        pose: a pose of the record, that a description is updated at, shape (n_j,), rad or m.
        frame: link whose acceleration was looked at.
    """

    modes: tuple[ModeContent, ...]
    windows: int
    window: float
    disturbed: int
    pose: tuple[float, ...]
    frame: str
