#!/usr/bin/env bash
# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs the tests; `make test` and `make test-long` call it. Arguments go to pytest; $PYTHON is the
# interpreter.
#
# First those without ROS, two at a time; then those whose processes talk to each other, four at a
# time, as they often wait, each worker with ROS domains of its own. test/conftest.py says which
# tests stay together and in what order.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Hundreds of processes import the package: compiled once, not by each of them.
unset PYTHONDONTWRITEBYTECODE
# Builds within tests are no jobs of the make that runs them.
unset MAKEFLAGS MFLAGS MAKELEVEL
# Kernels of the first part serve the second.
KRON_DYNAMICS_TEST_KERNELS=$(mktemp -d "${TMPDIR:-/tmp}/kron_dynamics_kernels.XXXXXX") || exit
export KRON_DYNAMICS_TEST_KERNELS
trap 'rm -rf -- "$KRON_DYNAMICS_TEST_KERNELS"' EXIT
# Two processes of one thread each: those of linear algebra would only wait for each other.
export OPENBLAS_NUM_THREADS=1
readonly NO_TESTS=5 # pytest's exit code where arguments select none
chosen=0

# pytest heeds only its last -m: one among the arguments is joined to that of each part.
marked=''
arguments=()
while (($#)); do
  case $1 in
    -m) marked="(${2-}) and " && shift ;;
    -m*) marked="(${1#-m}) and " ;;
    *) arguments+=("$1") ;;
  esac
  (($#)) && shift
done

# part TITLE WORKERS ARGUMENT...: ends the script where tests fail.
part() {
  local code=0
  printf 'test: %s\n' "$1"
  "$PYTHON" -m pytest --numprocesses "$2" --dist loadscope "${@:3}" || code=$?
  ((code == NO_TESTS)) && return
  ((code == 0)) || exit "$code"
  chosen=1
}

part 'without ROS' 2 -m "${marked}not ros" ${arguments[@]+"${arguments[@]}"}
part 'with ROS' 4 -m "${marked}ros" ${arguments[@]+"${arguments[@]}"}
((chosen)) || exit "$NO_TESTS"
