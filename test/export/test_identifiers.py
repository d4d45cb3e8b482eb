# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of a description in C: nothing that stands in them is code."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.export.identifiers import (
    c_string,
    checked_prefix,
    different_identifiers,
    identifier,
    in_comment,
)


@given(st.text(max_size=80))
def test_whatever_a_robot_is_called_its_identifier_can_be_a_prefix(name):
    assert checked_prefix(identifier(name)) == identifier(name)


@pytest.mark.parametrize(
    ('name', 'expected'),
    [
        ('stacker_reclaimer', 'stacker_reclaimer'),
        ('UR5e', 'ur5e'),
        ('7 axes', 'robot_7_axes'),
        ('*/ int main', 'int_main'),
        ('double', 'double_robot'),
        ('Select', 'select_robot'),
        ('unix', 'unix_robot'),
        ('Ünïcode', 'n_code'),
        ('', 'robot'),
    ],
)
def test_identifiers(name, expected):
    assert identifier(name) == expected


@pytest.mark.parametrize(
    'prefix', ['', 'Arm', '_arm', 'arm_', 'a__b', '7a', 'int', 'std', 'sin', 'a-b']
)
def test_a_prefix_that_is_no_identifier_is_refused(prefix):
    with pytest.raises(ParameterError, match=re.escape(repr(prefix))):
        checked_prefix(prefix)


def test_equal_identifiers_get_numbers():
    names = ['a b', 'a-b', 'a_b_2', 'forward']
    assert different_identifiers(names, {'forward'}) == ['a_b', 'a_b_2', 'a_b_2_2', 'forward_2']


@given(st.text(max_size=60))
@example('a */ b /* c // d ??/ e \\ f')
def test_a_comment_ends_where_it_should(name):
    text = in_comment(name)
    assert text.isascii() and text.isprintable()
    assert not re.search(r'\*/|/\*|//|\\|\?\?', text)


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=40))
@example('say "\\" 7??/ \x7f\n')
def test_a_string_holds_the_bytes_of_a_name(name):
    literal = c_string(name)
    assert re.fullmatch(r'"(?:[^"\\?]|\\[0-7]{3})*"', literal)
    # Octal escapes are those of Python's literals of bytes, too.
    assert ast.literal_eval(f'b{literal}') == name.encode('utf-8', 'surrogatepass')
