# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Many bags analysed alike, side by side, on this machine or on a cluster."""
