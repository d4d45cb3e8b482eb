# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of one model: made once, when first needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from kron_dynamics.kernels import KernelCollection
from kron_dynamics.model import load_model


def doubled(model: Any, q: Any) -> Any:
    return 2 * q


def test_kernels_are_made_once_and_reported(robot_text: Any) -> None:
    kernels = KernelCollection(load_model(robot_text('planar_2r')))
    assert kernels.reports == []
    first = kernels.get('doubled', doubled, ['q'])
    assert kernels.get('doubled', doubled, ['q']) is first
    np.testing.assert_array_equal(first([1.0, 2.0]), [2.0, 4.0])
    (report,) = kernels.reports
    assert (report.name, report.operations, report.source) == ('doubled', 2, 'c')
    assert report.build_seconds > 0


def test_models_do_not_share_kernels(robot_text: Any) -> None:
    def gravity(model: Any, q: Any) -> Any:
        return model.gravity + 0 * q[0]

    for g in ((0, 0, -1), (0, 0, -2)):
        model = load_model(robot_text('planar_2r'), gravity=g)
        kernel = KernelCollection(model).get('gravity', gravity, ['q'])
        np.testing.assert_array_equal(kernel([0.0, 0.0]), g)
