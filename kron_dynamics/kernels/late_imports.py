# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The lock of imports that wait until something needs them.

A process that is forked while another thread imports a module inherits the module's lock, which
nothing there releases, and the module in part. So forks wait for the imports under this lock.
"""

from __future__ import annotations

import os
import threading

IMPORTING = threading.RLock()

os.register_at_fork(
    before=IMPORTING.acquire,
    after_in_parent=IMPORTING.release,
    after_in_child=IMPORTING.release,
)
