# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A reference point takes the place of what was requested before; a refused one does not."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kron_dynamics.exceptions import TrajectoryError

pytestmark = pytest.mark.ros


@pytest.mark.parametrize('why_not', [None, 'refused', 'fault', 'inactive'])
def test_a_point_that_is_followed_ends_other_references(ros, why_not):
    from trajectory_msgs.msg import JointTrajectoryPoint

    from kron_dynamics.ros.reference_interface import ReferenceInterface

    dropped, taken, told = [], [], []

    def take(*point):
        if why_not == 'refused':
            raise TrajectoryError('the point is odd')
        taken.append(point)

    class Scripted(ReferenceInterface):
        def __init__(self):
            latch = SimpleNamespace(faulted=why_not == 'fault', reason='it broke')
            controller = None if why_not == 'inactive' else SimpleNamespace(latch=latch)
            self._present = lambda: (controller, 1.0)
            counts = SimpleNamespace(limited=0)
            self._stream = SimpleNamespace(active=False, counts=counts, take=take)
            self._input = SimpleNamespace(drop=dropped.append)
            self._logger = SimpleNamespace(
                info=told.append, warning=lambda text, **options: told.append(text)
            )

    point = JointTrajectoryPoint(positions=[0.5, 0.25], velocities=[1.0, 2.0])
    point.time_from_start.sec, point.time_from_start.nanosec = 2, 500_000_000
    Scripted()._on_point(point)
    if why_not is None:
        assert dropped == ['a reference point replaced it']
        ((positions, velocities, accelerations, after),) = taken
        assert (*positions, *velocities, after) == (0.5, 0.25, 1.0, 2.0, 2.5)
        assert accelerations is None
        assert told == ['following reference points']
    else:
        assert not dropped and not taken
        said = {'refused': 'is odd', 'fault': 'it broke', 'inactive': 'not active'}[why_not]
        assert len(told) == 1 and told[0].startswith('reference_point refused: ')
        assert said in told[0]


def test_a_stream_that_cannot_be_stopped_is_a_fault_and_does_not_end_the_node(ros):
    from kron_dynamics.ros.reference_interface import ReferenceInterface

    def watch():
        raise TrajectoryError('the path is odd')

    class Scripted(ReferenceInterface):
        def __init__(self):
            self._stream = SimpleNamespace(watch=watch)
            self._input = SimpleNamespace(proceed=lambda controller: None)

    controller = SimpleNamespace(
        latch=SimpleNamespace(faulted=False), references=SimpleNamespace(waiting=None)
    )
    problem = Scripted().proceed(controller, None, 1.0)
    assert problem == 'the stream of reference points cannot be stopped: the path is odd'
