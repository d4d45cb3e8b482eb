# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Run-time checks of a driven machine: measured states, their publishers, tracking errors.

Ages of states: `control/joint_states.py` assembles them, `problem` of `ros/state_supervision.py`
decides when one is too old; docs/faults.md has every case.
"""
