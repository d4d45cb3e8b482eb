# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""One call and a batch from Python, ours and Pinocchio's in turn; ratios, not absolute times.

Run with `make bench`. Robots: the stacker-reclaimer, and UR5 and Panda of example-robot-data.
"""

from __future__ import annotations

import importlib.metadata
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

import kron_dynamics as kd

ROUNDS = 21
ROOT = Path(__file__).parents[1]
BATCH = 10_000


def example_robot(file_name: str) -> Path:
    """A URDF of the example-robot-data wheel by its file name."""
    files = importlib.metadata.files('example-robot-data') or []
    return Path(str(next(file for file in files if file.name == file_name).locate()))


def seconds(call: Callable[[], Any], repeat: int) -> float:
    """Mean time of one call over a round."""
    started = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - started) / repeat


def paired(ours: Callable[[], Any], peer: Callable[[], Any]) -> tuple[float, float, list[float]]:
    """Medians of both, s, and the ratios peer/ours of the rounds, taken in turn."""
    repeat = max(1, int(2e-3 / max(seconds(ours, 1), 1e-7)))
    seconds(peer, repeat)  # warm
    rounds = [(seconds(ours, repeat), seconds(peer, repeat)) for _ in range(ROUNDS)]
    mine, theirs = (statistics.median(column) for column in zip(*rounds, strict=True))
    return mine, theirs, sorted(b / a for a, b in rounds)


def measure(path: Path) -> None:
    """Print one line for every quantity of a robot."""
    robot = kd.load(path)
    # Mimic joints are joints of their own in Pinocchio's model: it does a little more work.
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-1, 1, (3, robot.n))
    x = pin.integrate(model, pin.neutral(model), rng.uniform(-1, 1, model.nv))
    v, a = rng.uniform(-1, 1, (2, model.nv))
    batch = rng.uniform(-1, 1, (3, BATCH, robot.n))
    out = np.empty((BATCH, robot.n))
    rows = {
        'tau': (
            lambda: robot.inverse_dynamics(q, qd, qdd),
            lambda: pin.rnea(model, data, x, v, a),
        ),
        'M': (lambda: robot.mass_matrix(q), lambda: pin.crba(model, data, x)),
        'C': (
            lambda: robot.coriolis_matrix(q, qd),
            lambda: pin.computeCoriolisMatrix(model, data, x, v),
        ),
        'C*': (
            lambda: robot.velocity_free_coriolis_matrix(q),
            lambda: [pin.computeCoriolisMatrix(model, data, x, e) for e in np.eye(model.nv)],
        ),
        f'{BATCH} tau': (
            lambda: robot.inverse_dynamics(*batch, out=out),
            lambda: [pin.rnea(model, data, x, v, a) for _ in range(BATCH)],
        ),
    }
    for name, (ours, peer) in rows.items():
        mine, theirs, ratios = paired(ours, peer)
        print(
            f'{robot.model.name:<18} {name:<10} {1e6 * mine:>10.2f} {1e6 * theirs:>12.2f} '
            f'{statistics.median(ratios):>7.2f}x  ({ratios[1]:.2f} .. {ratios[-2]:.2f})'
        )


def main() -> None:
    """Print the table."""
    print(f'Pinocchio {pin.__version__}, numpy {np.__version__}, {ROUNDS} rounds in turn')
    print(f'{"robot":<18} {"quantity":<10} {"ours [us]":>10} {"peer [us]":>12} {"ratio":>8}')
    measure(ROOT / 'urdf' / 'stacker_reclaimer.urdf')
    for name in ('ur5_robot.urdf', 'panda.urdf'):
        measure(example_robot(name))


if __name__ == '__main__':
    main()
