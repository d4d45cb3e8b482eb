# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The shipped machine with its flexible boom: what shaping and damping make of vibrations."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from uncompiled import uncompiled

import kron_dynamics as kd
from kron_dynamics import control
from kron_dynamics.control.vibration.delayed_loop import delay_warning
from kron_dynamics.demo.closed_loop import WAYS, ClosedLoop, left_behind
from kron_dynamics.demo.controllers import AtOnce, read_settings
from kron_dynamics.equilibrium import quasi_static_equilibrium

ROOT = Path(__file__).parents[3]
START = 50.0
POSE = np.array([100.0, 0.3, 0.0])
RESOLUTION = np.array([1e-3, 5.99e-6, 5.99e-6])
V1, W1 = 3, 4
NAMES = {V1: 'boom/v1', W1: 'boom/w1'}
# Ramps from rest to 0.9 of the rated speed, and the cruise, s.
DURATIONS = {
    'slew': 0.0083 * 0.9 / 0.0014 + 0.06 / (0.0083 * 0.9),
    'luff': 0.0014 * 0.9 / 0.0002 + 0.012 / (0.0014 * 0.9),
}


@pytest.fixture(scope='module')
def boom(stacker, kernel_cache):
    """The machine, stiff and flexible, and its settings as they are shipped."""
    description = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
    return SimpleNamespace(
        rigid=stacker,
        flexible=kd.load(ROOT / 'urdf' / 'stacker_reclaimer.urdf', flexible=description),
        settings=read_settings(ROOT / 'config' / 'stacker_reclaimer.yaml', stacker),
    )


@pytest.fixture(scope='module')
def start(boom):
    """Make a controller as a node does, and start it on the machine that it takes it for."""

    def build(shaping='none', damping=False, stiffness=1.0, encoders=False, phase=0.0):
        position = POSE + phase * RESOLUTION
        settings = boom.settings._replace(
            kp=stiffness * boom.settings.kp,
            kd=np.sqrt(stiffness) * boom.settings.kd,
            resolution=RESOLUTION,
            shaping=shaping,
            damping=damping,
        )
        controller = control.assembled_controller(
            settings, boom.rigid, boom.flexible, position, AtOnce()
        )
        return ClosedLoop(
            boom.flexible,
            controller,
            position,
            period=settings.period,
            resolution=RESOLUTION if encoders else 0.0,
            start_time=START,
        )

    return build


@pytest.mark.parametrize(('shaping', 'damping'), [('zv', False), ('none', True), ('zv', True)])
@pytest.mark.filterwarnings('error')
def test_no_measured_state_warns_or_becomes_an_effort_that_is_not_finite(start, shaping, damping):
    for bad in (np.nan, np.inf, 1e308):
        controller, moved = start(shaping, damping).controller, np.array([0.0, bad, 0.0])
        command = controller.update(POSE + moved, moved, START, 1.0)
        if np.isfinite(bad) and command is not None:
            assert np.isfinite(command.effort).all()
        else:
            assert command is None
            assert controller.latch.reason


# Shaping


def test_modes_are_those_of_links_on_joints_that_stand_still(boom):
    """Against the linear model at rest, bent, whose joints' rows and columns are struck out."""
    modes = control.ClampedJointModes(boom.flexible)
    for pose in (POSE, POSE + [50.0, -1.0, 0.2]):
        rest = np.zeros(boom.flexible.n)
        linear = boom.flexible.linearize(quasi_static_equilibrium(boom.flexible, pose), rest, rest)
        held = linear.part(range(3, 5))
        frequencies, ratios = modes(pose)
        np.testing.assert_allclose(frequencies, held.frequencies(), rtol=1e-4)
        np.testing.assert_allclose(ratios, held.damping_ratios()[::2], rtol=2e-3)
    with pytest.raises(kd.ModelError, match='no flexible links'):
        control.ClampedJointModes(boom.rigid)


@pytest.mark.parametrize('name', WAYS)
def test_shaping_leaves_a_tenth_of_the_vibration_and_less(boom, start, name):
    """In the time of one period of the slower mode, with friction, limits and sampling."""
    unshaped, loop = left_behind(start(), name), start('zv')
    assert left_behind(loop, name) <= unshaped / 30.0
    # From the end of the last window.
    added = loop.controller.references.added_time
    slowest = control.ClampedJointModes(boom.flexible)(POSE)[0][0]
    assert 0.0 < added <= 2.0 * np.pi / slowest
    assert loop.time == pytest.approx(START + 0.5 + DURATIONS[name] + added + 4.0, abs=0.02)
    # The joints follow as under stiff links, and stop where they were told to.
    joint = boom.rigid.joint_names.index(name)
    errors = np.abs(loop.states[:, :3] - loop.references)
    assert errors[:, joint].max() < 1e-5
    assert loop.references[-1, joint] == pytest.approx(POSE[joint] + WAYS[name])
    assert np.isnan(loop.deflections).all()


def test_shaping_and_damping_go_together(start):
    """The damper does not fight the vibration that the shaped reference is about to end."""
    loop = start('zv', damping=True)
    assert left_behind(loop, 'luff') <= left_behind(start(), 'luff') / 10.0
    np.testing.assert_allclose(loop.deflections, loop.states[:, 3:], atol=2e-4)


def test_a_shaped_motion_is_replaced_on_the_way_and_leaves_no_vibration_either(start):
    left = {}
    for shaping in ('none', 'zv'):
        loop = start(shaping)
        loop.advance(0.5)
        loop.move('slew', WAYS['slew'])
        loop.advance(5.0)  # to the end of the first ramp
        ramp = np.array([[0.0, 0.0, 0.0]])
        followed = loop.controller.set_reference(
            [8.0], [POSE + [0.0, 0.04, 0.0]], ramp, None, start_time=loop.time
        )
        end = loop.time + followed.duration
        loop.advance(end - loop.time + 4.0)
        left[shaping] = loop.amplitude('boom/v1', end, 3.0)
        # Rated acceleration times the period, and half as much again.
        rates = np.diff(loop.references[:, 1]) / 0.02
        assert np.abs(np.diff(rates)).max() < 4.3e-5
    assert left['zv'] <= left['none'] / 10.0


# Damping


@pytest.mark.parametrize('phase', [0.0, 0.4])
@pytest.mark.parametrize(
    ('mode', 'stiffness', 'share'),
    [(W1, 1.0, 0.4), (W1, 25.0, 0.8), (V1, 1.0, 1.1), (V1, 25.0, 1.1)],
    ids=['vertical, shipped gains', 'vertical, stiff', 'lateral, shipped gains', 'lateral, stiff'],
)
def test_the_boom_settles_sooner_after_a_gust(start, mode, stiffness, share, phase):
    """Sooner than with computed torque and the same gains, and the estimate tells the truth.

    A gust of a centimetre. The friction of the luff joint holds out against the last 2.5 mm of
    it, and damping overcomes that; sideways there is nothing to gain, and nothing is lost.
    Positions are as encoders tell them, wherever between two of their steps the joints stand.
    """
    times = {}
    for damping in (False, True):
        loop = start(damping=damping, stiffness=stiffness, encoders=True, phase=phase)
        loop.advance(1.0)
        loop.hit(NAMES[mode], 5e3)
        loop.advance(7.0)
        times[damping] = loop.settling_time(NAMES[mode], START + 1.0, 0.1)
    assert 0.0 < times[True] <= share * times[False]
    estimates, true = loop.deflections[:, mode - 3], loop.states[:, mode]
    # A step of the encoder is worth a millimetre at once.
    assert np.std((estimates - true)[-250:]) < 0.1 * np.ptp(true)


def test_lost_states_do_not_swing_a_boom_on_its_way(start, monkeypatch):
    """The drives hold their last efforts, and the next state tells how far the boom has come."""
    swings = []
    for lost in ((), (240, 241, 242)):
        loop = start(damping=True)
        update, commands = loop.controller.update, []

        def with_losses(*state, update=update, commands=commands, lost=lost):
            commands.append(commands[-1] if len(commands) in lost else update(*state))
            return commands[-1]

        monkeypatch.setattr(loop.controller, 'update', with_losses)
        loop.advance(0.5)
        loop.move('slew', WAYS['slew'])
        loop.advance(6.0)
        swings.append(loop.states[:, V1 : W1 + 1])
    changed = np.abs(swings[1] - swings[0])[:, 0].max()
    assert 0.0 < changed < 0.05 * np.ptp(swings[0][:, 0])


def test_damping_begins_without_a_bump(start):
    loop = start(damping=True)
    loop.advance(1.0)
    np.testing.assert_allclose(loop.states[:, 1], POSE[1], atol=1e-8)
    np.testing.assert_allclose(loop.states[:, 2], POSE[2], atol=1e-8)
    np.testing.assert_allclose(loop.states[:, W1], loop.states[0, W1], atol=1e-6)
    # No time has passed before the first command: even a difference of rounding is held back.
    assert loop.controller.guard.rate_saturations.max() <= 1


def test_joints_do_not_hunt_for_the_last_step_of_their_encoders(start):
    loop = start(damping=True, encoders=True)
    loop.advance(12.0)
    for joint in (1, 2):
        assert np.ptp(loop.states[-300:, joint]) < RESOLUTION[joint]


# The loop itself


def test_what_the_loop_cannot_do_is_said(boom, start, tmp_path):
    loop = start()
    with pytest.raises(kd.ParameterError, match=r"'luff' cannot cruise in 0\.001, .* 0\.0079"):
        loop.move('luff', 0.001)
    with pytest.raises(kd.ParameterError, match="'boom/v1' has no rated acceleration"):
        loop.move('boom/v1', 1.0)
    with pytest.raises(kd.ParameterError, match="no coordinate 'tip', expected one of travel, "):
        loop.hit('tip', 1.0)
    with pytest.raises(kd.ParameterError, match='no state within 1 s after 50 s'):
        loop.amplitude('boom/v1', START, 1.0)
    with pytest.raises(kd.ParameterError, match='no state after 50 s'):
        loop.settling_time('boom/v1', START, 0.1)
    loop.plant.qd = np.full(5, np.nan)
    with pytest.raises(kd.TrajectoryError, match='the controller stopped at 50 s: '):
        loop.advance(1.0)
    settings = tmp_path / 'settings.yaml'
    settings.write_text('/**/dynamics_node: {ros__parameters: {gains: {travel: {kp: 1.0}}}}')
    with pytest.raises(kd.ParameterError, match="has no 'slew' for dynamics_node"):
        read_settings(settings, boom.rigid)


def test_a_vibration_that_goes_on_has_no_settling_time(start):
    """With joints held, 2 % of damping take three periods for a third of it."""
    loop = start()
    loop.plant.brakes_set = True
    loop.hit('boom/v1', 5e3)
    loop.advance(2.5)
    assert loop.settling_time('boom/v1', START, 0.1) == np.inf
    assert 0.0 < loop.settling_time('boom/v1', START, 0.95) < 1.0


def test_a_boom_that_gives_way_under_its_weight_has_no_modes():
    """Gravity from the tip to the root: beyond some weight the boom buckles."""

    def under(g):
        return uncompiled(
            (ROOT / 'urdf' / 'stacker_reclaimer.urdf').read_text(encoding='utf-8'),
            flexible=ROOT / 'config' / 'stacker_reclaimer_flexible.yaml',
            gravity=(-g, 0.0, 0.0),
        )

    light, heavier = (control.ClampedJointModes(under(g))(np.zeros(3))[0] for g in (0.1, 20.0))
    assert (heavier < light).all()
    with pytest.raises(kd.ModelError, match='give way at q = .0.0, 0.0, 0.0.'):
        control.ClampedJointModes(under(1e4))


def test_damping_is_refused_where_a_period_of_delay_makes_it_unstable(boom):
    """Ten states per second are not enough for the boom, sixteen are."""

    def law(period):
        settings = boom.settings._replace(damping=True, resolution=RESOLUTION, period=period)
        settings = settings._replace(fault_action=control.FaultAction.ZERO)
        return control.assembled_controller(
            settings, boom.rigid, boom.flexible, POSE, AtOnce()
        ).law

    with pytest.raises(kd.ParameterError, match=r'vibration_damping is unstable .* 0\.1 s apart'):
        law(0.1)
    assert delay_warning(law(0.06).gains) is not None
    assert delay_warning(law(0.02).gains) is None


def test_a_joint_that_turns_without_end_is_damped_alike_after_a_whole_turn(
    boom, stacker_files, monkeypatch
):
    monkeypatch.setenv('CC', 'no-compiler')  # which would take longer than six commands
    text = stacker_files.urdf.read_text('utf-8')
    text = text.replace('name="slew" type="revolute"', 'name="slew" type="continuous"')
    description = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
    turning = kd.loads(text), kd.loads(text, flexible=description)
    assert turning[0].model.joint_types[1] == 'continuous'

    def efforts(rigid, flexible, shift):
        settings = boom.settings._replace(damping=True, resolution=RESOLUTION)
        controller = control.assembled_controller(settings, rigid, flexible, POSE, AtOnce())
        controller.start(POSE, np.zeros(3))
        for k in range(3):
            time = START + k * settings.period
            command = controller.update(POSE + shift + 1e-4, np.zeros(3), time, time)
        return command.effort

    whole_turn = np.array([0.0, 2.0 * np.pi, 0.0])
    np.testing.assert_allclose(
        efforts(*turning, whole_turn), efforts(*turning, 0.0 * whole_turn), rtol=1e-6
    )
