# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The public surface: every name resolves, every callable says what it returns."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import kron_dynamics as kd

ARRAY = re.compile(r'(?:Float|Scalar|Complex|Bool|Byte|Int|Index)Array|ndarray')
SHAPE = re.compile(r'\bshape\b|\(\)|\((?:\w+,|[\w*]+(?:, [\w*]+)+)\)')
UNIT = re.compile(r'\b(?:rad|m|kg|s|N|J|unit)\b|1/s')
SEE = re.compile(r'`\w+`')  # the half of a quantity may refer to the whole


def modules() -> Iterator[ModuleType]:
    """Every public module that needs no ROS."""
    yield kd
    for found in pkgutil.walk_packages(kd.__path__, 'kron_dynamics.'):
        parts = found.name.split('.')
        if parts[1] != 'ros' and not any(part.startswith('_') for part in parts):
            yield importlib.import_module(found.name)


MODULES = list(modules())


def described() -> Iterator[Any]:
    """Every public function, class and method, once, with what speaks for it besides."""
    for module in MODULES:
        for name, item in vars(module).items():
            if name.startswith('_') or getattr(item, '__module__', None) != module.__name__:
                continue
            where = f'{module.__name__}.{name}'
            if inspect.isclass(item):
                yield pytest.param(item, item, module, id=where)
                for member_name, member in vars(item).items():
                    member = getattr(member, '__func__', member)
                    member = getattr(member, 'fget', member)
                    member = getattr(member, '__wrapped__', member)  # of a compiled method
                    if not member_name.startswith('_') and inspect.isfunction(member):
                        yield pytest.param(member, item, module, id=f'{where}.{member_name}')
            elif inspect.isfunction(inspect.unwrap(item)):
                yield pytest.param(inspect.unwrap(item), None, module, id=where)


DESCRIBED = list(described())


def test_modules_are_found() -> None:
    names = {module.__name__ for module in MODULES}
    assert {'kron_dynamics.robot', 'kron_dynamics.kernels.trace'} <= names
    assert len(DESCRIBED) > 100


@pytest.mark.parametrize('module', MODULES, ids=lambda module: module.__name__)
def test_all_resolves_is_sorted_and_unique(module: ModuleType) -> None:
    names = getattr(module, '__all__', [])
    assert [name for name in names if not hasattr(module, name)] == []
    assert len(names) == len(set(names))
    assert names == sorted(names)


@pytest.mark.parametrize('module', MODULES, ids=lambda module: module.__name__)
def test_modules_say_what_they_are_for(module: ModuleType) -> None:
    if module.__file__ is not None and len(inspect.getsource(module).splitlines()) > 2:
        assert module.__doc__


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


@pytest.mark.parametrize(('item', 'owner', 'module'), DESCRIBED)
def test_docstrings_say_what_comes_back_and_its_shape(
    item: Any, owner: Any, module: ModuleType
) -> None:
    doc = inspect.getdoc(item)
    assert doc, 'no docstring'
    returned = str(getattr(item, '__annotations__', {}).get('return', ''))
    if not inspect.isclass(item) and ARRAY.search(returned):
        assert SHAPE.search(doc), f'returns {returned}, but no shape is given: {doc}'


def quantities() -> Iterator[Any]:
    """Every exported function and method whose numbers mean something in the world."""
    for package in (kd.kinematics, kd.dynamics):
        for name in package.__all__:
            yield pytest.param(getattr(package, name), None, id=name)
    for owner in (kd.Robot, kd.RobotFrame, kd.RobotModel):
        for name, member in inspect.getmembers(owner, inspect.isfunction):
            if ARRAY.search(str(member.__annotations__.get('return', ''))):
                yield pytest.param(member, owner, id=f'{owner.__name__}.{name}')


@pytest.mark.parametrize(('item', 'owner'), list(quantities()))
def test_docstrings_of_quantities_give_units(item: Any, owner: Any) -> None:
    spoken = f'{inspect.getdoc(item)} {inspect.getdoc(owner) if owner else ""}'
    assert UNIT.search(spoken) or SEE.search(spoken), spoken
