#!/usr/bin/env bash
# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs the tests; `make test` and `make test-long` call it. Arguments go to pytest; $PYTHON is the
# interpreter.
#
# Two parts at once, of two workers each: tests whose processes talk to each other, each worker
# with ROS domains of its own; and the others, with low priority. The former often wait, but must
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
nodes='' # process group of the part with ROS while it runs

# Also reached by Ctrl-C, which the part with ROS does not hear by itself.
finish() {
  if [[ $nodes ]]; then
    kill -INT -- "-$nodes" && wait "$nodes"
  fi 2>/dev/null
  rm -rf -- "$work"
}
trap finish EXIT

set -m # for a process group that heeds SIGINT, as the nodes that it starts must
"$PYTHON" -m pytest --numprocesses 2 --dist loadscope -m ros "$@" >"$work/nodes.log" 2>&1 &
nodes=$!
set +m

echo 'test: without ROS'
nice "$PYTHON" -m pytest --numprocesses 2 --dist loadscope -m 'not ros' "$@"
code=$?
((code == 2)) && exit "$code" # Ctrl-C
wait "$nodes"
nodes_code=$?
nodes=''
echo 'test: with ROS'
cat "$work/nodes.log"

((nodes_code == NO_TESTS)) && exit "$code"
((code == 0 || code == NO_TESTS)) && exit "$nodes_code"
exit "$code"
