# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Vibrations found in recordings of machines whose stiffness and damping are known."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import yaml
from long_runs import some_of

import kron_dynamics as kd
from benchmarks.robots import description
from benchmarks.vibrating_machines import STACKER, moved, recorded
from kron_dynamics.bag.samples import DroppedSamples, Samples
from kron_dynamics.bag.series.joint_log import JointLog, JointSegment
from kron_dynamics.bag.series.runs import Run
from kron_dynamics.bag.vibration.flexible_update import write_update
from kron_dynamics.bag.vibration.modal_content import modal_content
from kron_dynamics.bag.vibration.predicted_modes import groups_of, predicted_modes
from kron_dynamics.exceptions import BagError

SOURCES = ('measured',) * 3
TIP = 'bucket_wheel'
# What the model has wrong: 15 % of the stiffness, half of the damping.
STIFFNESS, DAMPING = 0.85, 0.01


@pytest.fixture(scope='module')
def machine():
    return STACKER.robot()


@pytest.fixture(scope='module')
def model():
    return STACKER.robot(STIFFNESS, DAMPING)


@pytest.fixture(scope='module')
def truth(machine):
    return moved(STACKER, machine, 100.0)


def found(model, truth, seed, **options):
    return modal_content(model, recorded(STACKER, truth, seed, **options), TIP, SOURCES)


@pytest.fixture(scope='module')
def found_with_all(model, truth):
    """What is found with all sensors and the noise of a seed."""
    return cache(lambda seed: found(model, truth, seed))


def true_modes(machine, content):
    modes = predicted_modes(machine, np.array(content.pose), TIP)
    return modes.omega / (2.0 * np.pi), modes.ratios


@pytest.mark.parametrize('seed', some_of(tuple(range(20)), (1,)))
def test_frequency_and_damping_of_the_boom_are_found(machine, found_with_all, seed):
    content = found_with_all(seed)
    frequencies, ratios = true_modes(machine, content)
    for mode, frequency, ratio in zip(content.modes, frequencies, ratios, strict=True):
        assert mode.seen
        assert mode.predicted_frequency < 0.94 * frequency
        assert abs(mode.frequency / frequency - 1.0) < 0.01
        # 1.5 times a 95 % interval: what one in 300 leaves.
        assert abs(mode.frequency - frequency) < 1.5 * mode.frequency_interval
        low, high = np.log(mode.damping_interval) - np.log(mode.damping)
        assert 1.5 * low < np.log(ratio / mode.damping) < 1.5 * high
        assert mode.channels == ('tip acceleration',)


def thinned(run, factor):
    """The run with every so many samples of its accelerometer."""
    tip = run.acceleration.epochs[0][0]
    tip = Samples(tip.time[::factor], tip.value[::factor])
    return replace(run, acceleration=replace(run.acceleration, epochs=((tip,),)))


@pytest.mark.parametrize('seed', some_of((1, 2, 3, 4), (1,)))
def test_an_accelerometer_with_fewer_samples_tells_the_same_frequencies(
    machine, model, truth, seed
):
    """Five samples per second, a twentieth of what the joints have, for modes at 1 Hz."""
    content = modal_content(model, thinned(recorded(STACKER, truth, seed), 20), TIP, SOURCES)
    frequencies, _ = true_modes(machine, content)
    for mode, frequency in zip(content.modes, frequencies, strict=True):
        assert mode.seen and mode.channels == ('tip acceleration',)
        assert abs(mode.frequency - frequency) < 1.5 * mode.frequency_interval


def test_an_accelerometer_too_slow_for_the_modes_is_not_used(model, truth):
    content = modal_content(model, thinned(recorded(STACKER, truth, 1), 40), TIP, SOURCES)
    without = found(model, truth, 1, tip=False)
    assert content.modes[1] == without.modes[1] and content.modes[1].seen
    assert not content.modes[0].seen and content.windows == without.windows


def test_efforts_alone_tell_of_what_joints_that_slide_pass_on(machine, model, truth):
    content = found(model, truth, 1, tip=False)
    frequencies, _ = true_modes(machine, content)
    up = content.modes[1]
    assert up.seen and up.channels == ('luff',)
    assert abs(up.frequency / frequencies[1] - 1.0) < 0.02


@cache
def stiff(seed):
    """A minute of the machine without links that bend."""
    return moved(STACKER, STACKER.robot(bends=False), 60.0, seed)


@pytest.mark.parametrize('tip', [True, False])
@pytest.mark.parametrize('seed', some_of(tuple(range(5)), (0,)))
def test_a_stiff_machine_shows_no_vibration(model, seed, tip):
    content = found(model, stiff(seed), seed, tip=tip)
    assert [mode.verdict.split(':')[0] for mode in content.modes] == ['not seen'] * 2
    assert np.isnan([mode.frequency for mode in content.modes]).all()


def swung(scale: float, seed: int, duration: float, period: float = 0.01) -> Run:
    """A stiff machine in wide motion of several sines a joint, with efforts of a scale."""
    robot, rng = STACKER.robot(bends=False), np.random.default_rng(seed)
    time = period * np.arange(1.0, duration / period + 1.0)
    rate, phase = rng.uniform(0.5, 2.0, (3, 3)), rng.uniform(0.0, 6.0, (3, 3))
    angle = time[:, None, None] * rate + phase
    q = np.array(STACKER.pose) + 0.4 * np.sin(angle).sum(axis=1)
    qd = 0.4 * (rate * np.cos(angle)).sum(axis=1)
    qdd = -0.4 * (rate**2 * np.sin(angle)).sum(axis=1)
    effort = scale * (robot.inverse_dynamics(q, qd, qdd) + robot.joint_friction(qd))
    noise = rng.standard_normal((3, *q.shape))
    signals = q + 1e-5 * noise[0], qd + 1e-3 * noise[1], effort + 0.3 * noise[2]
    columns = [tuple(Samples(time, column) for column in each.T) for each in signals]
    segment = JointSegment(0, float(time[0]), float(time[-1]), *columns)
    log = JointLog((segment,), DroppedSamples(), len(time), 0, *np.zeros((3, 1), np.int64), True)
    return Run('/joint_states', log, None, None, ())


@pytest.mark.parametrize('seed', some_of(tuple(range(4)), (1,)))
def test_wide_motion_of_a_stiff_machine_leaves_nothing_but_noise(model, seed):
    content = modal_content(model, swung(1.0, seed, 200.0), TIP, SOURCES)
    assert content.windows > 10
    for mode in content.modes:
        assert not mode.seen
        # Below what as many amplitudes explain of noise.
        assert mode.evidence < 0.0


@pytest.mark.parametrize('sideways', [1.0, 0.25])
def test_modes_that_are_too_fast_for_the_samples_are_named(sideways):
    """Whichever of the two it is: sideways the boom is stiffer, unless it is made softer."""
    links = STACKER.description()
    links['flexible_links']['boom']['bending_stiffness']['v'] *= sideways
    model = kd.loads(STACKER.urdf, flexible=links)
    frequencies = predicted_modes(model, np.array(STACKER.pose), TIP).omega / (2.0 * np.pi)
    verdicts = ['not seen: no stretch', 'not seen: too near to half the sampling rate']
    for rate, slow, fast in (
        (2.2 * max(frequencies), *verdicts),
        (1.5 * min(frequencies), *['not seen: above half the sampling rate'] * 2),
    ):
        content = modal_content(model, swung(1.0, 1, 3.0, 1.0 / rate), TIP, SOURCES)
        assert tuple(mode.name for mode in content.modes) == model.joint_names[3:]
        for mode, frequency in zip(content.modes, frequencies, strict=True):
            assert not mode.seen
            assert mode.verdict.startswith(fast if frequency == max(frequencies) else slow)
            np.testing.assert_allclose(mode.predicted_frequency, frequency, rtol=0.1)


@pytest.mark.parametrize('seed', some_of((1, 5), (1,)))
def test_what_a_wrong_mass_leaves_at_one_frequency_is_no_vibration(model, seed):
    # Long: what looks like a vibration by mistake does so the more, the more there is of it.
    content = modal_content(model, swung(1.1, seed, 300.0), TIP, SOURCES)
    assert not any(mode.seen for mode in content.modes)
    assert max(mode.evidence for mode in content.modes) > 6.0


def test_what_vibrates_faster_than_half_the_sampling_rate_is_not_looked_for(truth, model):
    slow = recorded(STACKER, truth, 1)
    every = {
        name: tuple(
            type(item)(item.time[::100], item.value[::100]) for item in getattr(part, name)
        )
        for part in slow.log.segments
        for name in ('position', 'velocity', 'effort')
    }
    part = slow.log.segments[0]
    log = replace(slow.log, segments=(part.__class__(0, part.start, part.end, **every),))
    run = slow.__class__('/joint_states', log, None, None, ())
    content = modal_content(model, run, TIP, SOURCES)
    verdicts = [mode.verdict for mode in content.modes]
    _, ratios = true_modes(model, content)
    assert ratios[0] != ratios[1]
    np.testing.assert_allclose([mode.predicted_damping for mode in content.modes], ratios)
    assert verdicts[0] == 'not seen: above half the sampling rate of 1 Hz'
    assert verdicts[1] == 'not seen: above half the sampling rate of 1 Hz'


@pytest.mark.interpreted
def test_the_updated_description_has_the_identified_modes(model, truth, found_with_all, tmp_path):
    source = tmp_path / 'wrong.yaml'
    source.write_text(yaml.safe_dump(STACKER.description(STIFFNESS, DAMPING)))
    before = source.read_bytes()

    def bending(flexible):
        return kd.loads(description('stacker').text, flexible=flexible)

    content, path = found_with_all(1), tmp_path / 'new.yaml'
    changes = write_update(path, source, content, bending)
    assert source.read_bytes() == before
    assert any('bending_stiffness v times 1.17' in line for line in changes)
    updated = bending(path)
    modes = predicted_modes(updated, np.array(content.pose), TIP)
    old = predicted_modes(model, np.array(content.pose), TIP)
    for k, mode in enumerate(content.modes):
        scale = mode.frequency / mode.predicted_frequency
        assert modes.omega[k] / old.omega[k] == pytest.approx(scale, rel=1e-5)
        assert modes.ratios[k] == pytest.approx(mode.damping, rel=1e-3)
    again = found(updated, truth, 1)
    for mode in again.modes:
        assert abs(mode.frequency - mode.predicted_frequency) < mode.frequency_interval
    with pytest.raises(BagError, match='is the description itself'):
        write_update(source, source, content, bending)


def test_modes_far_apart_are_looked_for_apart():
    assert groups_of(np.array([1.0, 10.0, 1.5, 30.0, 18.0])) == [[0, 2], [1, 4], [3]]


def test_windows_are_told_of_the_slowest_modes():
    links = STACKER.description()
    links['flexible_links']['boom']['bending_stiffness']['v'] *= 20.0
    model = kd.loads(STACKER.urdf, flexible=links)
    content = modal_content(model, swung(1.0, 1, 30.0), TIP, SOURCES)
    slow, fast = sorted(mode.predicted_frequency for mode in content.modes)
    assert fast > 3.0 * slow  # they are looked for apart, with other windows
    assert content.window == pytest.approx(8.0 / slow, rel=0.1)
    assert 1 <= content.windows <= 30.0 / content.window
