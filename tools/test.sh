#!/usr/bin/env bash
# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs the tests, two at a time; `make test` and `make test-long` call it. Arguments go to pytest;
# $PYTHON is the interpreter. test/conftest.py says which tests stay together and in what order:
# those of the nodes last, when nothing else keeps the computer busy.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Hundreds of processes import the package: compiled once, not by each of them.
unset PYTHONDONTWRITEBYTECODE
exec "$PYTHON" -m pytest --numprocesses 2 --dist loadscope "$@"
