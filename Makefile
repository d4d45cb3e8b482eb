# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
#
# Everything is installed into .venv from PyPI on first use: ROS, CMake and package managers are not
# needed, only Python 3.10 to 3.13, a C and C++ compiler and make. `make` alone lists the targets.

# The interpreter that creates .venv. Unset: the first suitable of python3.13 ... python3.10, python3.
PYTHON ?=
# Further arguments, for instance: make test ARGS='-k coriolis'
ARGS ?=

# Relative, as recipes run in the checkout: its path may contain a space.
BIN := .venv/bin
VENV := "$(CURDIR)/.venv"

# A sourced ROS or an active virtual environment must not mix with the pinned packages of .venv.
unexport AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH LD_LIBRARY_PATH PYTHONHOME PYTHONPATH \
  RMW_IMPLEMENTATION VIRTUAL_ENV _ROS_WHEELS_BOOTSTRAP_COMPLETE

.PHONY: help setup demo test tests test-long fuzz faults soak mutants bench lint colcon lock clean

help:
	@echo 'make setup      Python environment and ROS messages in .venv; every target but lock and clean runs it first'
	@echo 'make demo       simulated stacker-reclaimer under computed torque: table, plots and a bag'
	@echo 'make test       lint and the tests; ARGS goes to pytest'
	@echo 'make test-long  lint, then these tests and many more: every robot, more examples (tens of minutes)'
	@echo 'make fuzz       thousands of random descriptions and calls (30 minutes); ARGS: --seed 2 --only urdf'
	@echo 'make faults     dynamics_node with corrupted joint states and killed processes (5 minutes); ARGS: --only ur5'
	@echo 'make soak       dynamics_node on three machines: 1000 transitions, then half an hour of service calls; ARGS: --only ur5'
	@echo 'make mutants    mutation testing: small errors in the code, each run against its tests (hours); ARGS: --seed 2 --count 50'
	@echo 'make bench      timings against Pinocchio, CasADi, MuJoCo, exudyn: writes docs/benchmarks.md'
	@echo 'make lint       check format, style and types'
	@echo 'make colcon     build the workspace by colcon into install/'
	@echo 'make lock       regenerate requirements.lock from requirements.in (needs uv)'
	@echo 'make clean      remove all generated files and .venv'

setup:
	@PYTHON='$(PYTHON)' tools/setup.sh

demo: setup
	@$(BIN)/kron_dynamics demo $(ARGS)

# Both at once: neither keeps two cores busy all the time.
test: setup
	@$(MAKE) --no-print-directory --jobs=2 lint tests

tests: setup
	@PYTHON="$(CURDIR)/$(BIN)/python" tools/test.sh $(ARGS)

# The checks that `make test` runs on one robot of each kind, on every available robot.
test-long: lint
	@PYTHON="$(CURDIR)/$(BIN)/python" tools/test.sh --long $(ARGS)

# Prints the seed, and for each finding the command that reproduces it.
fuzz: setup
	@$(BIN)/python test/fuzz/campaign.py $(ARGS)

faults: setup
	@$(BIN)/python test/faults/campaign.py $(ARGS)

soak: setup
	@$(BIN)/python test/faults/soak.py $(ARGS)

# The same seed gives the same mutants; equivalent ones are listed in test/mutation/reviewed.yaml.
mutants: setup
	@$(BIN)/python test/mutation/campaign.py $(ARGS)

# The peers are large and needed only here; those that cannot be installed are reported as not measured.
bench: setup
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
	  --requirement benchmarks/requirements.txt || echo 'bench: not every peer could be installed'
	@$(BIN)/python -m benchmarks $(ARGS)

# With low priority: beside the tests it takes the time in which these wait.
lint: setup
	@echo 'lint: ruff check'
	@$(BIN)/ruff check --quiet .
	@echo 'lint: ruff format --check'
	@$(BIN)/ruff format --quiet --check . || { echo 'run: $(BIN)/ruff format .'; exit 1; }
	@if [ -e .venv/lib/python3.10 ]; then \
	  echo 'lint: mypy left out: NumPy for Python 3.10 is an older series with other types'; \
	else \
	  echo 'lint: mypy' && nice -n 19 $(BIN)/python -m mypy --no-error-summary; \
	fi

# CMake finds the ROS packages of .venv through the two prefix paths; the included file works around a
# defect of their exported targets.
colcon: setup
	@AMENT_PREFIX_PATH=$(VENV) CMAKE_PREFIX_PATH=$(VENV) PATH="$(CURDIR)/$(BIN):$$PATH" \
	  $(BIN)/colcon build --base-paths . kron_dynamics_msgs $(ARGS) --cmake-args -G Ninja \
	  -DBUILD_TESTING=OFF -DPython3_EXECUTABLE="$(CURDIR)/$(BIN)/python" \
	  -DCMAKE_PROJECT_INCLUDE="$(CURDIR)/tools/ros_wheels.cmake"
	@echo 'colcon: built; to use it: . install/setup.bash'

lock:
	@uv pip compile --quiet --universal --python-version 3.10 --no-annotate --no-emit-index-url \
	  --no-emit-find-links --custom-compile-command 'make lock' \
	  --output-file requirements.lock requirements.in $(ARGS)

clean:
	@rm -rf .venv build install log .hypothesis .mypy_cache .pytest_cache .ruff_cache ./*.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
