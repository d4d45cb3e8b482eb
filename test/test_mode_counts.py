# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How many modes links need: against beams on hubs, and two beams in series as fine chains."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from segment_chain import SegmentBeam, SegmentChain, extrapolate

import kron_dynamics as kd
from kron_dynamics import dynamics
from kron_dynamics.cli import main
from kron_dynamics.model.flexible_description import read_flexible
from kron_dynamics.modes import check_mode_counts
from kron_dynamics.resources import resource_path

STACKER = resource_path('urdf', 'stacker_reclaimer.urdf')
FLEXIBLE = resource_path('config', 'stacker_reclaimer_flexible.yaml')
LENGTH, MASS, TIP = 2.0, 3.0, 4.0
# About the joint, of beam and tip.
INERTIA = MASS * LENGTH**3 / 3 + TIP * LENGTH**2


def beam_link(name: str, before: str, joint: str, at: float) -> str:
    J = MASS * LENGTH**3 / 12
    return f"""<joint name="to_{name}" type="{joint}"><parent link="{before}"/>
  <child link="{name}"/><origin xyz="{at} 0 0"/><axis xyz="0 0 1"/></joint>
<link name="{name}"><inertial><origin xyz="{LENGTH / 2} 0 0"/><mass value="{MASS * LENGTH}"/>
  <inertia ixx="0" iyy="{J}" izz="{J}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


def robot(*parts: str, last: str) -> str:
    return f"""<robot name="beams"><link name="base"/>{''.join(parts)}
<joint name="end" type="fixed"><parent link="{last}"/><child link="load"/>
  <origin xyz="{LENGTH} 0 0"/></joint><link name="load"><inertial><mass value="{TIP}"/>
  <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def on_hub(share: float) -> str:
    """A beam on a hub that turns, with some share of the inertia of beam and tip."""
    hub = f"""<joint name="slew" type="continuous"><parent link="base"/><child link="hub"/>
<axis xyz="0 0 1"/></joint><link name="hub"><inertial><mass value="1"/>
<inertia ixx="{share * INERTIA}" iyy="{share * INERTIA}" izz="{share * INERTIA}"
  ixy="0" ixz="0" iyz="0"/></inertial></link>"""
    return robot(hub, beam_link('beam', 'hub', 'fixed', 0.0), last='beam')


SERIES = robot(
    beam_link('first', 'base', 'revolute', 0.0).replace(
        '</joint>', '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    ),
    beam_link('second', 'first', 'fixed', LENGTH),
    last='second',
)


def described(*links: str, **modes: int) -> dict[str, Any]:
    entry = {'length': LENGTH, 'bending_stiffness': 500.0, 'modes': modes}
    return {'flexible_links': {link: entry for link in links}}


def checked(text: str, flexible: Mapping[str, Any], **keys: Any) -> list[kd.ModelWarning]:
    return check_mode_counts(lambda new: kd.loads(text, flexible=new), flexible, **keys)


def hub_frequencies(share: float, *, elements: int = 30) -> np.ndarray:
    """Of the beam on its hub, by cubic finite elements, rad/s, without the turn of the whole."""
    h, n = LENGTH / elements, 2 * (elements + 1)
    M, K = np.zeros((n, n)), np.zeros((n, n))
    k = np.array(
        [[12, 6 * h, -12, 6 * h], [6 * h, 4 * h**2, -6 * h, 2 * h**2]]
        + [[-12, -6 * h, 12, -6 * h], [6 * h, 2 * h**2, -6 * h, 4 * h**2]]
    )
    m = np.array(
        [[156, 22 * h, 54, -13 * h], [22 * h, 4 * h**2, 13 * h, -3 * h**2]]
        + [[54, 13 * h, 156, -22 * h], [-13 * h, -3 * h**2, -22 * h, 4 * h**2]]
    )
    for e in range(elements):
        part = np.s_[2 * e : 2 * e + 4]
        K[part, part] += 500.0 / h**3 * k
        M[part, part] += MASS * h / 420 * m
    M[1, 1] += share * INERTIA
    M[-2, -2] += TIP
    M, K = M[1:, 1:], K[1:, 1:]
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)
    return np.sqrt(squares[1:])


@pytest.mark.parametrize(
    ('share', 'enough'), [(0.0002, False), (0.024, False), (0.5, True)], ids=str
)
def test_a_light_hub_takes_two_modes(share: float, enough: bool) -> None:
    text, right = on_hub(share), hub_frequencies(share)[0] / (2 * np.pi)
    found = checked(text, described('beam', v=1))
    assert bool(found) is not enough
    if enough:
        return
    (one,) = found
    assert (one.kind, one.subject) == ('too_few_modes', "flexible link 'beam'")
    assert one.cure == 'take 2 modes in plane v'
    given, instead = (float(part.split()[-1]) for part in one.finding.split(' Hz')[:2])
    assert 'joints free' in one.finding
    assert instead == pytest.approx(right, rel=2e-3)
    model = kd.loads(text, flexible=described('beam', v=1)).model
    rest = np.zeros(2)
    M, _, K, _ = dynamics.linearization(model, rest, rest, rest)
    assert given == pytest.approx(
        np.sqrt(np.linalg.eigvals(np.linalg.solve(M, K)).real.max()) / (2 * np.pi), rel=1e-3
    )
    assert given / right > 1.05
    assert checked(text, described('beam', v=2)) == []
    if share < 0.01:
        # The first two vibrations take a third mode.
        (one,) = checked(text, described('beam', v=2), vibrations=2)
        assert one.cure == 'take 3 modes in plane v'
        instead = float(one.finding.split(' instead of ')[1].split()[0])
        assert instead == pytest.approx(hub_frequencies(share)[1] / (2 * np.pi), rel=1e-2)


def test_it_is_the_plane_that_is_named() -> None:
    """The joint turns the beam in the plane of v; in that of w it is clamped."""
    found = checked(on_hub(0.0002), described('beam', v=1, w=1))
    assert [one.cure for one in found] == ['take 2 modes in plane v']
    # Less is tolerated, and more.
    assert checked(on_hub(0.0002), described('beam', v=1, w=1), tolerance=0.5) == []


def test_two_beams_in_series_with_the_modes_that_are_asked_for() -> None:
    flexible = described('first', 'second', v=1)
    found = checked(SERIES, flexible)
    assert {one.subject for one in found} <= {"flexible link 'first'", "flexible link 'second'"}
    assert found
    for one in found:
        link = one.subject.split("'")[1]
        entry = flexible['flexible_links'][link]
        flexible['flexible_links'][link] = {**entry, 'modes': {'v': int(one.cure.split()[1])}}

    def chain(refinement: int) -> np.ndarray:
        beams = {
            link: SegmentBeam(LENGTH, MASS, {'v': 500.0}) for link in flexible['flexible_links']
        }
        made = SegmentChain(SERIES, beams, ['to_first'], refinement)
        return made.frequencies(made.linearized([0.0], [0.0], [0.0]))[:2]

    right = extrapolate([chain(refinement) for refinement in (1, 2, 4)])
    errors = {}
    for name, description in (
        ('one', described('first', 'second', v=1)),
        ('asked for', flexible),
    ):
        model = kd.loads(SERIES, flexible=description).model
        rest = np.zeros(model.n)
        M, _, K, _ = dynamics.linearization(model, rest, rest, rest)
        squares = np.sort(np.linalg.eigvals(np.linalg.solve(M[1:, 1:], K[1:, 1:])).real)
        errors[name] = np.abs(np.sqrt(squares[:2]) / right - 1).max()
    assert errors['one'] > 0.1
    assert errors['asked for'] < 0.01


def test_the_shipped_boom_has_modes_enough() -> None:
    assert check_mode_counts(lambda new: kd.load(STACKER, flexible=new), FLEXIBLE) == []


@pytest.mark.parametrize(('count', 'reference'), [(16, 19), (18, 20), (20, 20)])
def test_the_reference_has_no_more_modes_than_there_may_be(count: int, reference: int) -> None:
    asked = []

    def loaded(description: Mapping[str, object]) -> kd.Robot:
        asked.extend(link.modes for link in read_flexible(description))
        raise InterruptedError  # loading this many modes takes seconds

    with pytest.raises(InterruptedError):
        check_mode_counts(loaded, described('beam', v=1, w=count))
    assert asked == [{'v': 4, 'w': reference}]


@pytest.mark.long
def test_a_plane_with_all_modes_is_accurate_and_the_other_is_checked() -> None:
    found = checked(on_hub(0.0002), described('beam', v=1, w=20))
    assert [one.cure for one in found] == ['take 2 modes in plane v']


def test_wrong_questions_are_refused() -> None:
    flexible = described('beam', v=1)
    with pytest.raises(kd.ParameterError, match='tolerance is 0, expected a positive number'):
        checked(on_hub(1.0), flexible, tolerance=0.0)
    with pytest.raises(kd.ParameterError, match='vibrations is 0, expected 1 or more'):
        checked(on_hub(1.0), flexible, vibrations=0)
    with pytest.raises(kd.ParameterError, match="joint 'nope' does not exist"):
        checked(on_hub(1.0), flexible, at={'nope': 1.0})
    with pytest.raises(kd.ParameterError, match='a robot without flexible links'):
        check_mode_counts(lambda new: kd.loads(on_hub(1.0)), flexible)


def test_links_that_buckle_have_no_modes_to_compare() -> None:
    """A column carries pi^2/4 EI/l^2 at its tip, where 0.3 of its own weight count, too."""
    most = np.pi**2 / 4 * 500.0 / LENGTH**2 / (TIP + 0.3 * MASS * LENGTH)

    def column(share: float) -> list[kd.ModelWarning]:
        gravity = (-share * most, 0.0, 0.0)
        return check_mode_counts(
            lambda new: kd.loads(on_hub(0.5), flexible=new, gravity=gravity),
            described('beam', v=1),
        )

    column(0.95)
    with pytest.raises(kd.ModelError, match=r"no stable .* of 'beams' at q = \[0\.0\]: .* load"):
        column(1.05)


def test_the_command_tells_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / 'hub.urdf').write_text(on_hub(0.0002))
    (tmp_path / 'modes.yaml').write_text(
        'flexible_links: {beam: {length: 2.0, bending_stiffness: 500.0, modes: {v: 1}}}'
    )
    files = [str(tmp_path / 'hub.urdf'), '--flexible', str(tmp_path / 'modes.yaml')]
    options = ['--sweep', 'slew', '--range', '0', '1', '--points', '2']
    assert main(['modes', *files, *options]) == 0
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1
    assert told[0].startswith(
        "kron_dynamics: warning: flexible link 'beam': with 1 mode in plane v a frequency is "
    )
    assert told[0].endswith('; take 2 modes in plane v [too_few_modes]')
