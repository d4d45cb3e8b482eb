#!/usr/bin/env bash
# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs the tests; `make test` and `make test-long` call it. Arguments go to pytest; $PYTHON is the
# interpreter.
#
# Two parts at once: tests whose processes talk to each other, by two workers, each with ROS domains
# of its own; and the others, by two workers with low priority. The former often wait, but must
# not wait for a processor, so that the latter take what they leave.
# test/conftest.py says which tests stay together and in what order.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Hundreds of processes import the package: compiled once, not by each of them.
unset PYTHONDONTWRITEBYTECODE
# Builds within tests are no jobs of the make that runs them.
unset MAKEFLAGS MFLAGS MAKELEVEL
# Processes of one thread each: those of linear algebra would only wait for each other.
export OPENBLAS_NUM_THREADS=1
readonly NO_TESTS=5 # pytest's exit code where arguments select none

work=$(mktemp -d "${TMPDIR:-/tmp}/kron_dynamics_tests.XXXXXX") || exit
# Kernels that one part has compiled serve the other.
export KRON_DYNAMICS_TEST_KERNELS=$work/kernels
mkdir -m 700 "$KRON_DYNAMICS_TEST_KERNELS" || exit

# Started parts, each in a session of its own: Ctrl-C is passed on to those that still run.
started=()
finish() {
  for pid in "${started[@]}"; do
    kill -INT -- "-$pid" && wait "$pid"
  done 2>/dev/null
  rm -rf -- "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# start NICENESS ARGUMENT...: runs pytest in the background, by two workers.
start() {
  "$PYTHON" tools/background.py "$1" \
    "$PYTHON" -m pytest --numprocesses 2 --dist loadscope "${@:2}" &
  started+=("$!")
}

start 0 -m ros "$@" >"$work/nodes.log" 2>&1
echo 'test: without ROS'
start 10 -m 'not ros' "$@"
wait "${started[1]}"
code=$?
wait "${started[0]}"
nodes_code=$?
started=()
echo 'test: with ROS'
cat "$work/nodes.log"

((nodes_code == NO_TESTS)) && exit "$code"
((code == 0 || code == NO_TESTS)) && exit "$nodes_code"
exit "$code"
