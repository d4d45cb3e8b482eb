#!/usr/bin/env bash
# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
#
# Brings .venv to what this checkout asks for; `make setup` runs it, PYTHON selects an interpreter.
#
# Each step has a key: a hash of all it is made from. The key is stored once the step has ended
# well, so a step whose key is stored has nothing to do, and one that failed or was interrupted is
# done again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
shopt -s nullglob

readonly VENV=$PWD/.venv
readonly KEYS=$VENV/keys
readonly LOG=$VENV/setup.log

fail() {
  printf 'setup: %s\n' "$1" >&2
  (($# == 1)) || printf '  %s\n' "${@:2}" >&2
  exit 1
}

# Prints "<version> <executable>" of an interpreter that can serve; otherwise says why not and fails.
# Written for any Python 3, as it has to judge old ones too.
inspect_python() {
  "$1" - <<'PYTHON'
import importlib.util, os, platform, sys, sysconfig

version = '.'.join(map(str, sys.version_info[:3]))
kind = platform.python_implementation()
if kind != 'CPython' or not (3, 10) <= sys.version_info[:2] <= (3, 13):
    sys.exit('%s %s, expected CPython 3.10 to 3.13' % (kind, version))
if sys.platform != 'linux' or platform.machine() != 'x86_64':
    sys.exit('built for %s %s, expected linux x86_64' % (sys.platform, platform.machine()))
if importlib.util.find_spec('ensurepip') is None:
    sys.exit(version + ' cannot make virtual environments (Debian, Ubuntu: install python3-venv)')
if not os.path.exists(os.path.join(sysconfig.get_path('include'), 'Python.h')):
    sys.exit(version + ' has no C headers (Debian, Ubuntu: install python3-dev)')
print(version, sys.executable)
PYTHON
}

# Prints "<version> <executable>" of the interpreter to use.
select_python() {
  local candidates=(python3.13 python3.12 python3.11 python3.10 python3) candidate answer refused=()
  [[ -z ${PYTHON:-} ]] || candidates=("$PYTHON")
  for candidate in "${candidates[@]}"; do
    [[ $(type -P "$candidate") ]] || { refused+=("$candidate: not found") && continue; }
    if answer=$(inspect_python "$candidate" 2>&1); then
      printf '%s\n' "$answer"
      return
    fi
    refused+=("$candidate: ${answer%%$'\n'*}")
  done
  fail 'no Python to work with: ROS 2 is on PyPI for CPython 3.10 to 3.13 on x86-64 Linux' \
    "${refused[@]}" 'name another one with: make setup PYTHON=/path/to/python'
}

# key_of FILE...: a hash of names and contents.
key_of() {
  sha256sum -- "$@" | sha256sum | cut -c 1-16
}

# step NAME KEY TITLE COMMAND: runs COMMAND unless it has ended well before with this KEY.
# One line is printed; what COMMAND says goes to the log, whose end is shown when it fails.
step() {
  local name=$1 key=$2 title=$3 command=$4 begin=$SECONDS
  [[ $(cat "$KEYS/$name" 2>/dev/null) != "$key" ]] || return 0
  rm -f "$KEYS/$name"
  printf 'setup: %s ... ' "$title"
  if ! "$command" >"$LOG" 2>&1; then
    printf 'failed\n'
    tail -n 30 "$LOG" >&2
    fail "$title failed; the whole log is .venv/setup.log"
  fi
  printf 'done in %d s\n' $((SECONDS - begin))
  printf '%s\n' "$key" >"$KEYS/$name"
}

# The commands below chain with &&: `set -e` has no effect inside a condition.

install_environment() {
  rm -rf "$VENV/build" &&
    "${interpreter#* }" -m venv "$VENV" &&
    # The tools that build the few packages without a wheel come first, then all without resolving:
    # the lock is complete.
    "$VENV/bin/python" -m pip install --requirement <(grep -E '^(pip|setuptools|wheel)==' requirements.lock) &&
    "$VENV/bin/python" -m pip install --no-deps --no-build-isolation --requirement requirements.lock
}

install_package() {
  "$VENV/bin/python" -m pip install --no-deps --no-build-isolation --editable .
}

# Installed into .venv itself: the ROS 2 wheels look for shared libraries in .venv/lib.
install_interfaces() {
  local build=$VENV/build/kron_dynamics_msgs
  export AMENT_PREFIX_PATH=$VENV CMAKE_PREFIX_PATH=$VENV PATH=$VENV/bin:$PATH
  cmake -S kron_dynamics_msgs -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
    -DCMAKE_INSTALL_PREFIX="$VENV" -DCMAKE_PROJECT_INCLUDE="$PWD/tools/ros_wheels.cmake" \
    -DPython3_EXECUTABLE="$VENV/bin/python" &&
    cmake --build "$build" &&
    # An interface that is gone from the sources must not stay importable.
    { [[ ! -e $build/install_manifest.txt ]] || xargs -d '\n' rm -f <"$build/install_manifest.txt"; } &&
    cmake --install "$build"
}

main() {
  local interpreter environment package interfaces
  trap 'exit 130' INT
  # One at a time in a checkout. The commands below inherit the lock, so it outlives this script if
  # only the script is killed.
  exec 9<tools/setup.sh
  flock --nonblock 9 || { printf 'setup: waiting for another setup of this checkout\n' && flock 9; }

  if [[ -z ${PYTHON:-} && -x $VENV/bin/python && -e $KEYS/interpreter ]]; then
    interpreter=$(<"$KEYS/interpreter")
  else
    interpreter=$(select_python)
  fi
  [[ $(type -P cc) && $(type -P c++) ]] ||
    fail 'no C and C++ compiler (cc, c++) found (Debian, Ubuntu: install build-essential)'

  # A virtual environment can neither change its interpreter nor move, and one that was never
  # complete is not worth mending.
  if [[ ! -e $KEYS/environment || ! -x $VENV/bin/python ]] ||
    [[ $(cat "$KEYS/interpreter" "$KEYS/location") != "$interpreter"$'\n'"$VENV" ]]; then
    rm -rf "$VENV"
    mkdir -p "$KEYS"
    printf '%s\n' "$interpreter" >"$KEYS/interpreter"
    printf '%s\n' "$VENV" >"$KEYS/location"
  fi

  environment=$(key_of requirements.lock)
  package=$environment-$(key_of package.xml pyproject.toml setup.cfg setup.py)
  interfaces=$environment-$(key_of tools/ros_wheels.cmake kron_dynamics_msgs/{*.*,msg/*,srv/*})
  step environment "$environment" \
    "Python ${interpreter%% *} and the packages of requirements.lock into .venv (takes minutes)" install_environment
  step package "$package" 'kron_dynamics into .venv, linked to this checkout' install_package
  step interfaces "$interfaces" 'kron_dynamics_msgs built and installed into .venv' install_interfaces
  printf 'setup: .venv is up to date\n'
}

main
