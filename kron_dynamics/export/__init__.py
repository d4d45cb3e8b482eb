# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of a robot as a C library without dependencies, for real-time loops.

Begin with `library.py`: `export_library`, and `Library.files`, which calls the writer of each
file. `request.py` checks arguments, `folder.py` writes to disk.
"""

from kron_dynamics.export.folder import write_export
from kron_dynamics.export.library import Library, export_library

__all__ = ['Library', 'export_library', 'write_export']
