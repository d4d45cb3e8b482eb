# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Units of conditions on joint positions, which scale them: those of the joints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mechanisms import joint, link
from uncompiled import uncompiled

import kron_dynamics as kd
from kron_dynamics.constraints import Coupling, PolynomialCoupling, PrescribedMotion
from kron_dynamics.constraints.description import described_constraints
from kron_dynamics.constraints.system import ConstraintSystem


@pytest.fixture(scope='module')
def model() -> Any:
    """A long arm on two slides and a hinge: lengths weigh much less than angles."""
    parts = [link(name, 1.0, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)) for name in ('a', 'b', 'c')]
    return uncompiled(
        '<robot name="long"><link name="base"/>'
        + ''.join(parts)
        + joint('way', 'base', 'a', (0.0, 0.0, 0.0), '1 0 0', 'prismatic')
        + joint('lift', 'a', 'b', (0.0, 0.0, 0.0), '0 0 1', 'prismatic')
        + joint('turn', 'b', 'c', (50.0, 0.0, 0.0), '0 0 1')
        + '</robot>'
    ).model


@pytest.mark.parametrize(
    ('values', 'unit'),
    [
        ({'type': 'lock', 'joint': 'way', 'position': 0.2}, 'm'),
        ({'type': 'lock', 'joint': 'turn', 'position': 0.2}, 'rad'),
        ({'type': 'coupling', 'ratios': {'way': 1, 'lift': -2}}, 'm'),
        ({'type': 'coupling', 'ratios': {'way': 1, 'turn': -2}}, 'rad'),
        ({'type': 'coupling', 'ratios': {'way': 1, 'turn': -2}, 'unit': 'm'}, 'm'),
        *(
            ({'type': 'polynomial', 'joint': y, 'driver': x, 'coefficients': [0, 1]}, unit)
            for y, x, unit in (('way', 'turn', 'm'), ('turn', 'way', 'rad'))
        ),
    ],
)
def test_conditions_have_the_unit_of_their_joints(model: Any, values: Any, unit: str) -> None:
    made = described_constraints('file', {'constraints': {'k': values}}).constraints
    system = ConstraintSystem(model, made)
    assert system.row_scale == [system.length if unit == 'm' else 1.0]
    if values['type'] == 'lock':
        A = system.terms(np.zeros(3), np.zeros(3), 0.0).A
        assert np.linalg.norm(system.scaled(A)) == pytest.approx(1.0)


def test_another_unit_than_that_of_the_joint_is_refused(model: Any) -> None:
    for wrong in (
        PrescribedMotion('k', 'way', 0.2, unit='rad'),
        PolynomialCoupling('k', 'turn', 'way', (0.0, 1.0), unit='m'),
    ):
        with pytest.raises(kd.ConstraintError, match=f"'k' has unit '{wrong.unit}', expected '"):
            ConstraintSystem(model, [wrong])
    ConstraintSystem(model, [Coupling('k', {'way': 1.0, 'lift': 500.0}, unit='rad')])
