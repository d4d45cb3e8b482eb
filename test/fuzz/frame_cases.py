# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Fuzz cases of relative frames and Taylor expansions: right numbers, or an error."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from api_cases import SPOILS, ApiCase, Broken, kind_of, robots
from guarding import Finding, guarded

from kron_dynamics.taylor import expand

_PLACES = 4  # relative frames per robot, few because each has its own kernels to compile
_RATES = {'pose': 1, 'jacobian': 1, 'jacobian_derivative': 1, 'velocity': 2, 'acceleration': 3}
_CLOSE = 1e-9


@functools.cache
def places(name: str) -> list[tuple[str, str, str, Any]]:
    """Return (link, reference, axes, point) of `_PLACES` frames of a robot, always the same."""
    rng = np.random.default_rng(7)
    links = list(robots(name)[0].model.frames)
    return [(*map(str, rng.choice(links, 3)), rng.uniform(-1, 1, 3)) for _ in range(_PLACES)]


class FrameCase(ApiCase):
    """A call of a relative frame or of `expand`, with valid arguments or one invalid one."""

    def _kinds(self) -> list[Callable[[], None]]:
        return [self._seen, self._seen, self._place, self._expansion, self._expansion]

    def _frame(self) -> Any:
        name = self._robot_name
        link, reference, axes, point = places(name)[int(self._rng.integers(_PLACES))]
        frame = self._robot.frame(link).relative_to(reference, axes=axes, point=point)
        self._say(f'{link} from {reference} in {axes}')
        return frame

    def _seen(self) -> None:
        """Check the relations between the quantities of a relative frame."""
        frame, n = self._frame(), self._robot.n
        quantity = list(_RATES)[int(self._rng.integers(len(_RATES)))]
        plain = [self._numbers((n,)) for _ in range(_RATES[quantity])]
        given, is_bad = self._given(plain)
        self._say(f'{quantity} {list(map(kind_of, given))}')
        found, error = guarded(lambda: getattr(frame, quantity)(*given))
        if self._verdict(is_bad, error) and np.isfinite(plain).all():
            self._compare(found, self._law(frame, quantity, plain), plain)

    def _law(self, frame: Any, quantity: str, motion: list[Any]) -> Any:
        q, *rates = motion
        if quantity == 'velocity':
            return frame.jacobian(q) @ rates[0]
        if quantity == 'acceleration':
            H = frame.kinematic_hessian(q)
            return frame.jacobian(q) @ rates[1] + H @ np.kron(rates[0], rates[0])
        if quantity == 'pose':
            to_c, to_a, to_k = (
                self._robot.frame(link).pose(q)
                for link in (frame.name, frame.reference, frame.axes)
            )
            pose = np.eye(4)
            pose[:3, :3] = to_k[:3, :3].T @ to_c[:3, :3]
            end = to_c[:3, :3] @ frame.point + to_c[:3, 3] - to_a[:3, 3]
            pose[:3, 3] = to_k[:3, :3].T @ end
            return pose
        if quantity == 'jacobian':  # the equation evaluated without a kernel
            return frame.jacobian.equation(q)
        return expand(frame.jacobian, q, 1).derivatives[1]

    def _place(self) -> None:
        """Check that invalid references, axes and points are refused."""
        rng, frame = self._rng, self._robot.frame(self._robot.model.tip_link)
        strange = [3, b'x', [], 'nowhere', 'x' * 100_000, Broken(), len, 'a\nb', '']
        chosen = strange[int(rng.integers(len(strange)))]
        point = SPOILS[int(rng.integers(len(SPOILS)))](np.ones(3), rng)
        root = self._robot.model.root_link
        calls: list[Callable[[], Any]] = [
            lambda: frame.relative_to(chosen),
            lambda: frame.relative_to(root, axes=chosen),
            lambda: frame.relative_to(root, point=np.array([0.0, np.nan, 1.0])),
        ]
        if point is not None:
            calls.append(lambda: frame.relative_to(root, point=point))
        k = int(rng.integers(len(calls)))
        self._say(f'{k} {kind_of(chosen)} {kind_of(point)}')
        _, error = guarded(calls[k])
        self._verdict(True, error)

    def _expansion(self) -> None:
        """Compare an expansion with the kernels of the function and of its derivative."""
        rng, robot = self._rng, self._robot
        frame = self._frame()
        cases: list[tuple[Any, Any, int]] = [
            (robot.mass_matrix, robot.mass_matrix_derivative, 1),
            (robot.inverse_dynamics, lambda *x: np.hstack(robot.linearization(*x)[2::-1]), 3),
            (frame.jacobian, frame.jacobian_derivative, 1),
            (robot.gravity_vector, None, 1),
        ]
        function, derivative, count = cases[int(rng.integers(len(cases)))]
        order = int(rng.integers(2 if robot.model.is_flexible else 3))
        plain = [rng.uniform(-2, 2, robot.n) for _ in range(count)]
        is_bad = bool(rng.random() < 0.4)
        given: list[Any] = [x.copy() for x in plain]
        if is_bad:
            spoilt = [np.append(plain[0], 0.0), plain[0][:-1], [np.nan] * robot.n, 'x', None, 1j]
            given[int(rng.integers(count))] = spoilt[int(rng.integers(len(spoilt)))]
        point = tuple(given) if count > 1 else given[0]
        self._say(f'{function.__name__} to order {order} {list(map(kind_of, given))}')
        found, error = guarded(lambda: expand(function, point, order))
        if not self._verdict(is_bad, error):
            return
        self._compare(found(*plain), function(*plain), plain)
        if order and derivative is not None:
            self._compare(found.derivatives[1], derivative(*plain), plain)

    def _compare(self, found: Any, expected: Any, arguments: list[Any]) -> None:
        """Raise a `Finding` if results differ by more than rounding."""
        found, expected = np.asarray(found), np.asarray(expected)
        if found.shape != expected.shape:
            raise Finding(f'numbers: shape {found.shape}, expected {expected.shape}')
        far = max(1.0, *(np.abs(a).max() for a in arguments))
        # Terms proportional to the squares of the rates cancel.
        scale = max(np.abs(expected).max(initial=0.0), 1e3 * far**2)
        error = np.abs(found - expected).max(initial=0.0)
        if np.isfinite(scale) and not error <= _CLOSE * scale:
            raise Finding(f'numbers: {found.ravel()[:4]}, expected {expected.ravel()[:4]}')
