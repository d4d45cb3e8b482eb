# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Look-up of robots, configurations and launch files that are installed with the package."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from kron_dynamics.exceptions import ParameterError

_SHARE = Path('share', 'kron_dynamics')


def resource_path(*parts: str) -> Path:
    """Return the path of a file or folder that is installed with the package.

    Search order: the source checkout that this module runs from (so that edits there take
    effect), ``share/kron_dynamics`` of each prefix in ``AMENT_PREFIX_PATH`` (a sourced ROS
    workspace), and ``share/kron_dynamics`` of the Python environment.

    Args:
        parts: path below the package's share folder: ``'urdf', 'stacker_reclaimer.urdf'``.

    Raises:
        ParameterError: there is no such file; the message lists the paths tried.
    """
    tried = []
    for root in _roots():
        candidate = root.joinpath(*parts)
        if candidate.exists():
            return candidate
        tried.append(str(candidate))
    raise ParameterError(f"no '{'/'.join(parts)}' with kron_dynamics; tried {', '.join(tried)}")


def _roots() -> list[Path]:
    checkout = Path(__file__).resolve().parent.parent
    roots = [checkout] if (checkout / 'package.xml').is_file() else []
    prefixes = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
    roots += [Path(prefix) / _SHARE for prefix in prefixes if prefix]
    return [*roots, Path(sys.prefix) / _SHARE]
