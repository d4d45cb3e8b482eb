# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What the launch files take of `launch` and `launch_ros`, where these are missing.

Nothing is started: `run` returns the nodes that would be.
"""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class Stopped(Exception):
    """A launch that ended with an error, before anything was started."""


class Thing:
    """Anything that is made from arguments."""

    def __init__(self, *places: Any, **names: Any) -> None:
        self.places, self.names = places, names


class LaunchDescription(Thing):
    pass


class DeclareLaunchArgument(Thing):
    @property
    def name(self) -> str:
        return str(self.places[0])


class IncludeLaunchDescription(Thing):
    pass


class OpaqueFunction(Thing):
    pass


class Node(Thing):
    pass


class LaunchConfiguration(Thing):
    def perform(self, context: Any) -> str:
        return str(context.launch_configurations[self.places[0]])


class ParameterValue:
    def __init__(self, value: Any, value_type: Any) -> None:
        if value_type == list[str]:
            assert all(type(word) is str for word in value)
        else:
            assert type(value) is value_type
        self.value = value


def path_of(*parts: Any) -> Path:
    """A path below the package's share folder, which is the repository's root here."""
    return ROOT.joinpath(*parts[0][1:])


def modules() -> dict[str, ModuleType]:
    """The modules by name."""
    contents: dict[str, dict[str, Any]] = {
        'launch': {'LaunchDescription': LaunchDescription, 'LaunchContext': SimpleNamespace},
        'launch.actions': {
            'DeclareLaunchArgument': DeclareLaunchArgument,
            'EmitEvent': Thing,
            'IncludeLaunchDescription': IncludeLaunchDescription,
            'OpaqueFunction': OpaqueFunction,
            'RegisterEventHandler': Thing,
        },
        'launch.event_handlers': {'OnProcessExit': Thing},
        'launch.events': {'matches_action': Thing},
        'launch.events.process': {'ShutdownProcess': Thing},
        'launch.substitutions': {
            'LaunchConfiguration': LaunchConfiguration,
            'PathJoinSubstitution': path_of,
        },
        'launch_ros': {},
        'launch_ros.actions': {'Node': Node},
        'launch_ros.parameter_descriptions': {'ParameterValue': ParameterValue},
        'launch_ros.substitutions': {'FindPackageShare': str},
    }
    made = {name: ModuleType(name) for name in contents}
    for name, content in contents.items():
        vars(made[name]).update(content)
    return made


def run(path: Path, arguments: Mapping[str, str], argv: list[str]) -> list[Node]:
    """Return the nodes that a launch file starts; its errors come as they are."""
    context = SimpleNamespace(launch_configurations=dict(arguments), argv=argv)
    return list(_started(_description(path), context))


def _description(path: Path) -> LaunchDescription:
    made = runpy.run_path(str(path))['generate_launch_description']()
    assert isinstance(made, LaunchDescription)
    return made


def _started(entity: Any, context: Any) -> Any:
    if isinstance(entity, LaunchDescription):
        for part in entity.places[0]:
            yield from _started(part, context)
    elif isinstance(entity, DeclareLaunchArgument):
        value = context.launch_configurations.setdefault(
            entity.name, str(entity.names['default_value'])
        )
        choices = entity.names.get('choices')
        if choices is not None and value not in choices:
            raise ValueError(f'{entity.name} is {value}, expected one of {choices}')
    elif isinstance(entity, IncludeLaunchDescription):
        yield from _started(_description(entity.places[0]), context)
    elif isinstance(entity, OpaqueFunction):
        for part in entity.names['function'](context):
            yield from _started(part, context)
    elif isinstance(entity, Node):
        yield entity
