# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""States that were published again at another rate are put back where they belong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kron_dynamics.bag.samples import Samples
from kron_dynamics.bag.series.joint_log import JointSegment
from kron_dynamics.bag.series.polled_states import source_times


def segment_of(time, *signals) -> JointSegment:
    """Two joints with position, velocity and effort, each a function of the time of its state."""
    position, velocity, effort = (
        tuple(Samples(time, column) for column in np.atleast_2d(signal)) for signal in signals
    )
    return JointSegment(0, float(time[0]), float(time[-1]), position, velocity, effort)


def motion(t):
    """Positions, velocities and noisy efforts of two joints, shape (2, N) each."""
    noise = np.random.default_rng(1).standard_normal((2, len(t)))
    w = np.array([[1.3], [2.1]])
    return np.sin(w * t), w * np.cos(w * t), 5.0 * np.cos(w * t) + 0.1 * noise


def republished(source: float, publisher: float, seconds: float = 20.0):
    """Stamps of a publisher, and which state of a source it has then."""
    stamps = np.arange(0.0, seconds, publisher)
    return stamps, np.floor(stamps / source + 1e-9).astype(int)


@pytest.mark.parametrize(('source', 'publisher'), [(0.034, 1.0 / 30.0), (0.01, 0.004)])
def test_states_are_at_the_times_of_their_source(source: float, publisher: float) -> None:
    stamps, index = republished(source, publisher)
    times = source * np.arange(index[-1] + 1)
    signals = motion(times)
    found = source_times(segment_of(stamps, *(signal[:, index] for signal in signals)))
    assert found is not None
    assert found.repeats == len(stamps) - len(times)
    assert found.period == pytest.approx(source, rel=2e-4)
    for name, signal in zip(('position', 'velocity', 'effort'), signals, strict=True):
        for samples, values in zip(getattr(found.segment, name), signal, strict=True):
            np.testing.assert_array_equal(samples.value, values)
            # All of them late alike, not like a saw tooth of the source's period.
            late = samples.time - times
            assert np.ptp(late) < 0.1 * source
            assert 0.0 < late.mean() < source
    assert (found.segment.start, found.segment.end) == (samples.time[0], samples.time[-1])


def test_one_joint_that_moves_is_enough() -> None:
    """The other one tells nothing of times, so that nothing can be held against the first."""
    source, publisher = 0.034, 1.0 / 30.0
    stamps, index = republished(source, publisher)
    signals = [signal * [[1.0], [0.0]] for signal in motion(source * np.arange(index[-1] + 1))]
    found = source_times(segment_of(stamps, *(signal[:, index] for signal in signals)))
    assert found is not None
    assert found.period == pytest.approx(source, rel=2e-4)


def test_stamps_that_no_even_source_fits_stay() -> None:
    stamps, index = republished(0.034, 1.0 / 30.0)
    stamps = stamps + np.where(stamps > 10.0, 0.2, 0.0)  # the publisher paused
    signals = motion(0.034 * np.arange(index[-1] + 1))
    found = source_times(segment_of(stamps, *(signal[:, index] for signal in signals)))
    assert found is not None and np.isnan(found.period)
    first = np.unique(index, return_index=True)[1]
    np.testing.assert_array_equal(found.segment.position[0].time, stamps[first])


def test_what_is_no_repeat_stays() -> None:
    time = 0.01 * np.arange(500)
    q, qd, effort = motion(time)
    assert source_times(segment_of(time, q, qd, effort)) is None
    # At rest nothing differs, and nothing has to.
    still = slice(100, 200)
    for signal in (q, qd, effort):
        signal[:, still] = signal[:, [100]]
    qd[:, still] = 0.0
    assert source_times(segment_of(time, q, qd, effort)) is None
    # What creeps below the encoder's step is no repeat, though its velocity is told.
    q, qd, effort = motion(time)
    q[1:], qd[1:] = 0.0, 0.0
    q[0], qd[0] = np.floor(0.003 * time / 1e-3) * 1e-3, 0.003
    assert source_times(segment_of(time, q, qd, effort)) is None
    # Nor is it without the noise of efforts, and with a velocity that is rounded, too.
    speed = 0.003 * (1.5 + np.cos(time))
    q[0], qd[0] = np.floor(np.cumsum(speed) * 0.01 / 1e-3) * 1e-3, np.round(speed, 3)
    assert source_times(segment_of(time, q, qd, 0.0 * effort)) is None


def test_states_of_a_coarse_encoder_that_are_published_again_are_repeats() -> None:
    """However often: the encoder would have changed by then."""
    stamps, index = republished(0.04, 0.004)
    q, qd, effort = motion(0.04 * np.arange(index[-1] + 1))
    q, qd = np.round(q, 3), np.round(qd, 2)
    found = source_times(segment_of(stamps, *(each[:, index] for each in (q, qd, effort))))
    assert found is not None
    # Hardly a state stands still within the resolution, of both joints at once.
    assert found.repeats >= 0.99 * (len(stamps) - q.shape[1])


def polled(period: float, distance: float, late: float, seed: int = 3):
    """Stamps of a recorder that polls a source, and which state it finds."""
    random = np.random.default_rng(seed)
    count = round(10.0 / distance)
    stamps = np.cumsum(distance * (1.0 + late * random.uniform(-1.0, 1.0, count)))
    # Now and then it has something else to do.
    stamps += 4.0 * distance * np.cumsum(random.uniform(size=count) < 0.005)
    return stamps, np.floor(stamps / period).astype(int)


@pytest.mark.parametrize(('period', 'distance'), [(1e-3, 1.1e-3), (1e-3, 0.8e-3), (1e-3, 4e-3)])
def test_a_polled_source_keeps_its_own_time(period: float, distance: float) -> None:
    """States that are missing, repeated and late; a few repeated with another effort."""
    stamps, index = polled(period, distance, 0.15)
    q, qd, effort = motion(period * np.arange(index[-1] + 1))
    random = np.random.default_rng(4)
    q, qd = q + 1e-6 * random.normal(size=q.shape), qd + 2e-3 * random.normal(size=qd.shape)
    efforts = effort[:, index] + 0.01 * random.normal(size=(2, len(index)))
    found = source_times(segment_of(stamps, q[:, index], qd[:, index], efforts))
    assert found is not None and found.period == pytest.approx(period, rel=5e-5)
    states, first = np.unique(index, return_index=True)
    assert found.repeats == len(stamps) - len(states)
    place, rate = found.segment.position[0], found.segment.velocity[0]
    np.testing.assert_array_equal(place.value, q[0, states])
    off = place.time - period * states
    # They are late alike but for what their own noise tells where the machine turns.
    assert np.std(off) < 0.04 * period < 0.2 * np.std(stamps[first] - period * states)
    assert np.abs(np.diff(off)).max() < 0.2 * period
    assert (np.diff(place.time) > 0.0).all() and place.time is rate.time
    assert found.moved == pytest.approx(np.std(stamps[first] - period * states), rel=0.1)


def test_good_stamps_stay() -> None:
    """However noisy positions and velocities are, and where the source is late by itself."""
    random = np.random.default_rng(5)
    for noise in (0.0, 1e-6, 1e-3):
        time = 0.004 * np.arange(5000)
        q, qd, effort = motion(time)
        q, qd = q + noise * random.normal(size=q.shape), qd + noise * random.normal(size=q.shape)
        assert source_times(segment_of(time, q, qd, effort)) is None
    late = time + 5e-4 * random.uniform(size=len(time))
    q, qd, effort = motion(late)  # measured when it is stamped: no clock, and none is made up
    assert source_times(segment_of(late, q, qd, effort)) is None


@pytest.mark.parametrize('factor', [1.0, 1.3, 180.0 / np.pi])
def test_stamps_are_compared_with_a_clock_whatever_the_unit_of_velocities(factor: float) -> None:
    """Velocities with a wrong factor scale all elapsed times alike."""
    random = np.random.default_rng(6)
    accurate = np.cumsum(0.01 + 3e-4 * random.standard_normal(3000))
    q, qd, effort = motion(accurate)
    q, qd = q + 1e-6 * random.normal(size=q.shape), qd + 1e-5 * random.normal(size=q.shape)
    assert source_times(segment_of(accurate, q, factor * qd, effort)) is None
    # A source that was polled is found all the same, and its true period with it.
    stamps, index = polled(1e-3, 0.8e-3, 0.15)
    q, qd, effort = motion(1e-3 * np.arange(index[-1] + 1))
    signals = q[:, index], factor * qd[:, index], effort[:, index]
    found = source_times(segment_of(stamps, *signals))
    assert found is not None and found.period == pytest.approx(1e-3, rel=5e-5)


def test_joints_that_are_recorded_apart_stay() -> None:
    stamps, index = republished(0.034, 1.0 / 30.0)
    signals = (signal[:, index] for signal in motion(0.034 * np.arange(index[-1] + 1)))
    segment = segment_of(stamps, *signals)
    other = Samples(stamps + 0.001, segment.position[1].value)
    assert source_times(replace(segment, position=(segment.position[0], other))) is None
