# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Launch files, run with stand-ins and, where `launch_ros` is installed, for real."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import stand_ins
import yaml

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where ROS finds the package, as colcon installs it, but without executables."""
    share = tmp_path / 'share' / 'kron_dynamics'
    for folder in ('config', 'launch', 'urdf'):
        shutil.copytree(ROOT / folder, share / folder)
    index = tmp_path / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    (index / 'kron_dynamics').touch()
    (tmp_path / 'lib' / 'kron_dynamics').mkdir(parents=True)
    found = os.environ.get('AMENT_PREFIX_PATH')
    monkeypatch.setenv('AMENT_PREFIX_PATH', os.pathsep.join(filter(None, [str(tmp_path), found])))
    monkeypatch.setenv('ROS_LOG_DIR', str(tmp_path / 'log'))
    return tmp_path


@pytest.fixture
def make_executable(prefix: Path) -> Callable[[str, str], None]:
    """Make a Python text the executable of a node."""

    def make(name: str, text: str) -> None:
        script = prefix / 'lib' / 'kron_dynamics' / name
        script.write_text(f'#!{sys.executable}\n{text}', encoding='utf-8')
        script.chmod(0o755)

    return make


# Instead of a node: writes its arguments down, with the parameter files, which are temporary.
# It then waits for the other ones, as a simulated robot ends with the first of its nodes.
RECORDER = """
import json, os, pathlib, signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
folder = pathlib.Path(os.environ['RECORDS'])
files = [sys.argv[i + 1] for i, word in enumerate(sys.argv) if word == '--params-file']
record = {'words': sys.argv[1:], 'files': [pathlib.Path(file).read_text() for file in files]}
name = pathlib.Path(sys.argv[0]).name
(folder / name).write_text(json.dumps(record))
(folder / name).rename(folder / (name + '.json'))
end = time.monotonic() + 120
while len(list(folder.glob('*.json'))) < int(os.environ['NODES']) and time.monotonic() < end:
    time.sleep(0.01)
"""


class Started:
    """What a node was started with."""

    def __init__(self, name: str, parameters: list[Any], remaps: Any, log_level: str) -> None:
        self.parameters: dict[str, Any] = {}
        for content in parameters:
            for address, values in content.items():
                if address == '/**' or address.endswith(f'/{name}'):
                    self.parameters.update(values['ros__parameters'])
        self.remaps = dict(remaps)
        self.log_level = log_level


def _by_stand_ins(
    path: Path, arguments: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> dict[str, Started]:
    for name, module in stand_ins.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    try:
        nodes = stand_ins.run(path, arguments, [])
    except (ValueError, OSError) as error:
        raise stand_ins.Stopped(str(error)) from error
    found = {}
    for node in nodes:
        given, name = node.names, node.names['name']
        parameters = []
        for part in given['parameters']:
            if isinstance(part, str):
                parameters.append(yaml.safe_load(Path(part).read_text()))
            else:
                values = {key: getattr(value, 'value', value) for key, value in part.items()}
                parameters.append({'/**': {'ros__parameters': values}})
        remaps = [('__node', name), *given['remappings']]
        if given['namespace']:
            remaps.append(('__ns', f'/{given["namespace"]}'))
        found[name] = Started(name, parameters, remaps, given['ros_arguments'][1])
    return found


def _by_launch(path: Path, arguments: Mapping[str, str], records: Path) -> dict[str, Started]:
    from launch import LaunchDescription, LaunchService
    from launch.actions import IncludeLaunchDescription
    from launch.launch_description_sources import PythonLaunchDescriptionSource

    source = PythonLaunchDescriptionSource(str(path))
    include = IncludeLaunchDescription(source, launch_arguments=arguments.items())
    service = LaunchService(noninteractive=True)
    service.include_launch_description(LaunchDescription([include]))
    code = service.run()
    found = {}
    for file in records.glob('*.json'):
        record = json.loads(file.read_text())
        words = record['words']
        after = [words[i + 1] for i, word in enumerate(words[:-1]) if word == '-r']
        found[file.stem] = Started(
            file.stem,
            [yaml.safe_load(text) for text in record['files']],
            [rule.split(':=') for rule in after],
            words[words.index('--log-level') + 1],
        )
    if code != 0:
        assert not found
        raise stand_ins.Stopped
    return found


@pytest.fixture(params=['stand-ins', 'launch'])
def launch(
    request: pytest.FixtureRequest,
    prefix: Path,
    make_executable: Callable[[str, str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., dict[str, Started]]:
    """Launch a file with something that records in place of nodes; return what was started."""
    if request.param == 'launch' and importlib.util.find_spec('launch_ros') is None:
        pytest.skip('launch_ros is not installed')
    records = prefix / 'records'
    records.mkdir()
    monkeypatch.setenv('RECORDS', str(records))
    for name in ('dynamics_node', 'simulator_node'):
        make_executable(name, RECORDER)

    def run(path: Path, **arguments: str) -> dict[str, Started]:
        simulated = arguments.get('simulated', str(path.name == 'demo.launch.py')).lower()
        monkeypatch.setenv('NODES', '2' if simulated == 'true' else '1')
        if request.param == 'launch':
            return _by_launch(path, arguments, records)
        return _by_stand_ins(path, arguments, monkeypatch)

    return run
