# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Array types used in signatures."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
ComplexArray = npt.NDArray[np.complex128]
BoolArray = npt.NDArray[np.bool_]
ByteArray = npt.NDArray[np.uint8]
IntArray = npt.NDArray[np.int64]
# Indices into arrays, of NumPy's index type.
IndexArray = npt.NDArray[np.intp]
ArrayLike = npt.ArrayLike
# Arrays that the equations are evaluated on: floats, SymPy expressions or traced scalars.
ScalarArray = npt.NDArray[Any]
