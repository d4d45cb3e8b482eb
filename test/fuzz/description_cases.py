# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Fuzz cases of mutated descriptions: robots that load are compared with Pinocchio or laws."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import urdf_mutations
import yaml_mutations
from guarding import Finding, guarded

import kron_dynamics as kd
from kron_dynamics import dynamics
from kron_dynamics.kernels.interpreted import Interpreted
from kron_dynamics.kernels.trace import Trace
from kron_dynamics.model import RobotModel

ROOT = Path(__file__).parents[2]
URDFS = sorted([*(ROOT / 'urdf').glob('*.urdf'), *(ROOT / 'test' / 'robots').glob('*.urdf')])
YAMLS = sorted((ROOT / 'config').glob('*_flexible.yaml'))
CLOSE = 1e-9  # tolerance relative to the largest term
LARGE = 1e30  # with larger terms, intermediate results may overflow
# Texts that Pinocchio's parser reads differently: carriage returns within numbers, and an axis
# without xyz.
_READ_OTHERWISE = re.compile(r'\r|<axis(?![^>]*xyz)')
INTERPRETED, COMPILED = 40, 400  # one in so many cases also tests this kind of kernel


class UrdfCase:
    """A randomly mutated URDF."""

    def __init__(self, rng: np.random.Generator) -> None:
        seed = URDFS[int(rng.integers(len(URDFS)))].read_text(encoding='utf-8')
        self.input = urdf_mutations.mutated(rng, seed)
        self._rng = rng

    def check(self, at: Callable[[str], None]) -> None:
        """Raise a `Finding` if it comes out wrong; tell what is being done."""
        at('load')
        robot, error = guarded(lambda: load(self.input))
        if error is not None:
            return
        state = self._rng.uniform(-1.3, 1.3, (3, robot.n))
        at('evaluate')
        tau, _ = guarded(lambda: dynamics.inverse_dynamics(robot.model, *state), 60.0)
        scale = size_of_terms(robot.model, state, tau)
        if scale < LARGE:
            at('Pinocchio')
            expected = pinocchio(self.input, robot.model, state)
            if expected is not None:
                with_rotors = expected + robot.model.armature * state[2]
                close('Pinocchio', tau, with_rotors, scale)
            at('kernels')
            self._kernels(robot, state, tau, scale)

    def _kernels(self, robot: kd.Robot, state: Any, tau: Any, scale: float) -> None:
        chance = self._rng.random()
        if chance < 1 / COMPILED:
            made, _ = guarded(lambda: robot.inverse_dynamics(*state), 60.0)
            close('compiled kernel', made, tau, scale)
        elif chance < 1 / INTERPRETED:

            def equation(*values: Any) -> Any:
                return dynamics.inverse_dynamics(robot.model, *values)

            evaluate, _ = guarded(lambda: Interpreted(Trace(equation, [robot.n] * 3)), 60.0)
            made = np.empty((1, robot.n))
            evaluate(1, [row[None] for row in state], [made])
            close('interpreted kernel', made[0], tau, scale)


class YamlCase:
    """A randomly mutated description of flexible links."""

    def __init__(self, rng: np.random.Generator) -> None:
        path = YAMLS[int(rng.integers(len(YAMLS)))]
        self.input = yaml_mutations.mutated(rng, path.read_text(encoding='utf-8'))
        self._urdf = ROOT / 'urdf' / f'{path.stem.removesuffix("_flexible")}.urdf'
        self._rng = rng

    def check(self, at: Callable[[str], None]) -> None:
        """Raise a `Finding` if it comes out wrong; tell what is being done."""
        at('load')
        with tempfile.NamedTemporaryFile('wb', suffix='.yaml') as file:
            file.write(self.input.encode('utf-8', 'surrogatepass'))
            file.flush()
            path = Path(file.name)
            robot, error = guarded(lambda: quiet(lambda: kd.load(self._urdf, flexible=path)))
        if error is not None or robot.n > 12:
            return
        at('evaluate')
        model, state = robot.model, self._rng.uniform(-0.1, 0.1, (3, robot.n))
        tau, _ = guarded(lambda: dynamics.inverse_dynamics(model, *state), 60.0)
        M, _ = guarded(lambda: dynamics.mass_matrix(model, state[0]), 60.0)
        bias, _ = guarded(lambda: dynamics.bias_forces(model, *state[:2]), 60.0)
        scale = max(np.abs(bias).max(), (np.abs(M) @ np.abs(state[2])).max())
        if not scale < LARGE:
            return
        close('M qdd + c + g', tau, M @ state[2] + bias, scale)
        close('symmetry of M', M, M.T, np.abs(M).max())


def load(source: str | bytes) -> kd.Robot:
    """Return the robot of a text, or of a file with these bytes."""
    if isinstance(source, str):
        return quiet(lambda: kd.loads(source))
    with tempfile.NamedTemporaryFile('wb', suffix='.urdf') as file:
        file.write(source)
        file.flush()
        return quiet(lambda: kd.load(file.name))


def quiet(call: Callable[[], Any]) -> Any:
    """Return a call's result without its warnings, which are not findings."""
    with warnings.catch_warnings(), np.errstate(all='ignore'):
        warnings.simplefilter('ignore')
        return call()


def size_of_terms(model: RobotModel, state: Any, tau: Any) -> float:
    """Return the largest term of the inverse dynamics; inf if a term is not finite."""
    with np.errstate(all='ignore'):
        q, qd, qdd = state
        M = dynamics.mass_matrix(model, q)
        terms = [tau, np.abs(M) @ np.abs(qdd), dynamics.gravity_vector(model, q)]
        terms.append(dynamics.coriolis_vector(model, q, qd))
        # Contributions that may cancel within a term: the weight at its largest distance.
        reach = 1.0 + sum(np.abs(joint.translation).max() for joint in model.joints)
        # Moments of inertia have the rounding error of the largest one.
        moments = max((np.abs(body.inertia).max() for body in model.bodies), default=0.0)
        terms.append([moments * max((qd**2).max(initial=0.0), np.abs(qdd).max(initial=0.0))])
        terms.append([np.abs(M).max(), model.total_mass * np.abs(model.gravity).max() * reach])
        size = max(float(np.abs(term).max()) for term in terms)
    return size if np.isfinite(size) else np.inf


def close(what: str, found: Any, expected: Any, scale: float) -> None:
    """Raise a `Finding` if numbers differ."""
    gap = float(np.abs(np.subtract(found, expected)).max())
    if not gap <= CLOSE * scale:
        raise Finding(f'numbers: {what} differs by {gap:.3g}, terms are up to {scale:.3g}')


@contextlib.contextmanager
def complaints() -> Iterator[IO[bytes]]:
    """Redirect standard error, also of C++ libraries, to the yielded file."""
    with tempfile.TemporaryFile() as file:
        before = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield file
        finally:
            os.dup2(before, 2)
            os.close(before)


def pinocchio(source: str | bytes, model: RobotModel, state: Any) -> Any | None:
    """Return Pinocchio's efforts; None if it cannot parse the text or finds other joints."""
    from pinocchio_oracle import Oracle

    try:
        text = source if isinstance(source, str) else source.decode('utf-8')
        if _READ_OTHERWISE.search(text):
            return None
        with complaints() as file:
            oracle = Oracle(text, model)
            said = os.fstat(file.fileno()).st_size
        # Pinocchio skips elements that it cannot parse, with a message.
        if said or oracle.pin.njoints - 1 != len(model.joints):
            return None
        return oracle.inverse_dynamics(*state)
    except Exception:  # the binding may raise any kind
        return None
