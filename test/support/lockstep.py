# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Topics that simulator_node and dynamics_node share in a simulation in lockstep."""

# Lockstep goes by the stamps of the second: without it the run would depend on the computer.
ANSWERED = {
    '~/commands': 'dynamics_node/commands',
    '~/command_state': 'dynamics_node/command_state',
}
