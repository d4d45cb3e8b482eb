# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of kron_dynamics against other libraries; `make bench` runs them all."""
