# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Options of commands that load a robot without its constraints, and show these beside it."""

from __future__ import annotations

import argparse

from kron_dynamics.cli.options import DescriptionOptions, description_options
from kron_dynamics.model import read_urdf_file
from kron_dynamics.model.xacro_text import asked_arguments, is_xacro


def tree_options(arguments: argparse.Namespace) -> DescriptionOptions:
    """Return the options of `load` for the tree, without xacro arguments of the constraints alone.

    Raises:
        ModelError: a file cannot be read or expanded.
    """
    options = description_options(arguments)
    constraints, values = options['constraints'], options['xacro_args']
    options['constraints'] = None
    if not values or constraints is None:
        return options
    from kron_dynamics.constraints.formats.reading import xacro_arguments  # trees do without

    of_loops = xacro_arguments(constraints, values) or frozenset()
    text, own = read_urdf_file(arguments.urdf), frozenset[str]()
    if is_xacro(text, arguments.urdf):
        own = asked_arguments(text, arguments.urdf, values)
    options['xacro_args'] = {
        name: value for name, value in values.items() if name in own or name not in of_loops
    }
    return options
