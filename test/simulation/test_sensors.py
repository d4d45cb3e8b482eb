# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Sensors tell the truth up to the quanta and the noise they were given."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.simulation import JointSensors

TRUE = SimpleNamespace(
    q=np.array([0.1234, -0.5678, 2.0]),
    qd=np.array([0.3, 0.0, -0.1]),
    effort=np.array([10.0, -20.0, 0.5]),
)
NONE = np.zeros(3)
ERRORS = ('position_resolution', 'position_noise', 'velocity_noise', 'effort_noise')
COUNT = 4000


def sensors(seed=1, **errors):
    return JointSensors(**{**dict.fromkeys(ERRORS, NONE), **errors}, seed=seed)


def samples(measuring, count=COUNT):
    """Arrays (count, 3) of position, velocity and effort."""
    taken = [measuring.measure(TRUE) for _ in range(count)]
    return [
        np.array([getattr(sample, field) for sample in taken])
        for field in ('position', 'velocity', 'effort')
    ]


def test_without_errors_the_truth_is_told_exactly():
    measured = sensors().measure(TRUE)
    np.testing.assert_array_equal(measured.position, TRUE.q)
    np.testing.assert_array_equal(measured.velocity, TRUE.qd)
    np.testing.assert_array_equal(measured.effort, TRUE.effort)


def test_encoders_count_quanta():
    resolution = np.array([0.01, 0.0, 0.3])
    position, velocity, _ = samples(sensors(position_resolution=resolution), 1)
    np.testing.assert_allclose(position[0], [0.12, -0.5678, 2.1], rtol=1e-12)
    np.testing.assert_array_equal(velocity[0], TRUE.qd)


def test_noise_has_the_deviation_asked_for_on_its_quantity_alone():
    deviations = np.array([0.01, 0.0, 0.5])
    for noisy, name in enumerate(ERRORS[1:]):
        series = samples(sensors(**{name: deviations}))
        truths = (TRUE.q, TRUE.qd, TRUE.effort)
        for quantity, (values, truth) in enumerate(zip(series, truths, strict=True)):
            error = values - truth
            if quantity != noisy:
                assert not error.any()
                continue
            # Five standard errors of the deviation and of the mean.
            off = np.abs(error.std(axis=0) - deviations)
            assert (off <= 5.0 * deviations / np.sqrt(2.0 * COUNT)).all()
            assert (np.abs(error.mean(axis=0)) <= 5.0 * deviations / np.sqrt(COUNT)).all()
            correlation = np.corrcoef(error[:, 0], error[:, 2])[0, 1]
            successive = np.corrcoef(error[1:, 0], error[:-1, 0])[0, 1]
            assert max(abs(correlation), abs(successive)) < 5.0 / np.sqrt(COUNT)


def test_noise_comes_before_the_quanta():
    position, _, _ = samples(
        sensors(position_resolution=np.full(3, 0.5), position_noise=np.full(3, 1.0))
    )
    counts = position / 0.5
    np.testing.assert_array_equal(counts, np.round(counts))
    assert len(np.unique(position[:, 0])) > 5


def test_a_seed_is_a_run():
    noise = {name: np.full(3, 0.1) for name in ERRORS[1:]}
    first, again, other = (samples(sensors(seed, **noise), 50) for seed in (7, 7, 8))
    for a, b, c in zip(first, again, other, strict=True):
        np.testing.assert_array_equal(a, b)
        assert not (a == c).any()


def test_noise_of_one_quantity_does_not_change_that_of_another():
    alone = samples(sensors(velocity_noise=np.full(3, 0.1)), 50)
    together = samples(sensors(velocity_noise=np.full(3, 0.1), position_noise=np.full(3, 0.1)), 50)
    np.testing.assert_array_equal(alone[1], together[1])


@pytest.mark.parametrize('name', ERRORS)
@pytest.mark.parametrize('value', [-0.1, np.nan, np.inf])
def test_errors_that_cannot_be_are_refused_by_name(name, value):
    with pytest.raises(kd.ParameterError, match=name):
        sensors(**{name: np.array([0.0, value, 0.0])})


@pytest.mark.parametrize('name', ERRORS)
@pytest.mark.parametrize(
    ('value', 'error', 'words'),
    [
        ([0.1], kd.ShapeError, 'has shape'),
        (0.1, kd.ShapeError, 'has shape'),
        ([[0.0, 0.0, 0.0]], kd.ShapeError, 'has shape'),
        ('abc', kd.ArgumentTypeError, "'abc'"),
        (None, kd.ArgumentTypeError, 'None'),
    ],
)
def test_errors_are_one_number_for_each_joint(name, value, error, words):
    with pytest.raises(error, match=words):
        sensors(**{name: value})
    listed, array = (sensors(**{name: kind([0.1, 0.0, 0.2])}) for kind in (list, np.array))
    np.testing.assert_array_equal(listed.measure(TRUE).position, array.measure(TRUE).position)


def test_sensors_of_another_machine_are_refused():
    alone = JointSensors(**dict.fromkeys(ERRORS, [0.1]), seed=1)
    with pytest.raises(kd.ShapeError, match='the plant has 3 joints, expected 1'):
        alone.measure(TRUE)


@pytest.mark.parametrize(
    ('seed', 'error'), [(-1, kd.ParameterError), (None, kd.ArgumentTypeError)]
)
def test_seeds_are_whole_numbers(seed, error):
    with pytest.raises(error, match='^seed is '):
        sensors(seed)
