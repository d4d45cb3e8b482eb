# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Package files that make an exported library a CMake project and a ROS 2 package."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kron_dynamics import __version__
from kron_dynamics.export.c_header import validity
from kron_dynamics.kernels.sources import read_beside
from kron_dynamics.messages import clipped

if TYPE_CHECKING:
    from kron_dynamics.export.library import Library

_FILES = ('CMakeLists.txt', 'package.xml', 'README.md')


def package_files(library: Library) -> dict[str, str]:
    """Return the texts of the package's files by their names."""
    functions = ''.join(
        f'| `{library.prefix}_{each.name}` | {each.operations} |\n' for each in library.functions
    )
    values = {
        'version': __version__,
        'package': library.package,
        'prefix': library.prefix,
        'upper': library.prefix.upper(),
        # Only characters without a meaning in XML and Markdown.
        'robot': re.sub(r'[^A-Za-z0-9_. -]', '_', clipped(library.model.name)),
        'fingerprint': library.model.fingerprint,
        'digest': library.digest,
        'n': str(library.model.n),
        'real': library.real,
        'workspace': str(library.workspace),
        'stack': str(library.stack),
        'functions': functions,
        'validity': f'\n{about}' if (about := validity(library)) else '',
    }
    found = {}
    for name in _FILES:
        text = read_beside(__file__, f'templates/{name}.in')
        found[name] = re.sub(r'@([a-z]+)@', lambda match: values[match[1]], text)
    return found
