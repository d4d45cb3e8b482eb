# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The header-only C++17 wrapper of an exported library with Eigen, and its test program."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

from kron_dynamics.export.c_header import LICENCE, arguments, comment
from kron_dynamics.export.identifiers import in_comment
from kron_dynamics.export.quantities import Function

if TYPE_CHECKING:
    from kron_dynamics.export.library import Library

# Methods with a larger result, in numbers, have no overload that returns it by value.
_RETURNED = 2048
_BEFORE = """\
#ifndef {guard}
#define {guard}

#include <Eigen/Core>
#include <array>
#include <stdexcept>

#include "{package}/{prefix}.h"

namespace {prefix} {{

using Real = {real};
constexpr int size = {upper}_N;

template <int Length>
using Vector = Eigen::Matrix<Real, Length, 1>;
template <int Rows, int Columns>
using Matrix = Eigen::Matrix<Real, Rows, Columns,
                             Columns == 1 && Rows != 1 ? Eigen::ColMajor : Eigen::RowMajor>;
/* Input: a vector or a vector expression, copied to the stack if it is not contiguous. Throws
 * std::invalid_argument if one whose length is known at run time only has another. */
template <int Length>
class In {{
 public:
  template <class Derived>
  In(const Eigen::MatrixBase<Derived> &vector) : vector_(checked(vector.derived())) {{}}
  const Real *data() const {{ return vector_.data(); }}

 private:
  template <class Derived>
  static const Derived &checked(const Derived &vector) {{
    if (Derived::SizeAtCompileTime == Eigen::Dynamic && vector.size() != Length) {{
      throw std::invalid_argument("{prefix}: a vector is of another length than the argument");
    }}
    return vector;
  }}

  Eigen::Ref<const Vector<Length>> vector_;
}};
/* Output: an array or an Eigen::Map of one, not a block of a larger one. */
template <class Array>
class Out {{
 public:
  Out(Array &array) : data_(array.data()) {{}}
  template <int Options>
  Out(const Eigen::Map<Array, Options> &map) : data_(const_cast<Real *>(map.data())) {{}}
  Real *data() const {{ return data_; }}

 private:
  Real *data_;
}};
{structures}
/* The robot. Use one object per calling thread, since it holds the workspace. */
class Robot {{
 public:
  /* Throws std::runtime_error if library and header are from different exports. */
  Robot() : Robot({upper}_FINGERPRINT) {{}}

  /* Throws std::runtime_error if the library was made from a model with another fingerprint. */
  explicit Robot(const char *fingerprint) {{
    if (const int code = {prefix}_check(fingerprint, {upper}_EXPORT)) {{
      throw std::runtime_error(code == 1 ? "{prefix}: made from a model with another fingerprint"
                                         : "{prefix}: header and library of different exports");
    }}
  }}
"""
_AFTER = """{memory}}};

}}  // namespace {prefix}

#endif
"""
_MEMORY = """
 private:
  std::array<Real, {upper}_WORKSPACE> workspace_;
"""
_TEST = """\
#include <cstdio>
#include <cstring>

#include "{package}/{prefix}.hpp"

static int wrong = 0;

template <class A, class B>
static void same(const char *what, const A &a, const B &b) {{
  for (Eigen::Index k = 0; k < a.size(); ++k) {{
    if (std::memcmp(a.data() + k, b.data() + k, sizeof({prefix}::Real)) != 0) {{
      std::printf("%s: element %d differs\\n", what, static_cast<int>(k));
      wrong = 1;
      return;
    }}
  }}
}}

int main() {{
  {prefix}::Robot robot;
  try {{
    {prefix}::Robot other("another model");
    wrong = 1;
  }} catch (const std::runtime_error &) {{
  }}
  try {{
    {prefix}::In<2> other(Eigen::Matrix<{prefix}::Real, Eigen::Dynamic, 1>::Zero(1));
    wrong = 1;
  }} catch (const std::invalid_argument &) {{
  }}
  Eigen::Matrix<{prefix}::Real, {most}, 1> numbers;
  for (int k = 0; k < {most}; ++k) numbers[k] = {prefix}::Real(0.03) * {prefix}::Real(k % 29 + 1);
{calls}  std::printf(wrong ? "wrapper: wrong\\n" : "wrapper: passed\\n");
  return wrong;
}}
"""


def eigen_header(library: Library) -> str:
    """Return the text of the wrapper."""
    structures = _structure_names(library.functions)
    names = {
        'guard': f'{library.prefix.upper()}_HPP',
        'upper': library.prefix.upper(),
        'prefix': library.prefix,
        'package': library.package,
        'real': library.real,
        'structures': ''.join(_structure(each, structures) for each in library.functions),
    }
    memory = _MEMORY.format(**names) if library.workspace else ''
    methods = ''.join(f'\n{_method(library, each, structures)}' for each in library.functions)
    after = _AFTER.format(memory=memory, **names)
    return f'{LICENCE} *\n{comment(_about(library))}{_BEFORE.format(**names)}{methods}{after}'


def wrapper_test(library: Library) -> str:
    """Return a program that compares every method with its C function."""
    most = max(length for each in library.functions for _, length in arguments(library, each))
    calls = ''.join(_call(library, each) for each in library.functions)
    text = _TEST.format(prefix=library.prefix, package=library.package, most=most, calls=calls)
    about = comment(
        ['Checks that every method of the wrapper returns the bits of its C function.']
    )
    return f'{LICENCE} *\n{about}{text}'


def _about(library: Library) -> Iterator[str]:
    yield f"C++17 wrapper with Eigen for the robot '{in_comment(library.model.name)}'."
    yield f'The arrays are described in {library.prefix}.h. Nothing here allocates memory. Vectors'
    yield 'and matrices have fixed sizes and are row-major; they can be assigned to Eigen types of'
    yield 'any storage order.'


def _array(shape: Sequence[int]) -> str:
    """Return the C++ type of an array."""
    if len(shape) == 2:
        return f'Matrix<{shape[0]}, {shape[1]}>'
    return f'Vector<{prod(shape)}>'


def _is_returned(function: Function) -> bool:
    return all(prod(shape) <= _RETURNED for _, shape in function.results)


def _structure(function: Function, structures: Mapping[str, str]) -> str:
    if len(function.results) == 1 or not _is_returned(function):
        return ''
    members = ''.join(f'  {_array(shape)} {name};\n' for name, shape in function.results)
    return f'\nstruct {structures[function.name]} {{\n{members}}};\n'


def _structure_names(functions: Sequence[Function]) -> dict[str, str]:
    """Return the name of the structure with the results of each function, by its name."""
    words = {each.name: [word.capitalize() for word in each.name.split('_')] for each in functions}
    plain = {name: ''.join(parts) for name, parts in words.items()}
    common = Counter(plain.values())
    # Links such as a1 and a_1 differ in nothing but the underscore before a digit: it is kept.
    return {
        name: plain[name] if common[plain[name]] == 1 else re.sub(r'_(?=\D)', '', '_'.join(parts))
        for name, parts in words.items()
    }


def _method(library: Library, function: Function, structures: Mapping[str, str]) -> str:
    given = [f'In<{n}> {name}' for name, n in arguments(library, function)]
    outs = [f'Out<{_array(shape)}> {name}' for name, shape in function.results]
    read = [f'{name}.data()' for name, _ in arguments(library, function)]
    read += [f'{name}.data()' for name, _ in function.results]
    read += ['workspace_.data()'] if function.code.workspace else []
    const = '' if function.code.workspace else ' const'
    text = f'  /* {function.description.replace("*/", "* /")} */\n'
    text += f'  void {function.name}({", ".join(given + outs)}){const} {{\n'
    text += f'    {library.prefix}_{function.name}({", ".join(read)});\n  }}\n'
    if not _is_returned(function):
        return text
    names = ', '.join(name for name, _ in arguments(library, function))
    if len(function.results) == 1:
        ((_, shape),) = function.results
        kind, filled, value = _array(shape), 'result_', 'result_'
        if not shape:
            kind, value = 'Real', 'result_[0]'
        made = f'{_array(shape)} result_;'
    else:
        kind = structures[function.name]
        made, value = f'{kind} result_;', 'result_'
        filled = ', '.join(f'result_.{name}' for name, _ in function.results)
    text += f'  {kind} {function.name}({", ".join(given)}){const} {{\n    {made}\n'
    text += f'    {function.name}({names}, {filled});\n    return {value};\n  }}\n'
    return text


def _call(library: Library, function: Function) -> str:
    """Return a block that calls a method and its C function and compares the results."""
    space = library.prefix
    lines = []
    for k, (name, length) in enumerate(arguments(library, function)):
        value = f'numbers.head({length}) * {space}::Real({k + 1})'
        lines.append(f'const {space}::Vector<{length}> {name} = {value};')
    names = [name for name, _ in arguments(library, function)]
    data = [f'{name}.data()' for name in names]
    for name, shape in function.results:
        # Static, since results of long chains may be too large for the stack.
        lines.append(f'static {space}::{_array(shape)} {name}, {name}_c;')
    outs = [name for name, _ in function.results]
    lines.append(f'robot.{function.name}({", ".join(names + outs)});')
    work = []
    if function.code.workspace:
        lines.append(f'static {library.real} work[{function.code.workspace}];')
        work = ['work']
    c_outs = [f'{name}_c.data()' for name in outs]
    lines.append(f'{space}_{function.name}({", ".join(data + c_outs + work)});')
    lines += [f'same("{function.name}", {name}, {name}_c);' for name in outs]
    if _is_returned(function):
        call = f'robot.{function.name}({", ".join(names)})'
        if len(outs) > 1:
            lines.append(f'const auto all = {call};')
            lines += [f'same("{function.name}", all.{name}, {name});' for name in outs]
        elif function.results[0][1]:
            lines.append(f'same("{function.name}", {call}, {outs[0]});')
        else:
            lines.append(f'if ({call} != {outs[0]}[0]) wrong = 1;')
    body = ''.join(f'    {line}\n' for line in lines)
    return f'  {{\n{body}  }}\n'
