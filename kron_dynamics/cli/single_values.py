# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Options that are given at most once: argparse alone takes the last value without a word."""

from __future__ import annotations

import argparse
from typing import Any


class SingleValue(argparse.Action):
    """Store the value of an option, or its list of values, and refuse the option's repetition."""

    _is_given = False

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Store the values.

        Raises:
            ArgumentError: the option is given for the second time.
        """
        if option_string is not None:
            if self._is_given:
                raise argparse.ArgumentError(self, 'it is given twice, expected once')
            self._is_given = True
        setattr(namespace, self.dest, values)
