# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Entries of a description file: what YAML means here, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kron_dynamics import ModelError
from kron_dynamics.model.entries import FINITE, POSITIVE, Entries, read_yaml


def entries(**values: object) -> Entries:
    return Entries('robot.yaml: link x', 'outer.', values)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / 'robot.yaml'


@pytest.mark.parametrize(
    ('text', 'value'),
    [
        ('3.2e11', 3.2e11),
        ('-1e-3', -1e-3),
        ('1.8e+11', 1.8e11),
        ('.5', 0.5),
        ('7', 7),
        ('010', 10.0),
        ('1:30', '1:30'),
        ('1_000', '1_000'),
        ('0x10', '0x10'),
        ('2026-01-01', '2026-01-01'),
        ('no', 'no'),
        ('true', True),
        ('"1"', '1'),
        ('', None),
        ('~', None),
        ('-.inf', -np.inf),
    ],
)
def test_plain_values(file: Path, text: str, value: object) -> None:
    file.write_text(f'key: {text}\n')
    found = read_yaml(file)
    assert found == {'key': value}
    assert type(found['key']) is type(value)


def test_common_settings_are_merged(file: Path) -> None:
    file.write_text('a: &a {x: 1, y: 2}\nb: &b {<<: *a, y: 3}\nc: {<<: *b, x: 4}\n')
    assert read_yaml(file)['b'] == {'x': 1, 'y': 3}
    assert read_yaml(file)['c'] == {'x': 4, 'y': 3}


@pytest.mark.parametrize(
    ('text', 'line', 'words'),
    [
        ('a: 1\nb: [1, 2\nc: 3\n', 3, 'expected'),
        ('a: 1\n\tb: 2\n', 2, ''),
        ('a: 1\nb: 2\na: 3\n', 3, "key 'a' is given twice"),
        ('a: 1\n"a": 3\n', 2, "key 'a' is given twice"),
        ('o:\n  a: 1\n  a: 3\n', 3, "key 'a' is given twice"),
        ('b: {<<: {x: 1}, <<: {y: 1}}\n', 1, "key '<<' is given twice"),
        ('a: *b\n', 1, "undefined alias 'b'"),
        ('a: 1\n---\nb: 2\n', 2, 'another document'),
        ('a: !!python/object/apply:os.getcwd []\n', 1, 'could not determine a constructor'),
        ('a: !!timestamp x\n', 1, 'could not determine a constructor'),
        ('{[1]: 2}\n', 1, 'unhashable key'),
    ],
)
def test_broken_yaml_names_file_and_line(file: Path, text: str, line: int, words: str) -> None:
    file.write_text(text)
    with pytest.raises(ModelError) as caught:
        read_yaml(file)
    assert str(caught.value).startswith(f'{file}, line {line}: ')
    assert words in str(caught.value)


@pytest.mark.parametrize('data', [b'\xff\xfe\x00', b'a: \x07', b'a: !!int x', b'[' * 5000])
def test_text_that_is_no_yaml_at_all(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    with pytest.raises(ModelError) as caught:
        read_yaml(file)
    assert str(caught.value).startswith(str(file))
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    'value', ['!!bool "foo"', '!!int ""', '!!float ""', '!!null x y: [', '!!int "0x"']
)
def test_tags_that_lie(file: Path, value: str) -> None:
    file.write_text(f'key: {value}\n')
    with pytest.raises(ModelError) as caught:
        read_yaml(file)
    assert str(caught.value).startswith(str(file))
    assert len(str(caught.value).splitlines()) == 1


def doubling(levels: int) -> str:
    rows = ['a0: &a0 {' + ', '.join(f'k{k}: 1' for k in range(10)) + '}']
    rows += [f'a{k}: &a{k} {{<<: [{", ".join([f"*a{k - 1}"] * 10)}]}}' for k in range(1, levels)]
    return '\n'.join(rows) + '\n'


def test_merge_keys_that_multiply(file: Path) -> None:
    file.write_text(doubling(3))
    assert len(read_yaml(file)['a2']) == 10
    file.write_text(doubling(12))
    with pytest.raises(ModelError, match=r'line \d+: merge keys give more than 100000 entries$'):
        read_yaml(file)


@pytest.mark.parametrize('opening', ['[', '{a: ', '- '])
def test_nesting_without_end(file: Path, opening: str) -> None:
    file.write_text(opening * 20_000)
    with pytest.raises(ModelError) as caught:
        read_yaml(file)
    assert str(caught.value).startswith(str(file))


def test_brackets_are_refused_before_they_take_time(file: Path) -> None:
    """PyYAML's time grows with the square of their depth."""
    file.write_text('a: ' + '[' * 50 + ']' * 50)
    read_yaml(file)
    file.write_text('\na: ' + '[' * 1000 + ']' * 1000)
    with pytest.raises(ModelError, match=', line 2: it is nested more than 50 levels deep$'):
        read_yaml(file)


def test_file_of_any_size(file: Path) -> None:
    file.write_text('a: 1\n' + '#' * 300_000)
    with pytest.raises(ModelError, match='more than 300000 bytes'):
        read_yaml(file)


@pytest.mark.parametrize('text', ['{huge}: 1\n{huge}: 2\n', '!!{huge} x\n', 'a: *{huge}\n'])
def test_long_words_are_cut_in_messages(file: Path, text: str) -> None:
    file.write_text(text.format(huge='x' * 800))
    with pytest.raises(ModelError) as caught:
        read_yaml(file)
    assert len(str(caught.value)) - len(str(file)) < 500


def test_path_with_a_nul() -> None:
    with pytest.raises(ModelError, match=r'^a\\x00b: the file cannot be read'):
        read_yaml(Path('a\0b'))


def test_file_that_is_not_there_or_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r'absent\.yaml: the file does not exist$'):
        read_yaml(tmp_path / 'absent.yaml')
    with pytest.raises(ModelError, match='cannot be read'):
        read_yaml(tmp_path)


@pytest.mark.parametrize('value', [2, 2.0, np.float32(2), np.int64(2), Fraction(2)])
def test_numbers_of_any_type(value: object) -> None:
    number = entries(x=value).number('x', POSITIVE)
    assert number == 2
    assert type(number) is float


@pytest.mark.parametrize(
    'value',
    [True, np.True_, '2', None, [2], {}, np.nan, np.inf, -np.inf, 10**400, 2j, np.array(2.0)],
)
def test_what_is_no_number(value: object) -> None:
    with pytest.raises(ModelError, match=r'^robot\.yaml: link x: key .outer\.x. is .* expected a'):
        entries(x=value).number('x')


@pytest.mark.parametrize('value', [0, -1.5])
def test_number_of_another_kind(value: float) -> None:
    assert entries(x=value).number('x', FINITE) == value
    with pytest.raises(ModelError, match='expected a positive number'):
        entries(x=value).number('x', POSITIVE)


@pytest.mark.parametrize('value', [[1, 2], (1, 2.0), np.array([1, 2])])
def test_lists_of_any_type(value: object) -> None:
    for found in (entries(x=value).vector('x', 2), entries(x=value).spread('x', 2, POSITIVE)):
        assert found.tolist() == [1, 2]
        assert not found.flags.writeable


@pytest.mark.parametrize(
    'value',
    [[1, 2, 3], [1], [], [1, True], [1, '2'], [1, np.nan], [[1, 2]], np.eye(2), [1, -2], {'a': 1}],
)
def test_what_is_no_such_list(value: object) -> None:
    with pytest.raises(ModelError, match="key 'outer.x' is .* expected a list of 2, each a pos"):
        entries(x=value).vector('x', 2, POSITIVE)


def test_number_in_place_of_a_list_is_repeated() -> None:
    assert entries(x=3).spread('x', 4, POSITIVE).tolist() == [3, 3, 3, 3]
    with pytest.raises(ModelError, match=r"'outer\.x' is 'a', expected a positive number or a li"):
        entries(x='a').spread('x', 4, POSITIVE)
    with pytest.raises(ModelError, match=r"'outer\.x' is -3, expected a positive number"):
        entries(x=-3).spread('x', 4, POSITIVE)


def test_unknown_key_with_a_near_one() -> None:
    with pytest.raises(ModelError) as caught:
        entries(lenght=1).allow('length', 'axis')
    assert str(caught.value) == (
        "robot.yaml: link x: key 'outer.lenght' is unknown, did you mean 'length'? "
        'allowed: length, axis'
    )


def test_unknown_key_without() -> None:
    with pytest.raises(ModelError, match="'outer.q' is unknown, allowed: length, axis$"):
        entries(q=1).allow('length', 'axis')


def test_mapping_below() -> None:
    inner = entries(x={'y': 1}).below('x')
    with pytest.raises(ModelError, match="^robot.yaml: link x: key 'outer.x.z' is missing$"):
        inner.number('z')
    with pytest.raises(ModelError, match=r"key 'outer\.x' is 5, expected a mapping"):
        entries(x=5).below('x')
    with pytest.raises(ModelError, match=r"key 'outer\.x\.3' is no text"):
        entries(x={3: 1}).below('x')


def test_long_values_are_shown_short() -> None:
    with pytest.raises(ModelError) as caught:
        entries(x=np.zeros((40, 40))).vector('x', 3)
    assert len(str(caught.value)) < 150
    assert '\n' not in str(caught.value)
