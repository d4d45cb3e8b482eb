#!/usr/bin/env bash
# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs the tests; `make test` and `make test-long` call it. Arguments go to pytest; $PYTHON is the
# interpreter.
#
# First those without ROS, two at a time; test/conftest.py says which of them stay together and in
# what order. Then those whose processes talk to each other, one after the other: they are about
# time, and should have the computer to themselves.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Hundreds of processes import the package: compiled once, not by each of them.
unset PYTHONDONTWRITEBYTECODE
readonly NO_TESTS=5 # pytest's exit code where arguments select none
chosen=0

# part TITLE ARGUMENT...: ends the script where tests fail.
part() {
  local code=0
  printf 'test: %s\n' "$1"
  "$PYTHON" -m pytest "${@:2}" || code=$?
  ((code == NO_TESTS)) && return
  ((code == 0)) || exit "$code"
  chosen=1
}

# Two processes of one thread each: those of linear algebra would only wait for each other.
OPENBLAS_NUM_THREADS=1 part 'without ROS' --numprocesses 2 --dist loadscope -m 'not ros' "$@"
part 'with ROS' -m ros "$@"
((chosen)) || exit "$NO_TESTS"
