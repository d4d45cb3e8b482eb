# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The shipped machine with its flexible boom: what shaping and damping make of vibrations."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

import kron_dynamics as kd
from kron_dynamics import control
from kron_dynamics.control.tracking import TrackingController
from kron_dynamics.deflection import deflected
from kron_dynamics.simulation.plant import Plant

ROOT = Path(__file__).parents[2]
PERIOD, START = 0.02, 50.0
POSE = np.array([100.0, 0.3, 0.0])
V1, W1 = 3, 4
RESOLUTION = np.array([1e-3, 6e-6, 6e-6])
# Joint, its rated acceleration, 0.9 of its rated speed, way, and the mode that it excites.
MOVES = {
    'slew': (1, 0.0014, 0.0083 * 0.9, 0.06, V1),
    'luff': (2, 0.0002, 0.0014 * 0.9, 0.012, W1),
}


@pytest.fixture(scope='module')
def boom(stacker, kernel_cache):
    """The machine, stiff and flexible, and its settings as they are shipped."""
    description = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
    settings = yaml.safe_load((ROOT / 'config' / 'stacker_reclaimer.yaml').read_text('utf-8'))
    node = settings['/**/dynamics_node']['ros__parameters']
    names = stacker.joint_names
    return SimpleNamespace(
        rigid=stacker,
        flexible=kd.load(ROOT / 'urdf' / 'stacker_reclaimer.urdf', flexible=description),
        kp=np.array([node['gains'][name]['kp'] for name in names]),
        kd=np.array([node['gains'][name]['kd'] for name in names]),
        rate=np.array([node['effort_rate_limit'][name] for name in names]),
        limit=node['effort_limit_scale'] * stacker.model.effort_limit,
    )


@pytest.fixture(scope='module')
def make(boom):
    """Make controllers of that machine as a node does."""
    worker = ThreadPoolExecutor(max_workers=1)

    def build(shaping='none', damping=False, kp=boom.kp, kd=boom.kd):
        law = control.ComputedTorque(boom.rigid, kp, kd)
        if damping:
            schedule = control.damping_schedule(boom.flexible, kp, boom.limit, RESOLUTION, PERIOD)
            links = control.LinkMotion(boom.flexible, vibrating=shaping != 'none')
            damper = control.VibrationDamper(schedule.at(POSE), boom.limit)
            law = control.DampedTorque(boom.rigid, links, damper, schedule.at, worker)
        elif shaping != 'none':
            links = control.LinkMotion(boom.flexible, vibrating=True)
            law = control.FlexibleTorque(law, boom.rigid, links)
        modes = None
        if shaping != 'none':
            modes = control.ReferenceShaping(shaping, control.HeldModes(boom.flexible))
        return TrackingController(
            boom.rigid,
            law,
            control.GravityHold(boom.rigid, kd),
            control.CommandGuard(boom.limit, boom.rate, boom.rigid.joint_names),
            fault_action=control.FaultAction.HOLD_GRAVITY,
            start_tolerance=np.array([0.05, 0.002, 0.001]),
            effort_limit=boom.limit,
            longest_gap=1.3,
            shaping=modes,
        )

    yield build
    worker.shutdown()


class Run:
    """A controller and the simulated machine, at 50 Hz; effort sensors tell the weight."""

    def __init__(self, boom, controller, resolution=0.0):
        self.flexible = boom.flexible
        self.resolution = resolution
        self.plant = Plant(boom.flexible, POSE)
        self.controller = controller
        self.time = START
        # The drives carry the boom as it hangs.
        controller.start(POSE, boom.flexible.gravity_vector(self.plant.q)[:3])
        self.times, self.states, self.references, self.deflections = [], [], [], []

    def go_on(self, duration):
        for _ in range(round(duration / PERIOD)):
            q, qd = self.plant.q, self.plant.qd
            measured = q[:3].copy()
            if np.any(self.resolution):
                measured = self.resolution * np.rint(measured / self.resolution)
            command = self.controller.update(measured, qd[:3], self.time, self.time)
            assert command is not None, self.controller.latch.reason
            self.times.append(self.time)
            self.states.append(q)
            self.references.append(command.q_ref)
            self.deflections.append(command.deflection)
            self.plant.advance(command.effort, PERIOD, 0.01)
            self.time = round(self.time + PERIOD, 6)

    def move(self, joint, acceleration, speed, way):
        """Follow ramps of constant acceleration; return when they end and how long they are."""
        ramp, cruise = speed / acceleration, way / speed
        times = [0.0, ramp, cruise, cruise + ramp]
        rows, rates = np.tile(POSE, (4, 1)), np.zeros((4, 3))
        rows[:, joint] += [0.0, speed * ramp / 2.0, way - speed * ramp / 2.0, way]
        rates[1:3, joint] = speed
        start = self.time
        followed = self.controller.set_reference(times, rows, rates, None, start_time=start)
        return start + followed.duration, times[-1]

    def gust(self, impulse):
        """Hit the machine with impulses, N s or N m s, on all coordinates."""
        M = self.flexible.mass_matrix(self.plant.q)
        self.plant.qd = self.plant.qd + np.linalg.solve(M, impulse)

    def column(self, k):
        return np.array(self.states)[:, k]

    def amplitude(self, k, begin, duration):
        times = np.array(self.times)
        return np.ptp(self.column(k)[(times > begin) & (times < begin + duration)]) / 2.0


def left_behind(boom, controller, joint, acceleration, speed, way, mode):
    """Vibration in the first three periods after a move, and the time it took."""
    run = Run(boom, controller)
    run.go_on(0.5)
    end, duration = run.move(joint, acceleration, speed, way)
    run.go_on(end - run.time + 4.0)
    return run.amplitude(mode, end, 3.6), end - START - 0.5 - duration, run


# Shaping


def test_modes_are_those_of_links_on_joints_that_stand_still(boom):
    """Against the linear model at rest, bent, whose joints' rows and columns are struck out."""
    modes = control.HeldModes(boom.flexible)
    for pose in (POSE, POSE + [50.0, -1.0, 0.2]):
        rest = np.zeros(boom.flexible.n)
        linear = boom.flexible.linearize(deflected(boom.flexible, pose), rest, rest)
        held = linear.part(range(3, 5))
        frequencies, ratios = modes(pose)
        np.testing.assert_allclose(frequencies, held.frequencies(), rtol=1e-4)
        np.testing.assert_allclose(ratios, held.damping_ratios()[::2], rtol=2e-3)
    with pytest.raises(kd.ModelError, match='no flexible links'):
        control.HeldModes(boom.rigid)


@pytest.mark.parametrize('name', MOVES)
def test_shaping_leaves_a_tenth_of_the_vibration_and_less(boom, make, name):
    """In the time of one period of the slower mode, with friction, limits and sampling."""
    unshaped, _, _ = left_behind(boom, make(), *MOVES[name])
    shaped, added, run = left_behind(boom, make('zv'), *MOVES[name])
    assert shaped <= unshaped / 30.0
    slowest = control.HeldModes(boom.flexible)(POSE)[0][0]
    assert added <= 2.0 * np.pi / slowest
    assert added == pytest.approx(run.controller.references.added_time)
    # The joints follow as under stiff links, and stop where they were told to.
    errors = np.abs(np.array(run.states)[:, :3] - run.references)
    assert errors[:, MOVES[name][0]].max() < 1e-5


def test_shaping_and_damping_go_together(boom, make):
    """The damper does not fight the vibration that the shaped reference is about to end."""
    unshaped, _, _ = left_behind(boom, make(), *MOVES['luff'])
    shaped, _, run = left_behind(boom, make('zv', damping=True), *MOVES['luff'])
    assert shaped <= unshaped / 10.0
    estimates = np.array([e for e, _ in run.deflections])
    np.testing.assert_allclose(estimates, np.array(run.states)[:, 3:], atol=2e-4)


def test_a_shaped_motion_is_replaced_on_the_way_and_leaves_no_vibration_either(boom, make):
    left = {}
    for shaping in ('none', 'zv'):
        run = Run(boom, make(shaping))
        run.go_on(0.5)
        run.move(*MOVES['slew'][:4])
        run.go_on(5.0)  # to the end of the first ramp
        ramp = np.array([[0.0, 0.0, 0.0]])
        followed = run.controller.set_reference(
            [8.0], [POSE + [0.0, 0.04, 0.0]], ramp, None, start_time=run.time
        )
        end = run.time + followed.duration
        run.go_on(end - run.time + 4.0)
        left[shaping] = run.amplitude(V1, end, 3.0)
        # Rated acceleration times the period, and a third more.
        rates = np.diff(np.array(run.references)[:, 1]) / PERIOD
        assert np.abs(np.diff(rates)).max() < 4e-5
    assert left['zv'] <= left['none'] / 10.0


# Damping


def settled(run, mode, share):
    """Time from the gust until the deflection stays within a share of its largest."""
    e = np.abs(run.column(mode) - run.column(mode)[0])
    return run.times[np.flatnonzero(e > share * e.max())[-1]] - START - 1.0


@pytest.mark.parametrize(
    ('mode', 'stiffness', 'share'),
    [(W1, 1.0, 0.4), (W1, 25.0, 0.7), (V1, 25.0, 0.8)],
    ids=['vertical, shipped gains', 'vertical, stiff', 'lateral, stiff'],
)
def test_the_boom_settles_sooner_after_a_gust(boom, make, mode, stiffness, share):
    """Sooner than with computed torque and the same gains, and the estimate tells the truth.

    A gust of a centimetre. The friction of the luff joint holds out against the last 2.5 mm of
    it. Positions are as encoders tell them.
    """
    gains = {'kp': stiffness * boom.kp, 'kd': np.sqrt(stiffness) * boom.kd}
    times = {}
    for damping in (False, True):
        run = Run(boom, make(damping=damping, **gains), RESOLUTION)
        run.go_on(1.0)
        impulse = np.zeros(5)
        impulse[mode] = 5e3
        run.gust(impulse)
        run.go_on(7.0)
        times[damping] = settled(run, mode, 0.1)
    assert times[True] <= share * times[False]
    estimates = np.array([e for e, _ in run.deflections])[:, mode - 3]
    true = run.column(mode)
    # A step of the encoder is worth a millimetre at once.
    assert np.std((estimates - true)[-250:]) < 0.1 * np.ptp(true)


def test_damping_begins_without_a_bump(boom, make):
    run = Run(boom, make(damping=True))
    run.go_on(1.0)
    np.testing.assert_allclose(run.column(1), POSE[1], atol=1e-8)
    np.testing.assert_allclose(run.column(2), POSE[2], atol=1e-8)
    np.testing.assert_allclose(run.column(W1), run.column(W1)[0], atol=1e-6)
    assert not run.controller.guard.rate_saturations.any()


def test_joints_do_not_hunt_for_the_last_step_of_their_encoders(boom, make):
    run = Run(boom, make(damping=True), RESOLUTION)
    run.go_on(12.0)
    for joint in (1, 2):
        assert np.ptp(run.column(joint)[-300:]) < RESOLUTION[joint]
