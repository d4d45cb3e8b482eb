# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What `make bench` does apart from timing."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import kron_dynamics as kd

pytest.importorskip('pinocchio')
ROOT = Path(__file__).parents[1]


def module(name: str) -> ModuleType:
    """A module of the folder benchmarks, which is beside the package and not installed."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    return importlib.import_module(f'benchmarks.{name}')


chain, report, robots, rows = map(module, ('chain', 'report', 'robots', 'rows'))
scaling, targets, timing, tree = map(module, ('scaling', 'targets', 'timing', 'tree'))
Outcome, Row, Spread = rows.Outcome, rows.Row, timing.Spread


class FakeTask:
    """Takes the times it is told, so nothing here depends on the machine."""

    def __init__(self, seconds, values=(1.0,)):
        self.name = 'fake'
        self._seconds = seconds
        self._values = values

    def values(self):
        return [np.array(self._values)]

    def seconds(self, repeat):
        return self._seconds


def row(**changes):
    fields = {'key': 'a/b', 'target': 1, 'what': 'something', 'robot': 'stacker'}
    return Row(**{**fields, 'measure': lambda rounds: None, **changes})


def outcome(median, low=None, high=None):
    return Outcome(Spread(median, low or median, high or median), 1e-6, 2e-6, 'Peer, its way')


@pytest.mark.parametrize('n', [1, 3, 8])
def test_chain_is_a_robot_of_n_joints(n):
    robot = kd.loads(chain.chain_urdf(n))
    assert robot.joint_names == tuple(f'joint_{k}' for k in range(1, n + 1))
    links = tree.links(importlib.import_module('pinocchio').buildModelFromXML(chain.chain_urdf(n)))
    assert [list(link.axis) for link in links] == [list(np.eye(3)[k % 3]) for k in range(n)]
    for link in links:
        moments = np.linalg.eigvalsh(link.inertia)
        assert 0 < moments[2] < moments[0] + moments[1]  # what a body can have


def test_shorter_chain_begins_a_longer_one():
    def bodies(n):
        return re.findall(r'<(?:origin|mass|inertia) .*?/>', chain.chain_urdf(n))

    assert bodies(5)[: len(bodies(3))] == bodies(3)


@pytest.mark.parametrize(('name', 'n'), [('stacker', 3), ('ur5', 6), ('panda', 7)])
def test_robots_have_their_tips_and_coordinates(name, n):
    described = robots.description(name)
    robot = kd.loads(described.text)
    assert robot.n == n
    robot.frame(described.tip)


def test_bodies_as_text_are_all_the_numbers():
    pin = importlib.import_module('pinocchio')
    text = tree.as_text(pin.buildModelFromXML(chain.chain_urdf(4)), robots.state(4))
    # Gravity and the number of joints; 24 words a joint; three vectors.
    assert len(text.split()) == 3 + 1 + 4 * (2 + 3 + 3 + 9 + 1 + 3 + 6) + 3 * 4


def test_slope_of_a_power_law():
    lengths = scaling.LENGTHS
    assert scaling.fitted_slope(lengths, [2e-7 * n**2.5 for n in lengths]) == pytest.approx(2.5)


def test_spread_is_of_quantiles():
    assert Spread.of(range(11)) == Spread(5.0, 1.0, 9.0)


def test_ratio_is_the_peer_by_ours():
    compared = timing.compare(FakeTask(2e-3), FakeTask(6e-3), 5)
    assert compared.ratio.median == pytest.approx(3.0)
    assert (compared.ours.median, compared.peer.median) == (2e-3, 6e-3)


@pytest.mark.parametrize('other', [(1.0, 2.001), (1.0, np.nan)])
def test_tasks_with_other_results_are_not_compared(other):
    with pytest.raises(timing.MeasurementError, match='differs'):
        timing.compare(FakeTask(1e-2, (1.0, 2.0)), FakeTask(1e-2, other), 1)


def test_quickest_way_counts():
    tasks = [FakeTask(4e-3), FakeTask(3e-3), FakeTask(5e-3)]
    assert timing.quickest(tasks) is tasks[1]


def test_python_task_gives_its_results():
    task = timing.PythonTask('sum', 'c = a + b', '[c]', a=np.ones(2), b=np.ones(2))
    assert task.values()[0].tolist() == [2.0, 2.0]
    assert task.seconds(10) > 0


@pytest.mark.parametrize(
    ('changes', 'result', 'verdict'),
    [
        ({'at_least': 5.0}, outcome(5.0), 'pass'),
        ({'at_least': 5.0}, outcome(4.9, 4.0, 6.0), 'short'),
        ({'at_most': 1.15, 'unit': ''}, outcome(1.1), 'pass'),
        ({'at_most': 1.15, 'unit': ''}, outcome(1.2, 1.1, 1.3), 'short'),
        ({'at_most': 3.0, 'spread_counts': True}, outcome(3.1, 2.9, 3.2), 'pass'),
        ({}, outcome(0.1), ''),
        ({'at_least': 5.0}, 'the peer is not installed', 'not measured'),
        ({}, 'the peer is not installed', 'not measured'),
    ],
)
def test_marks(changes, result, verdict):
    assert rows.mark(row(**changes), result) == verdict


@pytest.mark.parametrize(
    ('seconds', 'text'),
    [
        (-2.4e-3, '-2.4 ms'),
        (4.21e-8, '42.1 ns'),
        (1.5e-6, '1.5 us'),
        (0.0123, '12.3 ms'),
        (2.0, '2 s'),
        (0.0, '0 ns'),
    ],
)
def test_times_have_fitting_units(seconds, text):
    assert report.seconds_text(seconds) == text


def test_line_of_a_row():
    text = report.line((row(at_least=5.0), outcome(12.345, 11.0, 13.0)))
    assert text.split() == 'pass a/b 12.3x (11x to 13x) 1 us : 2 us (at least 5x)'.split()
    assert report.line((row(), 'no peer')).split() == 'not measured a/b no peer'.split()


def test_report_has_every_row():
    results = [
        (row(at_least=5.0), outcome(12.0, 11.0, 13.0)),
        (row(what='other', target=4, at_least=2.0), outcome(1.0)),
        (row(what='third', target=5, at_most=1.0, unit='s'), 'no | compiler'),
    ]
    text = report.markdown({'Python': '3'}, results, {'panda': {'mass_matrix': 1234}})
    assert '- Python: 3' in text
    assert '**3 required rows: 1 pass, 1 short, 1 not measured.**' in text
    assert '| something | stacker-reclaimer (3) | 1 us | 2 us | 12x (11x to 13x) |' in text
    assert '- stacker-reclaimer (3), something: Peer, its way' in text
    assert '| not measured: no / compiler | at most 1 s |  |' in text
    assert '| `mass_matrix` | 1,234 |' in text
    lengths = {len(line.split('|')) for line in text.splitlines() if line.startswith('| other')}
    assert lengths == {9}


def test_rows_are_named_once_and_have_a_section():
    keys = [each.key for each in targets.ROWS]
    assert len(set(keys)) == len(keys)
    assert {each.target for each in targets.ROWS} | {15} == set(module('sections').SECTIONS)
    assert {each.target for each in targets.ROWS if each.required} == set(range(1, 15))


def test_written_report_has_every_row():
    text = (ROOT / 'docs' / 'benchmarks.md').read_text(encoding='utf-8')
    names = module('sections').NAMES
    for each in targets.ROWS:
        assert f'| {each.what} | {names[each.robot]} |' in text


def test_peers_are_pinned():
    text = (ROOT / 'benchmarks' / 'requirements.txt').read_text(encoding='utf-8')
    pins = [line for line in text.splitlines() if line and not line.startswith('#')]
    assert len(pins) == 5
    assert all(re.fullmatch(r'[a-z-]+==[0-9.]+( ; .*)?', pin) for pin in pins)
