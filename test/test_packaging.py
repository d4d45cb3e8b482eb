# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The package description, the lock and the interface files agree with each other."""

from __future__ import annotations

import ast
import importlib
import re
import runpy
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import setuptools
from statements import statements

ROOT = Path(__file__).resolve().parents[1]
INTERFACES = ROOT / 'kron_dynamics_msgs'
MANIFESTS = [ROOT / 'package.xml', INTERFACES / 'package.xml']
INTERFACE_FILES = sorted([*INTERFACES.glob('msg/*.msg'), *INTERFACES.glob('srv/*.srv')])
# What catkin_pkg accepts; with another address colcon silently takes the package for plain Python.
EMAIL = re.compile(
    r'[-a-zA-Z0-9_%+]+(\.[-a-zA-Z0-9_%+]+)*@[-a-zA-Z0-9%]+(\.[-a-zA-Z0-9%]+)*\.[a-zA-Z]{2,}'
)
# Import names whose rosdep key is not the name itself or python3-<name>.
ROSDEP_KEYS = {'urdf_parser_py': 'urdfdom_py'}
# Of data files.
FOLDERS = ('config', 'examples', 'launch', 'urdf')
PINNED = re.compile(r'([a-z0-9-]+)==[a-z0-9.]+( ; [^/:]+)?')


@pytest.fixture
def setup_arguments(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the keyword arguments setup.py gives to setuptools."""
    arguments: dict[str, Any] = {}
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(setuptools, 'setup', arguments.update)
    runpy.run_path('setup.py')
    return arguments


def requirement_names(lines: list[str]) -> set[str]:
    """Return the normalised package names of requirement lines."""
    found = (re.match(r'[A-Za-z0-9._-]+', line) for line in lines)
    return {re.sub(r'[-_.]+', '-', match[0]).lower() for match in found if match}


def imported_packages(folder: Path) -> set[str]:
    """Return the top-level names the Python files below a folder import, without Python's own."""
    names: set[str] = set()
    for path in folder.rglob('*.py'):
        for node in statements(path):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add(node.module or '')
    return {name.split('.')[0] for name in names} - sys.stdlib_module_names


def fields_of(path: Path) -> list[str]:
    """Return the lines of an interface file that declare a field."""
    lines = (line.strip() for line in path.read_text().splitlines())
    return [line for line in lines if line and not line.startswith('#') and line != '---']


@pytest.mark.parametrize('path', MANIFESTS, ids=lambda path: path.parent.name)
def test_manifest_is_valid(path: Path) -> None:
    package = pytest.importorskip('catkin_pkg.package')
    warnings: list[str] = []

    package.parse_package(path, warnings=warnings)

    assert warnings == []
    people = ElementTree.parse(path).getroot().iterfind('*[@email]')
    addresses = [person.attrib['email'] for person in people]
    assert addresses
    assert [address for address in addresses if not EMAIL.fullmatch(address)] == []


def test_versions_agree(setup_arguments: dict[str, Any]) -> None:
    manifest_versions = {ElementTree.parse(path).findtext('version') for path in MANIFESTS}
    changelog = (ROOT / 'CHANGELOG.rst').read_text()
    released = re.findall(r'^(\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)\n-+$', changelog, re.MULTILINE)

    assert manifest_versions == {setup_arguments['version']}
    assert released[0] == setup_arguments['version']


def test_manifest_names_what_is_imported(setup_arguments: dict[str, Any]) -> None:
    imported = imported_packages(ROOT / 'kron_dynamics') | imported_packages(ROOT / 'launch')
    keys = {node.text for node in ElementTree.parse(MANIFESTS[0]).iterfind('exec_depend')}
    # rosbags has a pip key only, which a released package may not depend on. It brings
    # backports.zstd along, where that is not yet Python's own compression.zstd.
    wanted = imported - {'kron_dynamics', 'rosbags', 'backports', 'compression'}
    # What only some users need is theirs to install: the error where it is missing says how.
    for packages in setup_arguments['extras_require'].values():
        wanted -= requirement_names(packages) - {'xacro'}

    missing = {
        name for name in wanted if not {name, f'python3-{name}', ROSDEP_KEYS.get(name)} & keys
    }
    assert missing == set()


def test_packages_are_kron_dynamics_and_all_below_it(setup_arguments: dict[str, Any]) -> None:
    folders = {path.parent for path in (ROOT / 'kron_dynamics').rglob('*.py')}
    expected = {'.'.join(folder.relative_to(ROOT).parts) for folder in folders}

    assert set(setup_arguments['packages']) == expected
    assert 'kron_dynamics_msgs' not in setup_arguments['packages']


def test_files_beside_the_modules_are_package_data(setup_arguments: dict[str, Any]) -> None:
    package = ROOT / 'kron_dynamics'
    patterns = setup_arguments['package_data']['kron_dynamics']
    shipped = {path for pattern in patterns for path in package.glob(pattern)}
    files = {path for path in package.rglob('*') if path.is_file()}

    assert {path for path in files if path.suffix not in ('.py', '.pyc')} == shipped


def test_data_files_are_installed(setup_arguments: dict[str, Any]) -> None:
    installed = {name for _, names in setup_arguments['data_files'] for name in names}

    paths = [path for name in FOLDERS for path in (ROOT / name).rglob('*.*')]
    files = {path.relative_to(ROOT).as_posix() for path in paths if path.suffix != '.pyc'}
    expected = {'package.xml', 'resource/kron_dynamics', *files}

    assert installed == expected


@pytest.mark.parametrize('command', ['kron_dynamics', 'dynamics_node', 'simulator_node'])
def test_console_script_is_importable(setup_arguments: dict[str, Any], command: str) -> None:
    scripts = setup_arguments['entry_points']['console_scripts']
    targets = dict(re.split(r'\s*=\s*', script) for script in scripts)
    module, function = targets[command].split(':')
    if '.ros.' in module:
        pytest.importorskip('rclpy')

    assert callable(getattr(importlib.import_module(module), function))


def test_lock_pins_every_package_and_names_no_place() -> None:
    lines = (ROOT / 'requirements.lock').read_text().splitlines()
    pins = [line for line in lines if not line.lstrip().startswith('#')]

    assert [line for line in pins if not PINNED.fullmatch(line)] == []
    assert [line for line in lines if '://' in line or line.lstrip().startswith('-')] == []


def test_requirements_are_locked(setup_arguments: dict[str, Any]) -> None:
    wanted = requirement_names((ROOT / 'requirements.in').read_text().splitlines())
    locked = requirement_names((ROOT / 'requirements.lock').read_text().splitlines())

    assert wanted - locked == set()
    assert requirement_names(setup_arguments['install_requires']) - wanted == set()
    assert requirement_names(setup_arguments['extras_require']['test']) - wanted == set()


@pytest.mark.parametrize('path', INTERFACE_FILES, ids=lambda path: path.stem)
def test_interface_file_is_built_and_every_field_explained(path: Path) -> None:
    listed = (INTERFACES / 'CMakeLists.txt').read_text()
    dependencies = {node.text for node in ElementTree.parse(MANIFESTS[1]).iterfind('depend')}
    fields = fields_of(path)

    assert f'"{path.relative_to(INTERFACES).as_posix()}"' in listed
    assert [line for line in fields if not re.search(r' # .*\w', line)] == []
    assert {line.split('/')[0] for line in fields if '/' in line.split()[0]} <= dependencies


@pytest.mark.parametrize('path', sorted(INTERFACES.glob('srv/*')), ids=lambda path: path.stem)
def test_service_answer_starts_with_success_and_message(path: Path) -> None:
    answer = path.read_text().split('\n---\n')[1].splitlines()

    assert [line.split('#')[0].split() for line in answer[:2]] == [
        ['bool', 'success'],
        ['string', 'message'],
    ]
