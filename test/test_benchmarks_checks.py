# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A benchmark notices when what it times is not done, or done wrongly."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip('pinocchio')
ROOT = Path(__file__).parents[1]


def module(name: str) -> Any:
    """A module of the folder benchmarks, which is beside the package and not installed."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    return importlib.import_module(f'benchmarks.{name}')


constrained, latency, ours, peer = map(
    module, ('constrained', 'node_latency', 'ours', 'pinocchio_peer')
)
report, retiming, starts, timing = map(module, ('report', 'retiming', 'starts', 'timing'))
answers = module('service_answers')
MeasurementError, PythonTask = timing.MeasurementError, timing.PythonTask


def given(*values: Any) -> Any:
    """A task with these results."""
    return PythonTask('given', 'pass', 'values', values=list(values))


@pytest.mark.parametrize('values', [[], [np.zeros(0)]])
def test_nothing_does_not_equal_nothing(values: list[Any]) -> None:
    with pytest.raises(MeasurementError, match='no numbers'):
        timing.check_equal(given(*values), given(*values))


@pytest.mark.parametrize('name', ['dynamics', 'bare'])
def test_node_that_answers_some_states_is_not_measured(name: str) -> None:
    asked = dict.fromkeys(('dynamics', 'bare'), 0)

    def answered(node: str) -> float:
        asked[node] += 1
        return latency.LOST if node == name and asked[node] % 10 == 0 else 1e-3

    with pytest.raises(MeasurementError, match=f'{name}_node leaves 2 of 20 states unanswered'):
        latency.in_rhythm(answered, 1e9, 1200)


def test_unanswered_state_counts_with_its_time_and_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = np.full((2, 1200), 1e-3)
    times[0, 7] = latency.LOST
    monkeypatch.setattr(latency, '_latencies', lambda rate, seconds: times)
    found = latency.latency(100.0, 1.0, 21)
    assert found.ours == latency.LOST
    row = next(row for row in module('targets').ROWS if row.key == 'cycle/p99/100')
    assert f'- stacker-reclaimer (3), {row.what}: 1 : 0 of 1200' in report.markdown(
        {}, [(row, found)], {}
    )


def test_late_answer_is_not_taken_for_that_of_the_next_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, delays, due = [0.0], [0.15, 0.08, 9.0, 0.02], []
    clock = SimpleNamespace(perf_counter=lambda: now[0])
    monkeypatch.setattr(latency, 'time', clock)

    def spin(patience: float) -> None:
        now[0] = min([now[0] + patience, *due])
        if now[0] in due:
            due.remove(now[0])
            questions.hear('bare')

    questions = latency.Questions(lambda _: due.append(now[0] + delays.pop(0)), spin)
    times = [questions.answered('bare') for _ in range(4)]
    assert times == pytest.approx([latency.LOST, 0.08, latency.LOST, 0.02])


@pytest.mark.parametrize(
    ('stall', 'begin'), [(0.3, 0.2), (0.6, 0.2), (0.5, 0.7), (0.3, -0.005), (0.3, 1.1)]
)
def test_stall_of_commands_counts_wherever_it_begins(stall: float, begin: float) -> None:
    gaps = module('command_gaps')
    grid = 1000.0 + np.arange(1, 1600) * 0.005
    since = (grid - 1001.0 - begin) % 2.0
    kept = gaps.gaps_of(1000.0, 1008.0, grid[(since < 1e-6) | (since > stall - 1e-6)])
    assert gaps.gap_not_exceeded(kept.busy, 0.99) >= stall - 0.006
    assert gaps.gap_not_exceeded(kept.silent, 0.99) == pytest.approx(0.005)


def test_end_of_all_commands_is_a_gap() -> None:
    gaps = module('command_gaps').gaps_of(0.0, 8.0, np.arange(1, 600) * 0.005)
    assert gaps.busy.max() == pytest.approx(5.005)


def test_seconds_of_requests_without_an_answer_are_found() -> None:
    gaps, services = module('command_gaps'), module('services')
    assert gaps.idle_phases(0.5, 8.4, {1, 5, 7}) == [3]
    assert gaps.idle_phases(1.5, 7.4, {3, 5}) == []
    line = '[{}] [{}.25] [dynamics_node]: {}\n'.format
    log = line('INFO', 103, 'following a reference of 200 s') + line(
        'INFO', 108, 'following a reference of 200 s'
    )
    log += line('WARN', 105, 'reference refused: the node is not active')
    assert services.seconds_of_accepted(log, 100.0) == {3, 7}


@pytest.mark.parametrize('name', ['position', 'velocity', 'effort'])
def test_reading_of_other_numbers_is_not_timed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip('rosbags')
    reading = module('bag_reading')
    whole = reading.read_bag

    def wrong(path: Path) -> Any:
        found = whole(path)
        table = found.joint_states['/joint_states'].tables[0]
        object.__setattr__(table, name, getattr(table, name) * 1.01)
        return found

    monkeypatch.setattr(reading, 'MESSAGES', 50)
    monkeypatch.setattr(reading, 'read_bag', wrong)
    with pytest.raises(MeasurementError, match='differs'):
        reading.reading('MCAP', 1)


def test_contents_of_bags_are_topics_times_and_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip('rosbags')
    writing = module('bag_writing')

    class Reader:
        def __init__(self, paths: list[Any]) -> None:
            self._messages = paths[0]

        def __enter__(self) -> Reader:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def messages(self) -> Any:
            return ((SimpleNamespace(topic=topic), *rest) for topic, *rest in self._messages)

    monkeypatch.setattr(writing, 'AnyReader', Reader)
    right = [('/a', 1, b'\1\2'), ('/b', 2, b'\3')]
    found = writing._contents(right)
    assert found == writing._contents(right[::-1])
    for k, other in ((0, ('/c', 1, b'\1\2')), (0, ('/a', 1, b'\2\1')), (1, ('/b', 3, b'\3'))):
        changed = [*right[:k], other, *right[k + 1 :]]
        assert found != writing._contents(changed)


def test_dense_search_that_solves_nothing_is_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    bound, robot = module('retiming_bound'), ours.robot('stacker')
    found = retiming.retime(robot, [robot.model.position_lower, [1.0, 0.1, 0.1]])
    none = np.full(3, np.inf)
    monkeypatch.setattr(bound, 'linprog', lambda *_, **__: SimpleNamespace(status=4, x=None))
    with pytest.raises(MeasurementError, match='no linear program'):
        bound.quickest_duration(robot, found.trajectory, robot.model.effort_limit, none, 1)


@pytest.mark.parametrize('rated', [False, True])
def test_speeds_beyond_their_limits_are_seen(rated: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = ours.robot('stacker')
    qd = np.array([2.5 * robot.model.velocity_limit[0], 0.0, 0.0])
    motion = SimpleNamespace(
        samples=lambda t: [np.tile(x, (t.size, 1)) for x in (0 * qd, qd, 0 * qd)]
    )
    found = (SimpleNamespace(trajectory=motion, duration=5e-3),)
    monkeypatch.setattr(retiming, '_retimed', lambda name, rated: found)
    assert retiming.most_used(rated, 'stacker', 1).value.median >= 250.0


def test_every_integrator_of_mujoco_is_another() -> None:
    pytest.importorskip('mujoco')
    falling, ur5 = module('mujoco_simulation'), module('robots').description('ur5')
    start = (np.full(6, 0.4), np.full(6, 0.5))
    case = falling.Fall(ur5.text, ours.robot('ur5'), 0.1, start, start[0])
    ends = [falling._mujoco('ur5', case, name)(10) for name in falling.INTEGRATORS.values()]
    for k, end in enumerate(ends):
        assert all(np.abs(end - other).max() > 1e-6 for other in ends[:k])


def test_efforts_of_closed_loops_must_cause_the_motion() -> None:
    robot, q, u, u_dot, _ = constrained.machine('four_bar')
    motion = robot.velocities(q, u), robot.accelerations(q, u, u_dot)
    efforts = robot.inverse_dynamics(q, u, u_dot)
    constrained.check_efforts('four_bar', given(efforts), robot.actuated, *motion)
    with pytest.raises(MeasurementError, match='differs'):
        constrained.check_efforts('four_bar', given(1.001 * efforts), robot.actuated, *motion)


def test_multipliers_of_closed_loops_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    real = constrained.machine('four_bar')

    class Wrong:
        def __getattr__(self, name: str) -> Any:
            return getattr(real[0], name)

        def forward_dynamics(self, *state: Any) -> Any:
            found = real[0].forward_dynamics(*state)
            return found._replace(multipliers=1.001 * found.multipliers)

    constrained.forward('four_bar', 1)
    monkeypatch.setattr(constrained, 'machine', lambda name: (Wrong(), *real[1:]))
    with pytest.raises(MeasurementError, match='result 1 '):
        constrained.forward('four_bar', 1)


def test_answers_of_services_are_compared_with_the_model() -> None:
    robot, x = ours.robot('stacker'), module('robots').state(3, 4).q
    terms = robot.linearization(x, x, x)
    numbers = {
        **dict.fromkeys(('position', 'velocity', 'acceleration'), x.ravel()),
        'mass_matrix': terms.mass_matrix.ravel(),
        'damping_matrix': terms.damping_matrix.ravel(),
        'stiffness_matrix': terms.stiffness_matrix.ravel(),
    }
    answers.check_answer('linearize', robot, 'bucket_wheel', x, SimpleNamespace(**numbers))
    numbers['stiffness_matrix'] = 1.001 * numbers['stiffness_matrix']
    with pytest.raises(MeasurementError, match='result 2 '):
        answers.check_answer('linearize', robot, 'bucket_wheel', x, SimpleNamespace(**numbers))


@pytest.mark.parametrize('quantity', ['mass', 'step'])
def test_many_states_of_a_batch_are_compared(quantity: str) -> None:
    task = getattr(ours, quantity)('stacker', 1500)
    assert all(len(values) == 1000 for values in task.values())
    single = (peer.mass if quantity == 'mass' else peer.steps)('stacker')[0]
    few = getattr(ours, quantity)('stacker', 20)
    assert timing.check_equal(few, peer.batch_of(single, 'stacker', 20)) < 1e-9


def test_starts_alternate_with_those_of_casadi(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    def ours_started(robot: str, count: int) -> list[tuple[float, ...]]:
        order.append('ours')
        return [(1.0, 1.0, 2.0)] * count

    def peer_started(module: list[str], environment: dict[str, str]) -> str:
        order.append('peer')
        return '1.0 4.0'

    monkeypatch.setattr(starts, '_in_folder', ours_started)
    monkeypatch.setattr(starts, 'in_process', peer_started)
    found = starts.against_casadi('stacker', 3)
    assert order == ['ours', 'peer'] * 3
    assert (found.value.median, found.ours, found.peer) == (0.5, 2.0, 4.0)


def test_a_plant_is_timed_against_the_same_text_in_python(kernel_cache: Path) -> None:
    """It has to have the same equations, stops included, or it is not measured."""
    outcome = module('simulation').few('stacker', 1)
    assert outcome.ours > 0.0
    assert outcome.peer > 0.0
