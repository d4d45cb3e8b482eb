# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The public surface: every name resolves, every callable says what it returns."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import kron_dynamics as kd

ARRAY = re.compile(r'(?:Float|Scalar|Complex|Bool|Byte|Int|Index)Array|ndarray')
SHAPE = re.compile(r'\bshape\b|\(\)|\((?:\w+,|[\w*]+(?:, [\w*]+)+)\)')
UNIT = re.compile(r'\b(?:rad|m|kg|s|N|J|unit)\b|1/s')
SEE = re.compile(r'`\w+`')  # the half of a quantity may refer to the whole


@functools.cache
def modules() -> list[ModuleType]:
    """Every public module that needs no ROS."""
    found = [kd]
    for known in pkgutil.walk_packages(kd.__path__, 'kron_dynamics.'):
        parts = known.name.split('.')
        if parts[1] != 'ros' and not any(part.startswith('_') for part in parts):
            found.append(importlib.import_module(known.name))
    return found


def described() -> Iterator[tuple[str, Any]]:
    """Every public function, class and method, once, and where it is."""
    for module in modules():
        for name, item in vars(module).items():
            if name.startswith('_') or getattr(item, '__module__', None) != module.__name__:
                continue
            where = f'{module.__name__}.{name}'
            if inspect.isclass(item):
                yield where, item
                for member_name, member in vars(item).items():
                    member = getattr(member, '__func__', member)
                    member = getattr(member, 'fget', member)
                    member = getattr(member, '__wrapped__', member)  # of a compiled method
                    if not member_name.startswith('_') and inspect.isfunction(member):
                        yield f'{where}.{member_name}', member
            elif inspect.isfunction(inspect.unwrap(item)):
                yield where, inspect.unwrap(item)


def test_modules_are_found() -> None:
    names = {module.__name__ for module in modules()}
    assert {'kron_dynamics.robot', 'kron_dynamics.kernels.trace'} <= names
    assert len(list(described())) > 100


# What follows goes through thousands of names in one test each: a test of its own for each of
# them would take longer than looking at it.
def test_all_resolves_is_sorted_and_unique() -> None:
    for module in modules():
        names = getattr(module, '__all__', [])
        assert [name for name in names if not hasattr(module, name)] == [], module
        assert names == sorted(set(names)), module


def test_modules_say_what_they_are_for() -> None:
    silent = [
        module.__name__
        for module in modules()
        if module.__file__ is not None and not module.__doc__
        if len(inspect.getsource(module).splitlines()) > 2
    ]
    assert silent == []


def test_package_exports_what_a_user_types() -> None:
    assert {'load', 'loads', 'Robot', 'RobotModel', 'ModelError'} <= set(kd.__all__)
    assert kd.__version__


def test_every_error_is_the_packages_and_a_builtin_one() -> None:
    classes = [item for item in vars(kd.exceptions).values() if inspect.isclass(item)]
    assert all(item.__name__ in kd.__all__ for item in classes)
    errors = [item for item in classes if not issubclass(item, Warning)]
    assert len(errors) > 5
    for error in errors:
        assert issubclass(error, kd.KronDynamicsError)
        if error is not kd.KronDynamicsError:
            builtin = (ValueError, TypeError, LookupError, RuntimeError, OSError)
            assert issubclass(error, builtin), error


def test_docstrings_say_what_comes_back_and_its_shape() -> None:
    wrong = {}
    for where, item in described():
        doc = inspect.getdoc(item)
        returned = str(getattr(item, '__annotations__', {}).get('return', ''))
        if not doc:
            wrong[where] = 'no docstring'
        elif not inspect.isclass(item) and ARRAY.search(returned) and not SHAPE.search(doc):
            wrong[where] = f'returns {returned}, but no shape is given: {doc}'
    assert wrong == {}


def quantities() -> Iterator[tuple[str, Any, Any]]:
    """Every exported function and method whose numbers mean something in the world."""
    for package in (kd.kinematics, kd.dynamics):
        for name in package.__all__:
            yield name, getattr(package, name), None
    for owner in (kd.Robot, kd.RobotFrame, kd.RobotModel):
        for name, member in inspect.getmembers(owner, inspect.isfunction):
            if ARRAY.search(str(member.__annotations__.get('return', ''))):
                yield f'{owner.__name__}.{name}', member, owner


def test_docstrings_of_quantities_give_units() -> None:
    without = {}
    for name, item, owner in quantities():
        spoken = f'{inspect.getdoc(item)} {inspect.getdoc(owner) if owner else ""}'
        if not UNIT.search(spoken) and not SEE.search(spoken):
            without[name] = spoken
    assert without == {}
