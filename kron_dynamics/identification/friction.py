# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Friction as a linear function of coefficients, one set for each joint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.dynamics.friction import friction_coefficients
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import FloatArray

# Friction terms (see `friction_regressor`), and whether their coefficients must be nonnegative.
TERMS = {
    'coulomb': True,
    'viscous': True,
    'offset': False,
    'asymmetry': False,
    'stribeck': True,
    'cubic': False,
    'load': True,
}
# Terms that the <dynamics> element of a URDF can represent.
URDF_TERMS = ('coulomb', 'viscous')
BASIC_TERMS = ('coulomb', 'viscous', 'offset')
# Stribeck velocity v_t as a multiple of the transition velocity v_s of Coulomb friction.
STRIBECK_SHARE = 5.0


def check_terms(terms: Sequence[str]) -> None:
    """Refuse friction terms that do not exist, or are given twice.

    Raises:
        ParameterError: a term does not exist or is given twice.
    """
    for place, term in enumerate(terms):
        if term not in TERMS:
            raise ParameterError(
                f"there is no friction term '{term}', expected one of {', '.join(TERMS)}"
            )
        if term in terms[:place]:
            raise ParameterError(f"friction term '{term}' is given twice, expected once")


def friction_regressor(
    model: RobotModel,
    qd: FloatArray,
    terms: Sequence[str] = BASIC_TERMS,
    load: FloatArray | None = None,
    state: FloatArray | None = None,
    passage: float = 1.0,
) -> FloatArray:
    """Return the regressor of friction coefficients, shape (N, n, n k), by joint, then by term.

    With s = tanh(qd / v_s) and v_s `passage` times the transition velocity of `joint_friction`,
    the columns of each joint are: coulomb s, viscous qd, offset 1, asymmetry |s|, stribeck
    s exp(-(qd / v_t)^2) with v_t = 5 v_s, cubic qd^3, load s times the magnitude of the load.

    Args:
        model: the robot.
        qd: rates, shape (N, n), rad/s or m/s.
        terms: k names of `TERMS`.
        load: efforts that the joints transmit, shape (N, n), N m or N, for the term 'load'.
        state: replaces s, from `presliding_state`, shape (N, n); None for tanh.
        passage: factor of the transition velocity.

    Raises:
        ParameterError: a term does not exist or is given twice, or the term 'load' is used
            without a load.
    """
    count, n = qd.shape
    check_terms(terms)
    slow = passage * friction_coefficients(model)[:, 2]
    sign = np.tanh(qd / slow) if state is None else state
    columns = np.zeros((count, n, n, len(terms)))
    for place, term in enumerate(terms):
        if term == 'coulomb':
            values = sign
        elif term == 'viscous':
            values = qd
        elif term == 'offset':
            values = np.ones_like(qd)
        elif term == 'asymmetry':
            values = np.abs(sign)
        elif term == 'stribeck':
            values = sign * np.exp(-np.square(qd / (STRIBECK_SHARE * slow)))
        elif term == 'cubic':
            values = qd**3
        elif load is None:
            raise ParameterError("the friction term 'load' needs the load of the joints")
        else:
            values = sign * np.abs(load)
        columns[:, range(n), range(n), place] = values
    return columns.reshape(count, n, n * len(terms))


def presliding_state(model: RobotModel, q: FloatArray, time: float) -> FloatArray:
    """Return the share of Coulomb friction that acts, between -1 and 1, shape (N, n).

    Dahl's model: after a reversal the share builds up over the displacement v_s `time`. It starts
    at 0.

    Args:
        model: the robot, with the transition velocities v_s of `joint_friction`.
        q: positions in the order of time, shape (N, n), rad or m.
        time: presliding displacement over v_s, s, above zero.
    """
    displacement = time * friction_coefficients(model)[:, 2]
    moves = np.diff(q, axis=0)
    target = np.sign(moves)
    kept = np.exp(-np.abs(moves) / displacement)
    state = np.zeros_like(q)
    for k in range(len(moves)):
        state[k + 1] = target[k] + (state[k] - target[k]) * kept[k]
    return state


def friction_names(joint_names: Sequence[str], terms: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the coefficients, in the order of the columns.

    Args:
        joint_names: names of the robot's joints.
        terms: names of `TERMS`.
    """
    return tuple(f'{joint} {term}' for joint in joint_names for term in terms)
