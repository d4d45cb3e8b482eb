# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""load and loads: warnings, strictness, xacro."""

from __future__ import annotations

import builtins
import re
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.model.xacro_messages import messages_of_xacro

ROBOTS = Path(__file__).parent / 'robots'
ARM = (ROBOTS / 'planar_2r.urdf').read_text(encoding='utf-8')
LIMIT = re.compile('<limit lower="([^"]*)" upper="([^"]*)"')
REVERSED = LIMIT.sub(r'<limit lower="\2" upper="\1"', ARM)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / 'robot.urdf'
    path.write_text(REVERSED, encoding='utf-8')
    return path


def test_good_robots_load_without_a_word() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        robot = kd.load(ROBOTS / 'planar_2r.urdf', strict=True)
        kd.loads((ROBOTS / 'branched.urdf').read_text(encoding='utf-8'))  # has hints alone
    assert robot.model.warnings == ()


def test_one_warning_a_load_at_the_line_that_loads(file: Path) -> None:
    for load in (lambda: kd.load(file), lambda: kd.loads(REVERSED)):
        with pytest.warns(kd.ModelWarning) as caught:
            robot = load()
        (record,) = caught
        assert record.filename == __file__
        assert str(record.message) == (
            f"robot '{robot.model.name}': 2 warnings, the first: joint 'shoulder': its lower "
            f'limit 3 is above its upper limit -3; the range between the two is taken; '
            f'robot.model.warnings has them all, `kron_dynamics check` shows them '
            f'[limits_reversed]'
        )
        assert [w.subject for w in robot.model.warnings] == ["joint 'shoulder'", "joint 'elbow'"]


def test_strict_loading_raises_the_first_warning(file: Path) -> None:
    with pytest.raises(kd.ModelError) as caught:
        kd.load(file, strict=True)
    (first, _) = kd.model.load_model(REVERSED).warnings
    assert str(caught.value) == f'{file}: {first}'
    assert isinstance(caught.value.__cause__, kd.ModelWarning)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        robot = kd.load(file, strict=True, allow=('limits_reversed',))
    assert len(robot.model.warnings) == 2


@pytest.mark.parametrize('allow', [('limits',), 'limits', ('x' * 100_000,)])
def test_unknown_kinds_are_refused_with_those_there_are(allow: Any) -> None:
    with pytest.raises(kd.ParameterError, match='expected kinds.*limits_reversed') as caught:
        kd.loads(ARM, strict=True, allow=allow)
    assert len(str(caught.value)) < 1500


XACRO = ARM.replace('<robot ', '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ', 1).replace(
    '</robot>', '<xacro:include filename="tool.xacro"/></robot>'
)
TOOL = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:arg name="mass" default="2"/>
<xacro:property name="half" value="${0.5 * pi}"/>
<link name="tool"><inertial><mass value="$(arg mass)"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="wrist" type="continuous"><parent link="hand"/><child link="tool"/>
<origin rpy="0 0 ${half}"/></joint></robot>"""


@pytest.fixture
def macros(tmp_path: Path) -> Path:
    pytest.importorskip('xacro')
    (tmp_path / 'tool.xacro').write_text(TOOL, encoding='utf-8')
    path = tmp_path / 'robot.urdf.xacro'
    path.write_text(XACRO, encoding='utf-8')
    return path


def test_xacro_files_are_expanded(macros: Path) -> None:
    robot = kd.load(macros)
    assert robot.joint_names == ('shoulder', 'elbow', 'wrist')
    np.testing.assert_array_equal(robot.model.joints[2].rotation[:, 0], [0, 1, 0])
    masses = [
        kd.load(macros, xacro_args=arguments).model.bodies[2].mass
        for arguments in (None, {'mass': '7'}, {})
    ]
    assert masses == [2, 7, 2]


def test_an_argument_that_the_file_does_not_have(macros: Path) -> None:
    arguments = {'mass': '7', 'maas': '3', 'half': '2'}
    with pytest.warns(kd.ModelWarning, match='2 warnings.*half') as told:
        robot = kd.load(macros, xacro_args=arguments)
    assert len(told) == 1
    assert robot.model.bodies[2].mass == 7
    assert [w.subject for w in robot.model.warnings] == [
        f"xacro argument '{n}'" for n in ('half', 'maas')
    ]
    assert 'the file has mass only' in robot.model.warnings[1].finding
    with pytest.raises(kd.ModelError, match="robot.urdf.xacro: xacro argument 'maas'"):
        kd.load(macros, xacro_args={'maas': '3'}, strict=True)
    kd.load(macros, xacro_args={'maas': '3'}, strict=True, allow=['unused_xacro_argument'])
    with pytest.warns(kd.ModelWarning, match='the file has no arguments'):
        kd.loads(
            XACRO.replace('<xacro:include filename="tool.xacro"/>', '<xacro:if value="0"/>'),
            xacro_args={'a': ''},
        )


def test_an_argument_is_used_without_a_declaration(macros: Path) -> None:
    macros.with_name('tool.xacro').write_text(
        TOOL.replace('<xacro:arg name="mass" default="2"/>', ''), encoding='utf-8'
    )
    assert kd.load(macros, xacro_args={'mass': '7'}, strict=True).model.bodies[2].mass == 7


def test_xacro_text_is_expanded_where_the_caller_has_it(macros: Path) -> None:
    text = XACRO.replace('tool.xacro', str(macros.with_name('tool.xacro')))
    assert kd.loads(text, xacro_args={'mass': '3'}).model.bodies[2].mass == 3


def test_text_of_a_file_is_as_the_file(macros: Path) -> None:
    robot = kd.loads(XACRO, path=macros)
    assert robot.model.fingerprint == kd.load(macros).model.fingerprint
    with pytest.raises(kd.ModelError, match=re.escape(f'{macros}: xacro argument')):
        kd.loads(XACRO, path=macros, xacro_args={'maas': '3'}, strict=True)
    with pytest.raises(kd.ModelError, match=re.escape(f'{macros}: URDF holds the xacro element')):
        kd.loads(XACRO, path=macros, expand_xacro=False)


def test_xacro_from_elsewhere_is_refused(macros: Path) -> None:
    text = XACRO.replace('tool.xacro', str(macros.with_name('tool.xacro')))
    with pytest.raises(kd.ModelError, match=r'<include>.*text from elsewhere is not'):
        kd.loads(text, expand_xacro=False)
    with pytest.raises(kd.ModelError, match='<include>'):
        kd.model.load_model(text)


def test_a_namespace_without_macros_needs_no_xacro(monkeypatch: pytest.MonkeyPatch) -> None:
    without_xacro(monkeypatch)
    text = XACRO.replace('<xacro:include filename="tool.xacro"/>', '<!-- <xacro:if/> -->')
    assert kd.loads(text).n == 2


def without_xacro(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def imported(name: str, *arguments: Any, **options: Any) -> Any:
        if name.split('.')[0] == 'xacro':
            raise ModuleNotFoundError(f'No module named {name!r}', name='xacro')
        return real_import(name, *arguments, **options)

    monkeypatch.setattr(builtins, '__import__', imported)


def test_xacro_that_is_not_installed(macros: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_xacro(monkeypatch)
    with pytest.raises(kd.ModelError, match=r'robot\.urdf\.xacro: .*pip install xacro'):
        kd.load(macros)


@pytest.mark.parametrize(
    ('old', 'new', 'words'),
    [
        ('tool.xacro', 'nowhere.xacro', 'nowhere'),
        ('<xacro:include filename="tool.xacro"/>', '<xacro:unknown/>', 'unknown'),
        ('<xacro:include filename="tool.xacro"/>', '<link name="${1/0}"/><xacro:if/>', 'zero'),
    ],
)
def test_broken_xacro_names_the_file_and_the_reason(
    old: str, new: str, words: str, macros: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    macros.write_text(XACRO.replace(old, new), encoding='utf-8')
    with pytest.raises(kd.ModelError, match=words) as caught:
        kd.load(macros)
    assert str(macros) in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert capfd.readouterr() == ('', '')


TELLING = "<xacro:if value=\"${xacro.%s('no', 'tool') or False}\"></xacro:if>"


@pytest.mark.parametrize(
    ('function', 'kind', 'severity'),
    [
        ('error', 'xacro_error', 'warning'),
        ('warning', 'xacro_message', 'hint'),
        ('message', 'xacro_message', 'hint'),
    ],
)
def test_what_xacro_prints_is_told(
    function: str, kind: str, severity: str, macros: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    use = TELLING % function
    macros.write_text(XACRO.replace('</robot>', f'{use}{use}</robot>'), encoding='utf-8')
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', kd.ModelWarning)
        (told,) = kd.load(macros).model.warnings
    assert (told.kind, told.severity) == (kind, severity)
    assert told.finding.startswith('no tool')
    assert (str(macros) in told.finding) == (function != 'message')
    assert capfd.readouterr() == ('', '')
    if severity == 'warning':
        with pytest.raises(kd.ModelError, match='no tool'):
            kd.load(macros, strict=True)
    broken = XACRO.replace('</robot>', f'{use}<xacro:unknown/></robot>')
    macros.write_text(broken, encoding='utf-8')
    with pytest.raises(kd.ModelError, match='unknown.*before, it said: .*no tool'):
        kd.load(macros)


def test_other_threads_speak_while_xacro_is_expanded(capsys: pytest.CaptureFixture[str]) -> None:
    with messages_of_xacro() as messages:
        other = threading.Thread(target=print, args=('elsewhere',))
        other.start()
        other.join()
        print('here')
    assert capsys.readouterr().out == 'elsewhere\n'
    assert messages == ['here']


@pytest.mark.parametrize(
    ('start', 'kinds'),
    [
        ('<?xml version="1.0"?>', set()),
        ('\n<?xml version="1.0"?>', {'xml_declaration'}),
        ('<?xml version="1.0" encoding="UTF-16"?>', set()),
    ],
)
def test_xacro_may_start_as_a_urdf_may(start: str, kinds: set[str], macros: Path) -> None:
    text = XACRO.replace('<?xml version="1.0"?>', start)
    assert text.startswith(start)
    path = macros.with_name('robot.urdf')  # known as xacro by its elements
    path.write_text(text, encoding='utf-16' if 'UTF-16' in start else 'utf-8')
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', kd.ModelWarning)
        model = kd.load(path).model
    assert model.n == 3 and {warning.kind for warning in model.warnings} == kinds


def test_xacro_without_its_namespace_is_told(macros: Path) -> None:
    macros.write_text(XACRO.replace('xmlns:xacro', 'xmlns:other'), encoding='utf-8')
    with pytest.raises(kd.ModelError, match='unbound prefix'):
        kd.load(macros)


@pytest.mark.parametrize('arguments', [{'mass': 7}, {7: 'mass'}])
def test_arguments_of_xacro_are_texts(macros: Path, arguments: Any) -> None:
    with pytest.raises(kd.ArgumentTypeError, match='xacro_args'):
        kd.load(macros, xacro_args=arguments)
