# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The order in which messages were recorded, also where a clock was set back.

Files hold messages nearly in the order of recording. Times of recording sort them, unless the
recorder's clock was set back: then messages of two moments have the same times. Where stamps are
by the same clock, both fall together, by however little; a late message has a late stamp alone.
"""

from __future__ import annotations

import numpy as np

from kron_dynamics.typing import BoolArray, IntArray

# A stamp this far behind the newest one is a restarted clock, not a late message.
RESTART_STEP_NS = 500_000_000
# A fall of both clocks by this many periods is a restart of any size.
FEW_PERIODS = 3


def clock_epochs(stamps: IntArray, other: IntArray) -> IntArray:
    """Return the number of clock restarts before each message, shape (N,).

    A stamp far behind the newest one is a restart, unless the next stamp is not: then it is a
    single late message. A fall of both clocks is one by less.

    Args:
        stamps: stamps in ns, in the order of recording, shape (N,).
        other: times of the same messages by the other clock, recorder's or header's, shape (N,).
    """
    epochs = np.zeros(len(stamps), dtype=np.int64)
    both = _both_set_back(stamps, other)
    if not (both.any() or np.any(np.diff(stamps) < -RESTART_STEP_NS)):
        return epochs
    epoch, front = 0, int(stamps[0])
    for index, stamp in enumerate(stamps.tolist()):
        oldest_late = front - RESTART_STEP_NS
        if both[index]:
            epoch, front = epoch + 1, stamp
        elif stamp < oldest_late:
            returns = index + 1 < len(stamps) and int(stamps[index + 1]) >= oldest_late
            if not returns:
                epoch, front = epoch + 1, stamp
        front = max(front, stamp)
        epochs[index] = epoch
    return epochs


def _both_set_back(stamps: IntArray, other: IntArray) -> BoolArray:
    """Return the mask of messages before which both clocks fell, and from which both go on."""
    found = np.zeros(len(stamps), dtype=bool)
    steps = [np.diff(times) for times in (stamps, other)]
    if not (np.any(steps[0] < 0) and np.any(steps[1] < 0)):
        return found
    forward = [step[step > 0] for step in steps]
    if not all(map(len, forward)):
        return found
    least = FEW_PERIODS * max(float(np.median(step)) for step in forward)
    goes_on = [times[2:] < times[:-2] for times in (stamps, other)]
    found[1:-1] = goes_on[0] & goes_on[1]
    found[1:] &= (steps[0] < -least) & (steps[1] < -least)
    return found


def recorder_epochs(log_time: IntArray, stamp: IntArray) -> IntArray:
    """Return how often the recorder's clock was set back before each message, shape (N,).

    It was not if the parts between two falls have times of their own: such a file was not written
    in the order of recording.

    Args:
        log_time: times of recording in ns, in the order of the file, shape (N,).
        stamp: their stamps in ns, 0 where there are none, shape (N,).
    """
    epochs = clock_epochs(log_time, stamp)
    if not len(epochs) or not epochs[-1]:
        return epochs
    firsts = np.searchsorted(epochs, np.arange(epochs[-1] + 1))
    starts = np.minimum.reduceat(log_time, firsts)
    ends = np.maximum.reduceat(log_time, firsts)[np.argsort(starts)]
    apart = np.sort(starts)[1:] >= np.maximum.accumulate(ends)[:-1]
    return np.zeros_like(epochs) if apart.all() else epochs


def recording_order(log_time: IntArray, stamp: IntArray) -> IntArray | None:
    """Return the indices that sort messages by recording; None if they are in this order.

    Args:
        log_time: times of recording in ns, in the order of the file, shape (N,).
        stamp: their stamps in ns, 0 where there are none, shape (N,).
    """
    if not np.any(log_time[1:] < log_time[:-1]):
        return None
    return np.lexsort((log_time, recorder_epochs(log_time, stamp)))
