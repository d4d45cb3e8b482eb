# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Generator of tables in flexible-links.md: ``python -m flexible_links`` in docs."""
