# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Fuzz cases of calls: valid arguments of any type give right numbers, invalid ones an error."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from guarding import Finding, guarded

import kron_dynamics as kd
from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.kernels import kernel_factory
from kron_dynamics.kernels.compiled import compiled_methods

ROOT = Path(__file__).parents[2]
ROBOTS = {
    'rrp': (ROOT / 'test' / 'robots' / 'rrp.urdf', None),
    'gripper': (ROOT / 'test' / 'robots' / 'gripper.urdf', None),
    'stacker_reclaimer': (
        ROOT / 'urdf' / 'stacker_reclaimer.urdf',
        ROOT / 'config' / 'stacker_reclaimer_flexible.yaml',
    ),
}
CLOSE = 1e-9


class OwnFloat(float):
    """A user-defined subclass of float."""


class Wrapped:
    """An object that converts to an array."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.values, dtype=dtype)


class Broken:
    """An object all of whose methods raise foreign errors."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise ZeroDivisionError('no array')

    def __len__(self) -> int:
        raise OSError('no length')

    def __repr__(self) -> str:
        raise RuntimeError('no representation')


def _spread(array: Any) -> Any:
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]))
    wide[..., ::2] = array
    return wide[..., ::2]


def _sealed(array: Any) -> Any:
    array = array.copy()
    array.setflags(write=False)
    return array


def _offset(array: Any) -> Any:
    """Return an array that is not aligned to eight bytes."""
    raw = np.empty(array.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(array.shape)
    raw[...] = array
    return raw


GUISES: list[Callable[[Any], Any]] = [
    *(np.copy, np.copy, np.copy, np.ndarray.tolist, _spread, _sealed, _offset, Wrapped),
    *(np.asfortranarray, lambda a: a.astype('>f8'), lambda a: a.astype(np.longdouble)),
    lambda a: tuple(a.tolist()),
    lambda a: [tuple(row) for row in a.tolist()] if a.ndim == 2 else list(a),
    lambda a: [[OwnFloat(x) for x in row] for row in np.atleast_2d(a)][
        0 if a.ndim < 2 else slice(None)
    ],
    lambda a: [Fraction(x) for x in a] if a.ndim == 1 else [list(map(Decimal, r)) for r in a],
    lambda a: memoryview(np.ascontiguousarray(a)),
]
_NONE = [
    *(None, 'abc', b'abc', {}, set(), object(), Broken(), len, 1j, True, Ellipsis, '', float),
    *('1.0', np.datetime64('2026-01-01'), np.ma.masked, Wrapped('x'), 10**400, Decimal('sNaN')),
]
SPOILS: list[Callable[[Any, np.random.Generator], Any]] = [
    lambda a, rng: _NONE[int(rng.integers(len(_NONE)))],
    lambda a, rng: a.astype(complex),
    lambda a, rng: a > 0,
    lambda a, rng: a.astype(object),
    lambda a, rng: a.astype(str),
    lambda a, rng: a.astype('M8[s]'),
    lambda a, rng: np.ma.array(a, mask=a > 0),
    lambda a, rng: np.zeros(a.shape, dtype=[('x', float)]),
    lambda a, rng: np.append(a.ravel(), 1.0),
    lambda a, rng: a[..., :-1],
    lambda a, rng: a[None, None],
    lambda a, rng: [*np.atleast_2d(a)[0][:-1].tolist(), _NONE[int(rng.integers(len(_NONE)))]],
    lambda a, rng: [*np.atleast_2d(a)[0][:-1].tolist(), [1.0]],
    lambda a, rng: (x for x in a),
]


@functools.cache
def robots(name: str) -> tuple[kd.Robot, kd.Robot]:
    """Return a robot twice: with compiled and with interpreted kernels."""
    path, flexible = ROBOTS[name]
    pair = []
    find = kernel_factory.find_compiler
    try:
        for found in (find, lambda: None):
            kernel_factory.find_compiler = found
            robot = kd.load(path, flexible=flexible)
            if flexible is None:
                robot.prepare(robot.model.tip_link)
            for owner in (robot, robot.frame(robot.model.tip_link)):
                for method in compiled_methods(type(owner)):
                    try:
                        getattr(owner, method)
                    except kd.ModelError:  # not available for flexible links
                        pass
            pair.append(robot)
    finally:
        kernel_factory.find_compiler = find
    return pair[0], pair[1]


class ApiCase:
    """A call of a method with valid arguments of some type, or with one invalid argument."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        name = list(ROBOTS)[int(rng.integers(len(ROBOTS)))]
        self._robot, self._twin = robots(name)
        self._robot_name = name
        kinds = self._kinds()
        self._call = kinds[int(rng.integers(len(kinds)))]
        self.input = f'{name} {self._call.__name__}'

    def check(self, at: Callable[[str], None]) -> None:
        """Raise a `Finding` if the result is wrong."""
        at('call')
        with np.errstate(all='ignore'):
            self._call()

    def _kinds(self) -> list[Callable[[], None]]:
        return [self._kernel, self._kernel, self._kernel, self._linear, self._bent, self._name]

    def _say(self, what: str) -> None:
        self.input += f' {what}'

    def _kernel(self) -> None:
        rng, owners = self._rng, [self._robot, self._twin]
        if rng.random() < 0.4:
            owners = [robot.frame(robot.model.tip_link) for robot in owners]
        methods = compiled_methods(type(owners[0]))
        method = list(methods)[int(rng.integers(len(methods)))]
        if self._robot.model.is_flexible and not hasattr_quietly(owners[0], method):
            return
        lengths = [
            k for _, k in methods[method].specification(owners[0]).lengths(self._robot.model)
        ]
        batch = () if rng.random() < 0.5 else (int(rng.choice([0, 1, 2, 7, 40])),)
        plain = [self._numbers((*batch, k)) for k in lengths]
        if batch and len(plain) > 1 and rng.random() < 0.3:  # one state together with a batch
            k = int(rng.integers(len(plain)))
            plain[k] = self._numbers((lengths[k],))
        given, is_bad = self._given(plain)
        self._say(f'{method} {list(map(kind_of, given))}')
        call = getattr(owners[0], method)
        found, error = guarded(lambda: call(*given))
        if self._verdict(is_bad, error):
            expected = getattr(owners[1], method)(*plain)
            same(found, expected, plain)
            self._out(call, given, plain, found)

    def _out(self, call: Any, given: list[Any], plain: list[Any], found: Any) -> None:
        """Repeat a call with `out=`, valid or invalid."""
        several = isinstance(found, tuple)
        out = tuple(map(np.empty_like, found)) if several else np.empty_like(found)
        chance = self._rng.random()
        if chance < 0.5:
            _, error = guarded(lambda: call(*given, out=out))
            if self._verdict(False, error):
                same(out, found, plain)
        elif not several:
            bad = [
                *(out.astype(np.float32), out.astype(object), [0.0], 'out', 3, out[None], ()),
                *(np.ma.array(out), out.astype('>f8'), _sealed(out)),
            ]
            chosen = bad[int(self._rng.integers(len(bad)))]
            _, error = guarded(lambda: call(*given, out=chosen))
            if chosen.size if isinstance(chosen, np.ndarray) else True:
                self._verdict(True, error)

    def _linear(self) -> None:
        motion = [self._numbers((self._robot.n,)) for _ in range(3)]
        model, error = guarded(lambda: self._robot.linearize(*motion))
        if not self._verdict(False, error):
            return
        rng = self._rng
        held = np.isfinite([model.mass, model.stiffness]).all()
        finite = held and np.isfinite(model.damping).all()
        questions: list[tuple[Callable[[], Any], bool]] = [
            (model.poles, not finite),
            (model.modes, not finite),
            (model.frequencies, not held),
            (model.damping_ratios, not finite),
            (model.undamped_modes, not held),
        ]
        places: list[Any] = [0, model.n - 1, model.joint_names[0], np.int8(0)]
        strange: list[Any] = [-1, model.n, 'x' * 100_000, None, 0.0, True, [], 2**80, Broken(), 1j]
        omega, is_bad = self._given([self._numbers((3,))])
        for chosen in (places, strange):
            place = chosen[int(rng.integers(len(chosen)))]
            bad = is_bad or not finite or chosen is strange
            # `transfer` takes frequencies of any shape: `omega` may be valid although spoilt.
            if not is_bad:
                questions.append(
                    (lambda p=place: model.transfer(p, 0, omega[0]), bad or self._has_nan(omega))
                )
            questions.append((lambda p=place: model.part([p]), chosen is strange))
        ask, is_bad = questions[int(rng.integers(len(questions)))]
        self._say(f'{ask} {motion}')
        found, error = guarded(ask)
        if error is None and is_bad:
            raise Finding('silent: a question without an answer got one')
        if isinstance(found, np.ndarray) and not np.isfinite(found).all():
            raise Finding('silent: a response is not finite')

    def _bent(self) -> None:
        count = self._robot.model.joint_count
        plain = [self._numbers((count,)) for _ in range(3)]
        given, is_bad = self._given(plain)
        self._say(f'deflected {list(map(kind_of, given))}')
        found, error = guarded(lambda: quasi_static_equilibrium(self._robot, *given))
        if error is None and (is_bad or not np.isfinite(plain).all()):
            if not any(value is None for value in given[1:]):  # at rest
                raise Finding('silent: bad arguments of deflected gave an answer')
        if error is None and not np.isfinite(found).all():
            raise Finding('silent: deflected gave what is not finite')

    def _name(self) -> None:
        strange = [None, 3, [], {}, b'x', 'x' * 100_000, '\ud800', 'a\nb', Broken(), len, ('x',)]
        chosen = strange[int(self._rng.integers(len(strange)))]
        calls = [self._robot.frame, self._robot.prepare, self._robot.model.frame]
        call = calls[int(self._rng.integers(2))]
        _, error = guarded(lambda: call(chosen))
        self._verdict(True, error)

    def _numbers(self, shape: tuple[int, ...]) -> Any:
        """Return numbers of any magnitude, occasionally not finite."""
        rng = self._rng
        numbers = rng.uniform(-2, 2, shape)
        chance = rng.random()
        if chance < 0.1:
            numbers = np.round(numbers)
        elif chance < 0.2:
            numbers = numbers * 10.0 ** rng.integers(-300, 20)
        elif chance < 0.25 and numbers.size:
            numbers.flat[int(rng.integers(numbers.size))] = rng.choice([np.nan, np.inf, -np.inf])
        return numbers

    def _given(self, plain: list[Any]) -> tuple[list[Any], bool]:
        """Return the arrays as other types, possibly one of them invalid; and whether one is."""
        rng = self._rng
        given = []
        for array in plain:
            guise = GUISES[int(rng.integers(len(GUISES)))]
            odd = not array.size or not np.isfinite(array).all()
            given.append(array.copy() if odd else guise(array))
        is_bad = bool(rng.random() < 0.4)
        if is_bad:
            k = int(rng.integers(len(plain)))
            array = plain[k] if plain[k].size else np.zeros(plain[k].shape[-1:])
            given[k] = SPOILS[int(rng.integers(len(SPOILS)))](array, rng)
        return given, is_bad

    def _has_nan(self, given: list[Any]) -> bool:
        values = given[0].values if isinstance(given[0], Wrapped) else given[0]
        return not np.isfinite(np.asarray(values, dtype=float)).all()

    def _verdict(self, is_bad: bool, error: Exception | None) -> bool:
        """Check success or error of a call; return whether it has a result to compare."""
        if is_bad and error is None:
            raise Finding(f'silent: bad arguments gave an answer: {self.input[:200]}')
        if isinstance(error, kd.ModelError) and 'deflects by' in str(error):
            return False  # beyond the deflections for which the equations hold
        if not is_bad and error is not None:
            raise Finding(f'refused: good arguments: {self.input[:100]}: {str(error)[:150]}')
        return not is_bad


def hasattr_quietly(owner: Any, method: str) -> bool:
    """Whether a robot already has a compiled kernel of this name."""
    return method in vars(owner)


def kind_of(value: Any) -> str:
    """Return a short description of a value: type, or dtype and shape."""
    if isinstance(value, np.ndarray):
        return f'{value.dtype}{value.shape}'
    return type(value).__name__ if inspect.getmodule(value) is None else 'object'


def same(found: Any, expected: Any, arguments: list[Any]) -> None:
    """Raise a `Finding` if results differ by more than rounding, unless they overflow."""
    # Terms with squares of large positions cancel.
    far = max(1.0, *(np.abs(a[np.isfinite(a)]).max(initial=0.0) for a in arguments))
    several = isinstance(found, tuple)
    pairs = zip(found, expected, strict=True) if several else [(found, expected)]
    for ours, theirs in pairs:
        if ours.shape != theirs.shape:
            raise Finding(f'numbers: shape {ours.shape}, expected {theirs.shape}')
        finite = np.isfinite(theirs)
        if not finite.all():
            # Overflow of one state must not affect the other states of a batch.
            keep = finite.reshape(len(finite), -1).all(axis=1) if ours.ndim else np.array(False)
            if ours.ndim == 0 or not keep.any() or len(keep) == 1:
                continue
            ours, theirs = ours[keep], theirs[keep]
        scale = np.abs(theirs).max(initial=0.0)
        if not np.abs(ours - theirs).max(initial=0.0) <= CLOSE * scale * far + 1e-290:
            raise Finding(f'numbers: {ours.ravel()[:4]}, expected {theirs.ravel()[:4]}')
