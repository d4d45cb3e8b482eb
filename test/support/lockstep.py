# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Topics through which simulator_node and dynamics_node run in lockstep."""

# Lockstep uses the stamps of command_state; without them a run depends on computer speed.
ANSWERED = {
    '~/commands': 'dynamics_node/commands',
    '~/command_state': 'dynamics_node/command_state',
}
