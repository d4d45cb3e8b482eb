# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Natural frequencies and damping of flexible links as a recording shows them."""
