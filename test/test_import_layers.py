# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Who may import whom: the package's architecture as a table."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parents[1] / 'kron_dynamics'

# Each may import what stands on a line before its own, and itself.
LAYERS = (
    ('exceptions', 'messages', 'typing'),
    (
        'arguments',
        'elementary',
        'folder_locks',
        'joint_state_layout',
        'reproducible',
        'resources',
    ),
    ('scalar_arguments',),
    ('dual',),
    ('kronecker',),
    ('model', 'taylor'),
    ('kinematics',),
    ('dynamics',),
    ('constraints', 'flexible'),
    ('closed_loops',),
    ('kernels',),
    ('constraint_kernels', 'frame', 'linearized', 'load_arguments', 'payload_kernels'),
    ('symbolic',),
    ('robot',),
    ('carrying', 'constrained'),
    ('equilibrium', 'loading', 'reduced', 'stability'),
    ('kron_dynamics',),  # the package's own __init__: the curated names
    ('identification', 'modes'),
    ('control', 'bag', 'export', 'simulation'),
    ('demo',),
    ('ros', 'cli'),
    ('start',),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
# The ways up: the command that starts the demo looks for ROS only when it is asked to, and the
# names of the nodes' parameters need none.
LAZY = {
    ('cli', 'kron_dynamics.ros.demo.demonstration'),
    ('cli', 'kron_dynamics.ros.joint_parameters'),
    ('cli', 'kron_dynamics.ros.node_parameters'),
}
ROS_ONLY = ('rclpy', 'launch', 'launch_ros', 'ament_index_python', 'rosbag2_py', 'tf2_ros')


class Import(NamedTuple):
    """An import statement, or a call of import_module."""

    source: str  # path in the package and line
    layer: str
    target: str
    lazy: bool


def layer_of(module: str) -> str:
    parts = module.removesuffix('.__init__').split('.')
    return parts[1] if len(parts) > 1 else parts[0]


def targets(node: ast.AST, module: str) -> Iterator[str]:
    """Modules that a node imports, relative imports resolved."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        package = module.split('.')[: -node.level] if node.level else []
        base = '.'.join([*package, *([node.module] if node.module else [])])
        # `from kron_dynamics import model` imports a module, `... import load` a name.
        for alias in node.names:
            below = f'{base}.{alias.name}'
            yield below if base == 'kron_dynamics' and alias.name in LEVEL else base
    elif isinstance(node, ast.Call) and node.args:
        function = getattr(node.func, 'attr', getattr(node.func, 'id', ''))
        name = node.args[0]
        if function.endswith(('import_module', '__import__')) and isinstance(name, ast.Constant):
            yield str(name.value)


def imports_of(text: str, module: str, source: str) -> Iterator[Import]:
    # Expressions, of which there are many, matter only where they may call what imports.
    calls = 'import_module' in text or '__import__' in text

    def visit(node: ast.AST, lazy: bool) -> Iterator[Import]:
        for target in targets(node, module):
            line = getattr(node, 'lineno', 0)
            yield Import(f'{source}:{line}', layer_of(module), target, lazy)
        inside = lazy or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for child in ast.iter_child_nodes(node):
            if calls or not isinstance(child, ast.expr):
                yield from visit(child, inside)

    yield from visit(ast.parse(text), False)


def all_imports() -> Iterator[Import]:
    for path in sorted(PACKAGE.rglob('*.py')):
        parts = path.relative_to(PACKAGE.parent).with_suffix('').parts
        source = str(path.relative_to(PACKAGE.parent))
        yield from imports_of(path.read_text(encoding='utf-8'), '.'.join(parts), source)


def forbidden(found: Import) -> str | None:
    """What is wrong with an import, None if nothing is."""
    root = found.target.split('.')[0]
    if root != 'kron_dynamics':
        foreign = root in ROS_ONLY or root.endswith('_msgs') or root.endswith('_interfaces')
        if foreign and found.layer != 'ros':
            return f'{found.source} imports {found.target}: only ros may'
        return None
    target = layer_of(found.target)
    if target not in LEVEL:
        return f'{found.source} imports {found.target}, which has no place in the table'
    if found.layer == target or (found.layer == 'cli' and found.lazy and target == 'ros'):
        allowed = found.layer == target or (found.layer, found.target) in LAZY
    elif found.layer == 'kron_dynamics':
        allowed = LEVEL[target] < LEVEL['kron_dynamics']
    else:
        allowed = LEVEL[target] < LEVEL[found.layer]
    return None if allowed else f'{found.source}: {found.layer} must not import {found.target}'


def test_every_part_of_the_package_has_a_place_in_the_table() -> None:
    parts = {path.stem for path in PACKAGE.iterdir() if path.is_dir() or path.suffix == '.py'}
    assert parts - {'__init__', '__pycache__'} <= set(LEVEL)


def test_imports_go_one_way() -> None:
    found = list(all_imports())
    assert len(found) > 100
    assert [wrong for wrong in map(forbidden, found) if wrong] == []


@pytest.mark.parametrize(
    ('module', 'text'),
    [
        ('kron_dynamics.model.tree', 'from kron_dynamics.kinematics import jacobian'),
        ('kron_dynamics.dynamics.gravity', 'import kron_dynamics.kernels.trace'),
        ('kron_dynamics.kernels.cache', 'import kron_dynamics'),
        ('kron_dynamics.kernels.cache', 'from kron_dynamics import robot'),
        ('kron_dynamics.robot', 'from .control import limits'),
        ('kron_dynamics.control.command_guard', 'from kron_dynamics.bag.reading import reader'),
        ('kron_dynamics.bag.reading.reader', 'def f():\n    import rclpy'),
        ('kron_dynamics.robot', 'from sensor_msgs.msg import JointState'),
        ('kron_dynamics.robot', 'def f():\n    from kron_dynamics.ros import main'),
        ('kron_dynamics.cli.info', 'def f():\n    import kron_dynamics.ros.dynamics_node'),
        (
            'kron_dynamics.cli.demo',
            'import importlib\nimportlib.import_module("kron_dynamics.ros.demo.demonstration")',
        ),
        (
            'kron_dynamics.bag.x',
            'def f():\n    import_module("kron_dynamics.ros.demo.demonstration")',
        ),
        ('kron_dynamics.ros.main', 'from kron_dynamics.cli import main'),
        ('kron_dynamics.robot', 'import kron_dynamics.misc'),
    ],
)
def test_wrong_edges_are_seen_and_named(module: str, text: str) -> None:
    complaints = [forbidden(found) for found in imports_of(text, module, 'some/file.py')]
    (complaint,) = [complaint for complaint in complaints if complaint]
    assert 'some/file.py' in complaint


@pytest.mark.parametrize(
    ('module', 'text'),
    [
        ('kron_dynamics.kernels.cache', 'from kron_dynamics.exceptions import ShapeError'),
        ('kron_dynamics.ros.main', 'import rclpy\nfrom kron_dynamics.control import reorder'),
        (
            'kron_dynamics.cli.demo',
            'def f():\n    import_module("kron_dynamics.ros.demo.demonstration")',
        ),
        (
            'kron_dynamics.cli.demo',
            'def f():\n    from kron_dynamics.ros.demo.demonstration import main',
        ),
        ('kron_dynamics.bag.reading.reader', 'from rosbags.rosbag2 import Reader'),
        ('kron_dynamics.cli.info', 'from kron_dynamics import load'),
    ],
)
def test_right_edges_pass(module: str, text: str) -> None:
    assert [
        forbidden(found) for found in imports_of(text, module, 'file.py') if forbidden(found)
    ] == []
