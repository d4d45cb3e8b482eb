# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Payloads that are set by several threads, again, or from a robot that is out of date."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.carrying import PayloadChange
from kron_dynamics.payload_kernels import PayloadKernels

pytestmark = pytest.mark.interpreted

ROOT = Path(__file__).parents[1]
STACKER = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
BOOM = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
Q = np.array([0.3, -0.4, 0.2])


@pytest.fixture(scope='module')
def arm(robot_text: Callable[[str], str]) -> kd.Robot:
    return kd.loads(robot_text('rrp'))


@pytest.fixture(scope='module')
def links(arm: kd.Robot) -> list[str]:
    """Links of two bodies."""
    frames = arm.model.frames
    return [next(name for name in frames if frames[name].body == k) for k in (1, 2)]


def with_both(arm: kd.Robot, links: list[str]) -> Any:
    """The efforts of gravity with both payloads, set by one thread."""
    robot = kd.CarryingRobot(arm, *links)
    for link, mass in zip(links, (2.0, 3.0), strict=True):
        robot.set_payload(link, mass)
    return robot.gravity_vector(Q)


def meanwhile(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]) -> threading.Thread:
    """Let another thread act, or begin to wait, while the next payload is set."""
    thread = threading.Thread(target=action)
    prepare = PayloadKernels.with_parameters

    def with_parameters(*arguments: Any) -> Any:
        made = prepare(*arguments)
        if thread.ident is None:
            thread.start()
            thread.join(0.05)
        return made

    monkeypatch.setattr(PayloadKernels, 'with_parameters', with_parameters)
    return thread


@pytest.mark.parametrize('known', [True, False])
def test_no_thread_undoes_what_another_one_sets(
    known: bool, arm: kd.Robot, links: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether kernels for both links are there, or each thread makes those of its own."""
    robot = kd.CarryingRobot(arm, *(links if known else []))
    other = meanwhile(monkeypatch, lambda: robot.set_payload(links[1], 3.0))
    robot.set_payload(links[0], 2.0)
    other.join()
    assert {link: robot.payloads[link].mass for link in robot.payloads} == dict(
        zip(links, (2.0, 3.0), strict=True)
    )
    np.testing.assert_allclose(robot.gravity_vector(Q), with_both(arm, links), rtol=1e-12)


def test_what_one_thread_sets_alone_waits_for_nobody(arm: kd.Robot, links: list[str]) -> None:
    """Also in copies, which have payloads of their own."""
    robot = kd.CarryingRobot(arm, *links)
    for other in (copy.copy(robot), copy.deepcopy(robot), pickle.loads(pickle.dumps(robot))):
        other.set_payload(links[0], 2.0)
        other.set_payload(links[1], 3.0)
        np.testing.assert_allclose(other.gravity_vector(Q), with_both(arm, links), rtol=1e-12)


@pytest.mark.parametrize('share', [0.0, 0.5, 1.0])
def test_links_that_carry_meanwhile_may_be_new_to_a_change(
    share: float, arm: kd.Robot, links: list[str]
) -> None:
    """The result is between all payloads when the change begins, and those at its end."""
    robot = kd.CarryingRobot(arm, links[1])
    after = robot.with_payload(links[1], 3.0)
    robot.set_payload(links[0], 2.0)
    before = robot.gravity_vector(Q)
    PayloadChange(robot, after).advance(share)
    expected = (1.0 - share) * before + share * after.gravity_vector(Q)
    np.testing.assert_allclose(robot.gravity_vector(Q), expected, rtol=1e-12)
    robot.bias_forces(Q, Q)  # a kernel that was not there


def test_a_change_that_is_taken_back_is_forgotten(arm: kd.Robot, links: list[str]) -> None:
    robot = kd.CarryingRobot(arm, *links)
    robot.set_payload(links[0], 2.0)
    change = PayloadChange(robot, robot.with_payload(links[1], 4.0))
    change.advance(1.0)
    change.advance(0.0)
    assert list(robot.payloads) == [links[0]]
    robot.set_payload(links[1], 3.0)
    np.testing.assert_allclose(robot.gravity_vector(Q), with_both(arm, links), rtol=1e-12)


def test_all_threads_get_one_rigid_robot(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = kd.CarryingRobot(kd.load(STACKER, flexible=BOOM), 'bucket_wheel')
    got = []
    other = meanwhile(monkeypatch, lambda: got.append(robot.rigid))
    got.append(robot.rigid)
    other.join()
    assert got[0] is got[1] is robot.rigid
    assert isinstance(robot.rigid, kd.CarryingRobot)
    robot.set_payload('bucket_wheel', 5000.0)
    assert robot.rigid.payloads['bucket_wheel'].mass == 5000.0


def test_payloads_of_all_kinds_may_be_set_together(arm: kd.Robot, links: list[str]) -> None:
    robot = kd.CarryingRobot(arm, *links)
    together = robot.with_payloads({links[0]: 2.0, links[1]: (3.0, (0.0, 0.0, 0.0))})
    np.testing.assert_allclose(together.gravity_vector(Q), with_both(arm, links), rtol=1e-12)
    assert together.with_payloads({links[0]: 0.0, links[1]: 3}).payloads.keys() == {links[1]}
    with pytest.raises(kd.ModelError, match=f"payload: link '{links[0]}' carries 'a lot'"):
        robot.with_payloads({links[0]: 'a lot'})  # type: ignore[dict-item]
    with pytest.raises(kd.UnknownFrameError, match='hook'):
        robot.with_payloads({'hook': 1.0})
    with pytest.warns(kd.ModelWarning, match='in m and in the frame') as record:
        robot.with_payloads({links[1]: (1.0, (1e5, 0.0, 0.0))})
    assert record[0].filename == __file__
    with pytest.warns(kd.ModelWarning, match='in m and in the frame') as record:
        robot.set_payload(links[1], (1.0, (1e5, 0.0, 0.0)))
    assert [one.filename for one in record] == [__file__]
