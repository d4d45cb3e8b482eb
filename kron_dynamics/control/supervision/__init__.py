# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What is checked while a machine is driven: measured states, their sources, tracking errors."""
