# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Measurements of kron_dynamics beside its peers; `make bench` runs them all."""
