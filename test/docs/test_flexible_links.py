# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/flexible-links.md: its commands give its data, its code runs, its numbers are right."""

from __future__ import annotations

import csv
import importlib
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from elastica import Elastica
from long_runs import some_of
from uncompiled import uncompiled

import kron_dynamics as kd
from kron_dynamics.cli import main
from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.flexible import Beam, beam_integrals
from kron_dynamics.kinematics import forward_kinematics
from kron_dynamics.model import flexible_description
from kron_dynamics.modes import joint_map

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / 'docs' / 'flexible-links.md').read_text(encoding='utf-8')


def blocks(language: str) -> list[str]:
    return re.findall(rf'^```{language}\n(.*?)^```', PAGE, flags=re.MULTILINE | re.DOTALL)


def numbers(path: Path) -> tuple[list[str], np.ndarray]:
    with path.open(newline='') as file:
        titles, *rows = csv.reader(file)
    return titles, np.array(rows, dtype=float)


@pytest.mark.parametrize('name', some_of(['luff', 'payload'], ['luff']))
def test_commands_give_the_data_and_the_table(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (command,) = [
        shlex.split(block.replace('\\\n', ''))
        for block in blocks('bash')
        if f'/{name}.csv' in block
    ]
    assert command[0] == 'kron_dynamics'
    monkeypatch.chdir(ROOT)
    shown = {f'docs/flexible_links/{name}.{kind}' for kind in ('csv', 'svg')}
    assert shown <= set(command)
    assert f'](flexible_links/{name}.svg)' in PAGE
    committed = numbers(ROOT / f'docs/flexible_links/{name}.csv')
    assert (ROOT / f'docs/flexible_links/{name}.svg').exists()
    elsewhere = [str(tmp_path / Path(a).name) if a in shown else a for a in command[1:]]
    assert main(elsewhere) == 0
    made = numbers(tmp_path / f'{name}.csv')
    assert made[0] == committed[0]
    np.testing.assert_allclose(made[1], committed[1], rtol=1e-6)
    printed = capsys.readouterr().out
    if name == 'payload':
        assert blocks('text')[0] in printed
    else:
        change = np.ptp(made[1][:, 1:3], axis=0) / made[1][0, 1:3]
        assert f'{100 * change.max():.1f} % of the frequency' in PAGE


@pytest.mark.filterwarnings('ignore:Badly conditioned')
def test_examples_run_as_one_session(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    namespace: dict[str, object] = {}
    examples = [block for block in blocks('python') if 'import control' not in block]
    assert len(examples) >= 2
    for example in examples:
        exec(compile(example, 'flexible-links.md', 'exec'), namespace)
    response, magnitude = np.array(namespace['response']), np.array(namespace['magnitude'])
    np.testing.assert_allclose(20 * np.log10(np.abs(response)), magnitude, atol=1e-3)
    assert capsys.readouterr().out.startswith(f'{namespace["robot"].joint_names}\n-0.4')  # type: ignore[attr-defined]


def test_every_key_of_a_link_is_explained() -> None:
    rows = re.findall(r'^\| `(\w+)` \|', PAGE, flags=re.MULTILINE)
    assert rows == list(flexible_description._KEYS)


@pytest.mark.parametrize(
    ('ratio', 'rotary', 'shear'), [(0, 2.32, 2.32), (60 / 165, 0.98, 1.75), (10, 0, 1.5)]
)
def test_size_of_what_is_left_out(ratio: float, rotary: float, shear: float) -> None:
    """Rayleigh's quotient with the mode of the beam: moments EI X'', shear forces EI X'''."""
    modes = Beam(1.0, 1.0, 1.0, tip_mass=ratio).modes(1)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    square = [weights / 2 @ modes.shapes((nodes + 1) / 2, k)[0] ** 2 for k in range(4)]
    mass = square[0] + ratio * modes.shapes([1.0])[0, 0] ** 2
    assert square[1] / mass / 2 == pytest.approx(rotary, abs=0.006 if rotary else 0.1)
    assert square[3] / square[2] / 2 == pytest.approx(shear, abs=0.012)
    assert f'{shear:g}' in PAGE


def test_machine_has_the_numbers_of_its_flexible_boom() -> None:
    machine = (ROOT / 'docs' / 'machine.md').read_text(encoding='utf-8')
    description = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
    (boom,) = flexible_description.read_flexible(description)
    for plane, words in (('w', 'vertical'), ('v', 'lateral')):
        (row,) = re.findall(rf'^\| Boom bending stiffness E I, {words}.*', machine, re.MULTILINE)
        assert f' {boom.bending_stiffness[plane][0]:.1e} N m²'.replace('e+', 'e') in row
    robot = kd.load(ROOT / 'urdf' / 'stacker_reclaimer.urdf', flexible=description)
    ((v1, w1),) = joint_map(robot, 'luff', [0.0]).frequencies
    assert f'lie at {w1:.2f} Hz (vertical) and {v1:.2f} Hz (lateral)' in machine
    assert f'hangs {-quasi_static_equilibrium(robot, [0, 0, 0])[-1]:.2f} m below' in machine


@pytest.fixture(scope='module')
def tables() -> Iterator[Any]:
    """The generator of the page's tables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / 'docs')
        yield importlib.import_module('flexible_links.tables')
    for name in [name for name in sys.modules if name.split('.')[0] == 'flexible_links']:
        del sys.modules[name]


def row(name: str) -> list[str]:
    (found,) = re.findall(rf'^\| {re.escape(name)} \| (.*) \|$', PAGE, flags=re.MULTILINE)
    return str(found).split(' | ')


@pytest.mark.parametrize(
    'name', some_of(["the model's numbers", 'half the friction'], ["the model's numbers"])
)
def test_shaping_gains_what_the_table_says(tables: Any, name: str) -> None:
    assert tables.SHAPINGS[0] == 'zv'
    for joint, cell in zip(('slew', 'luff'), row(name), strict=True):
        (ratio,) = tables.ratios(tables.MACHINES[name], joint, ('zv',))
        assert float(cell.split(' / ')[0]) == pytest.approx(ratio, rel=0.15), joint


def test_damping_gains_what_the_table_says(tables: Any) -> None:
    name = 'up and down, 5 kN s'
    for damping, cell in zip((False, True), row(name), strict=True):
        time = tables.settling_time(*tables.GUSTS[name], damping=damping)
        assert float(cell.removesuffix(' s')) == pytest.approx(time, rel=0.15)


def test_tables_are_in_their_places(tables: Any) -> None:
    page = tables.with_table(tables.with_table(PAGE, 'robustness', 'one'), 'gusts', 'another')
    assert '-->\n\none\n\n<!-- end' in page
    assert '-->\n\nanother\n\n<!-- end' in page
    for name in (*tables.MACHINES, *tables.GUSTS):
        assert row(name)
        assert f'| {name} |' not in page
    assert page.count('\n') == PAGE.count('\n') - len(tables.MACHINES) - len(tables.GUSTS) - 2
    with pytest.raises(ValueError, match="0 places for a table 'gust'"):
        tables.with_table(PAGE, 'gust', 'one')


def test_links_lead_somewhere() -> None:
    for link in re.findall(r'\]\(([^)#:]+)\)', PAGE):
        assert (ROOT / 'docs' / link).exists(), link


def percents(name: str) -> list[float]:
    return [float(cell.removesuffix(' %')) for cell in row(name)]


@pytest.mark.filterwarnings('ignore::kron_dynamics.ModelWarning')
@pytest.mark.parametrize('delta', [1, 5, 10, 20, 30])
def test_errors_of_bent_links(delta: int) -> None:
    """Against the exact theory, the beam that the page names."""
    length, line_mass, tip_mass, g = 4.0, 3.0, 24.0, 9.80665
    sag = g * (tip_mass * length**2 / 3 + line_mass * length**3 / 8)
    stiffness = sag / (delta / 100)
    J = line_mass * length**3 / 12
    text = f"""<robot name="cantilever"><link name="base"/>
<joint name="lift" type="continuous"><parent link="base"/><child link="beam"/>
  <axis xyz="0 -1 0"/></joint>
<link name="beam"><inertial><origin xyz="{length / 2} 0 0"/><mass value="{line_mass * length}"/>
  <inertia ixx="0" iyy="{J}" izz="{J}" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="end" type="fixed"><parent link="beam"/><child link="tip"/>
  <origin xyz="{length} 0 0"/></joint>
<link name="tip"/></robot>"""
    beam = {'length': length, 'bending_stiffness': stiffness, 'modes': {'w': 3}}
    robot = uncompiled(
        text, flexible={'flexible_links': {'beam': beam}}, payload={'tip': tip_mass}
    )
    q = quasi_static_equilibrium(robot, [0.0])
    pose = forward_kinematics(robot.model, q, 'tip')
    bent, straight = (
        robot.linearize(at, 0 * q, 0 * q).part([1, 2, 3]).frequencies()[0] for at in (q, 0 * q)
    )
    exact = Elastica(
        length, lambda x: stiffness + 0 * x, lambda x: line_mass + 0 * x, tip_mass, gravity=(0, -g)
    )
    x, z, turn = exact.tip()
    w1 = exact.frequencies()[0]
    found = [pose[2, 3] / z, (length - pose[0, 3]) / (length - x)]
    found += [np.arctan2(pose[2, 0], pose[0, 0]) / turn, bent / w1, straight / w1]
    errors = 100 * (np.array(found) - 1)
    np.testing.assert_allclose(percents(f'{delta} %'), errors, rtol=0.06, atol=0.006)


@pytest.mark.parametrize('share', ['0.0002', '0.024', '0.12', '0.5', '2.4'])
def test_errors_of_beams_on_light_hubs(share: str) -> None:
    """Frequencies of a beam with a tip mass on a hub: sixteen modes have converged."""
    length, line_mass, tip_mass, EI = 60.0, 2750.0, 60e3, 1.8e11
    hub = float(share) * (line_mass * length**3 / 3 + tip_mass * length**2)
    modes = Beam(length, EI, line_mass, tip_mass).modes(16)
    found = {}
    whole = beam_integrals(modes)
    for n in (1, 2, 16):
        M = np.zeros((n + 1, n + 1))
        M[0, 0] = hub + line_mass * length**3 / 3 + tip_mass * length**2
        tip = whole.tip_deflection[:n]
        M[0, 1:] = M[1:, 0] = line_mass * whole.D[:n] + tip_mass * length * tip
        M[1:, 1:] = line_mass * whole.m[:n, :n] + tip_mass * np.outer(tip, tip)
        K = np.zeros_like(M)
        K[1:, 1:] = EI * whole.k[:n, :n]
        found[n] = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)[1])
    errors = [100 * (found[n] / found[16] - 1) for n in (1, 2)]
    np.testing.assert_allclose(percents(share), errors, rtol=0.06, atol=0.006)
