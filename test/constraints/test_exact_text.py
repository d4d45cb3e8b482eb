# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The data of constraints as text: equal texts mean equal geometry, whatever NumPy prints."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.constraints import (
    Attachment,
    BladeConstraint,
    Constraint,
    Coupling,
    DistanceLoop,
    HingeLoop,
    PolynomialCoupling,
    RollingWheel,
    WeldLoop,
)
from kron_dynamics.constraints.exact_text import exact_text


@dataclass(frozen=True)
class Holder(Constraint):
    """A constraint that holds any data; its conditions do not matter here."""

    name: str
    data: Any = None
    units = ('1',)

    def check(self, model: Any) -> None: ...

    def geometry(self, model: Any, q: Any, qd: Any) -> Any: ...


@dataclass(frozen=True, slots=True)
class Profile:
    """Data of a constraint, in a class of its own."""

    lift: Any
    later: float = field(init=False)


class Undecorated(Holder):
    """A subclass whose data are no fields."""

    def __init__(self, name: str, ratio: float) -> None:
        super().__init__(name)
        vars(self)['ratio'] = ratio


class Slotted(Holder):
    """A subclass whose data are in slots."""

    __slots__ = ('ratio',)


@dataclass
class Numbers(list[float]):
    """A dataclass whose data are also those of a list."""


class Plain(Constraint):
    """No dataclass."""

    units = ('1',)

    def __init__(self, name: str) -> None:
        self.name = name

    def check(self, model: Any) -> None: ...

    def geometry(self, model: Any, q: Any, qd: Any) -> Any: ...


X, NEXT = 0.9, np.nextafter(0.9, 1.0)
Made = Callable[[Any], Constraint]
NUMBERS: dict[str, Made] = {
    'point': lambda x: HingeLoop('c', Attachment('l', np.array([x, 0, 0])), 'm'),
    'point of b': lambda x: HingeLoop('c', 'm', Attachment('l', np.array([x, 0, 0]))),
    'axis': lambda x: HingeLoop('c', Attachment('l', axis=np.array([x, 0, 1])), 'm'),  # type: ignore[arg-type]
    'rpy': lambda x: WeldLoop('c', Attachment('l', rpy=np.array([x, 0, 1])), 'm'),  # type: ignore[arg-type]
    'length': lambda x: DistanceLoop('c', 'l', 'm', length=np.float64(x)),
    'direction': lambda x: BladeConstraint('c', 'l', np.array([x, 1, 0])),  # type: ignore[arg-type]
    'at': lambda x: BladeConstraint('c', 'l', (1.0, 0.0, 0.0), np.array([x, 1, 0])),  # type: ignore[arg-type]
    'normal': lambda x: RollingWheel('c', 'l', 1.0, np.array([x, 1, 0])),  # type: ignore[arg-type]
    'radius': lambda x: RollingWheel('c', 'l', np.array(x)),  # type: ignore[arg-type]
    'ratios': lambda x: Coupling('c', {'j': np.float64(x), 'i': np.array(1.0)}),
    'coefficients': lambda x: PolynomialCoupling('c', 'i', 'j', np.array([x, 1])),  # type: ignore[arg-type]
    'about': lambda x: PolynomialCoupling('c', 'i', 'j', (1.0,), about=np.array(x)),  # type: ignore[arg-type]
}
USERS: dict[str, Made] = {
    'number': lambda x: Holder('c', x),
    'long array': lambda x: Holder('c', np.append(np.zeros(5000), [x, *np.zeros(5000)])),
    'matrix': lambda x: Holder('c', [np.array([[1.0, x]]), {2, 1}, None]),
    'mapping': lambda x: Holder('c', {'a': (1, x), 'b': b'c'}),
    'view of a mapping': lambda x: Holder('c', MappingProxyType({x: True})),
    'dataclass': lambda x: Holder('c', Profile(np.array(x))),
    'attachment': lambda x: Holder('c', Attachment('l', (x, 0.0, 0.0))),
    'attribute of a subclass': lambda x: Undecorated('c', x),
}
EVERY = {**NUMBERS, **USERS}


@pytest.fixture(params=[None, 3], ids=['8 digits', '3 digits'])
def printing(request: pytest.FixtureRequest) -> Any:
    """What is printed does not matter."""
    with np.printoptions(precision=request.param):
        yield


@pytest.mark.usefixtures('printing')
@pytest.mark.parametrize('kind', EVERY)
def test_equal_data_have_equal_texts_and_the_next_number_has_another(kind: str) -> None:
    make = EVERY[kind]
    text = exact_text(make(X))
    assert text is not None and text == exact_text(make(X))
    assert exact_text(make(NEXT)) != text


@pytest.mark.parametrize('kind', NUMBERS)
def test_numbers_in_arrays_are_those_in_tuples(kind: str) -> None:
    """Equal, with a hash, and not altered together with an array."""
    made = NUMBERS[kind](X)
    assert made == NUMBERS[kind](X)
    if kind != 'ratios':  # a mapping
        assert hash(made) == hash(NUMBERS[kind](X))
    point = np.array([1.0, 2.0, 3.0])
    loop = HingeLoop('c', Attachment('l', point), 'm')  # type: ignore[arg-type]
    point[:] = 0.0
    assert loop == HingeLoop('c', Attachment('l', (1, 2, 3)), 'm')
    assert loop.point() == (1.0, 2.0, 3.0)


def test_shape_and_type_belong_to_the_text() -> None:
    data = [np.zeros(4), np.zeros((2, 2)), np.zeros(4, dtype=np.int64), [0.0] * 4, (0.0,) * 4]
    data += ['0.0', 0.0, -0.0, 0, False, None, np.float32(0), np.array(0.0)]
    texts = [exact_text(Holder('c', each)) for each in data]
    assert None not in texts and len(set(texts)) == len(texts)


def test_what_is_computed_from_the_data_is_none() -> None:
    loop = HingeLoop('c', Attachment('l', axis=(0.0, 1.0, 0.2)), 'm')
    text = exact_text(loop)
    assert isinstance(loop.a, Attachment)
    loop.a.rotation()  # remembered
    assert exact_text(loop) == text


def local() -> Constraint:
    @dataclass(frozen=True)
    class Local(Holder):
        pass

    return Local('c')


NONE: dict[str, Callable[[], Constraint]] = {
    'no dataclass': lambda: Plain('c'),
    'function': lambda: Holder('c', lambda x: x),
    'object': lambda: Holder('c', object()),
    'partial': lambda: Holder('c', [functools.partial(max, 1)]),
    'objects in an array': lambda: Holder('c', np.array([None])),
    'attributes that are no fields': lambda: Holder('c', SimpleNamespace(x=1.0)),
    'another class derived from a known one': lambda: Holder('c', np.ma.array([1.0])),
    'slots': lambda: Slotted('c'),
    'dataclass that is a list': lambda: Holder('c', Numbers()),
    'class made in a function': local,
}


@pytest.mark.parametrize('kind', NONE)
def test_other_data_have_no_text(kind: str) -> None:
    assert exact_text(NONE[kind]()) is None


def test_classes_of_other_modules_have_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their file is not among the sources of a kernel."""
    made = Holder('c', Profile(1.0))
    assert exact_text(made) is not None
    monkeypatch.setattr(Profile, '__module__', 'somewhere_else')
    assert exact_text(made) is None


@pytest.mark.parametrize('at', [(1.0, 2.0), 'here', (0.0, 0.0, np.nan)])
def test_the_point_of_a_blade_is_checked(at: Any) -> None:
    with pytest.raises(kd.KronDynamicsError, match='knife'):
        BladeConstraint('knife', 'l', (1.0, 0.0, 0.0), at)
