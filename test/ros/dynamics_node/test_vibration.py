# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""References shaped for the modes of a beam that bends, and damping of its vibrations."""

from __future__ import annotations

import numpy as np
import pytest
from kron_dynamics_msgs.srv import SetPayload
from std_srvs.srv import Trigger

from kron_dynamics import control
from kron_dynamics.equilibrium import quasi_static_equilibrium

pytestmark = pytest.mark.ros

HELD, GOAL = np.array([0.1, 0.2, 0.05]), np.array([0.4, 0.0, 0.15])
DURATION = 2.0
REST = np.zeros((2, 3))
JOINTS = ('turn', 'lift', 'slide')


def told(bench):
    return {item.key: item.value for item in bench.client.next_status().values}


def test_a_shaped_reference_is_followed_and_the_added_time_is_told(
    flexible_bench, flexible_robot, assert_close
):
    """The drives carry the beam as it bends, and what they follow comes to rest at the goal."""
    bench = flexible_bench
    bench.prepare(q=HELD, reference_shaping='zv')
    hanging = flexible_robot.gravity_vector(quasi_static_equilibrium(flexible_robot, HELD))[:3]
    bench.command()
    assert_close(bench.command(), hanging, rel=1e-6)
    assert told(bench)['reference shaping'] == 'zv'
    assert told(bench)['time added by shaping [s]'] == '0.000'
    start = bench.time + 30.0
    with bench.sending():  # it is shaped in the background, and taken up with a state
        assert bench.refer([0.0, DURATION], [HELD, GOAL], REST, REST, start=start) is None
    asked = control.Trajectory.from_points(JOINTS, [0.0, DURATION], [HELD, GOAL], REST, REST)
    shaped = control.shape_trajectory(asked, control.ClampedJointModes(flexible_robot), 'zv')
    added = shaped.duration - DURATION
    assert told(bench)['time added by shaping [s]'] == f'{added:.3f}'
    # On the reference, feedback has nothing to do; the beam hardly bends sideways, so that the
    # joint that turns it does not feel it much.
    for moment in (-0.02, 0.0, 0.02, 0.04, 0.06):
        state = shaped.sample(moment)
        bench.command(*state[:2], after=start + moment - bench.time)
    q, qd, qdd = shaped.sample(0.08)
    effort = bench.command(q, qd, after=start + 0.08 - bench.time)[0]
    follows, does_not = (
        bench.robot.inverse_dynamics(q, qd, wanted)[0] + bench.robot.joint_friction(qd)[0]
        for wanted in (qdd, asked.sample(0.08)[2])
    )
    assert abs(effort - follows) < 0.3 * abs(effort - does_not)
    end = start + shaped.duration + 20.0
    hanging = flexible_robot.gravity_vector(quasi_static_equilibrium(flexible_robot, GOAL))[:3]
    assert_close(bench.command(GOAL, after=end - bench.time), hanging, rel=0.05)


def test_a_reference_on_a_running_clock_is_given_time_to_be_shaped(flexible_bench):
    """It has no stamp, and would start with the state that came last."""
    bench = flexible_bench
    bench.prepare(q=HELD, reference_shaping='ei')
    with bench.sending():
        assert bench.refer([DURATION], [GOAL]) is None
        assert bench.refer([DURATION], [0.5 * (HELD + GOAL)]) is None
    assert float(told(bench)['time added by shaping [s]']) > 0.0


@pytest.mark.parametrize(
    ('settings', 'words'),
    [
        ({'reference_shaping': 'zv'}, "reference_shaping is 'zv', which needs flexible_desc"),
        ({'vibration_damping': True}, 'vibration_damping is True, which needs flexible_desc'),
        ({'vibration_damping': True, 'control_law': 'pd'}, 'needs flexible_description_file'),
    ],
)
def test_a_robot_of_stiff_links_has_no_vibrations(bench, settings, words):
    bench.configure(**settings)
    bench.acknowledge()
    before = len(bench.process.output.splitlines())
    assert not bench.client.transition('activate')
    assert words in '\n'.join(bench.process.output.splitlines()[before:])


def test_no_shaping_without_the_model(flexible_bench):
    flexible_bench.configure(reference_shaping='zvd', control_law='pd')
    flexible_bench.acknowledge()
    assert not flexible_bench.client.transition('activate')
    assert 'needs control_law computed_torque' in flexible_bench.process.output


def test_no_damping_with_states_too_rare_for_a_period_of_delay(flexible_bench):
    flexible_bench.configure(vibration_damping=True, state_period=0.03, fault_action='zero')
    flexible_bench.acknowledge()
    assert not flexible_bench.client.transition('activate')
    assert (
        'vibration_damping is unstable with states 0.03 s apart' in flexible_bench.process.output
    )


def test_damping_publishes_its_estimate_and_begins_with_the_weight(
    flexible_bench, flexible_robot, assert_close
):
    bench = flexible_bench
    resting = quasi_static_equilibrium(flexible_robot, HELD)
    weight = flexible_robot.gravity_vector(resting)[:3]
    bench.prepare(q=HELD, effort=weight, vibration_damping=True)
    for _ in range(3):
        assert_close(bench.command(HELD), weight, rel=1e-6)
    estimate = bench.answer(bench.deflections, HELD)
    assert_close(estimate.position, resting[3:], rel=1e-6)
    assert len(estimate.velocity) == 2
    assert told(bench)['vibration damping'] == 'active'
    assert 'unstable if efforts act two periods of 0.02 s late' in bench.process.output
    # Where the joints move on their own, the beam does not stay as it is.
    moved = bench.answer(bench.deflections, HELD + [0.0, 0.001, 0.0])
    assert abs(moved.velocity[1]) > 1e-6


def test_no_fault_is_cleared_while_the_beam_does_not_carry_its_load(flexible_bench):
    """The answer says so, and the fault stays as it was."""
    bench, lacking = flexible_bench, "flexible link 'beam' deflects by"

    def carry(mass):
        answer = bench.client.call(
            SetPayload, 'dynamics_node/set_payload', link='nozzle', mass=mass
        )
        assert answer.success, answer.message

    def clear():
        return bench.client.call(Trigger, 'dynamics_node/clear_fault')

    bench.prepare(q=HELD, reference_shaping='zv', fault_action='zero')
    bench.command(HELD)
    bench.command(HELD, after=-50.0)  # stamps that step back are a fault
    latched = bench.client.next_status().message
    assert 'stepped back' in latched
    carry(30.0)
    for _ in range(2):
        answer = clear()
        assert not answer.success
        assert lacking in answer.message
        assert bench.client.next_status().message == latched
    carry(0.0)
    assert clear().success
    assert np.abs(bench.command(HELD)).max() > 0.0
