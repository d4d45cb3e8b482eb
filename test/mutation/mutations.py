# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Mutations: small changes of a source text, each of which should make a test fail.

Operators, comparisons and conditions are inverted, numbers changed, functions such as min and max
exchanged, signs, raised errors and early returns removed, indices shifted. Strings, annotations,
the contents of `raise` statements and the argument `strict` of `zip` are not mutated.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_EXCHANGED = (
    ('min', 'max'),
    ('minimum', 'maximum'),
    ('argmin', 'argmax'),
    ('any', 'all'),
    ('sin', 'cos'),
    ('floor', 'ceil'),
    ('isfinite', 'isnan'),
    ('zeros', 'ones'),
    ('popleft', 'pop'),
)
_NAMES = {a: b for pair in _EXCHANGED for a, b in (pair, pair[::-1])}
_LEFT_ALONE = (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)


class Mutation(NamedTuple):
    """A replacement in a text.

    Attributes:
        start: index of the first replaced character.
        stop: index after the last replaced character.
        new: replacement.
        line: line number, from 1.
        function: qualified name of the enclosing function or class, '' outside of any.
    """

    start: int
    stop: int
    new: str
    line: int
    function: str

    def applied(self, text: str) -> str:
        """Return the mutated text."""
        return text[: self.start] + self.new + text[self.stop :]


def mutations(text: str) -> list[Mutation]:
    """Return all mutations of a source text, in order of position."""
    lines = text.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.decode()))

    def place(line: int, column: int) -> int:
        """Return the text index of an `ast` position, whose columns count bytes."""
        return starts[line - 1] + len(lines[line - 1][:column].decode())

    found = []
    for node, new, function in _changes(ast.parse(text), ''):
        start = place(node.lineno, node.col_offset)
        stop = place(node.end_lineno or node.lineno, node.end_col_offset or 0)
        found.append(Mutation(start, stop, new, node.lineno, function))
    return sorted(set(found))


Change = tuple['ast.expr | ast.stmt', str, str]


def _changes(node: ast.AST, function: str) -> Iterator[Change]:
    """Yield the mutations of a node and its descendants: node, replacement, function."""
    if isinstance(node, _LEFT_ALONE) or _is_text(node) or _is_for_types(node):
        return
    if isinstance(node, ast.keyword) and node.arg == 'strict':
        return
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        function = f'{function}.{node.name}' if function else node.name
    if isinstance(node, ast.expr):
        for new in _of_expression(node):
            yield node, new, function
    elif isinstance(node, ast.stmt):
        for target, new in _of_statement(node):
            yield target, new, function
    for name, value in ast.iter_fields(node):
        if name in ('annotation', 'returns', 'decorator_list', 'bases'):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _changes(child, function)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_for_types(node: ast.AST) -> bool:
    """Whether a statement is for type checkers only, or is `__all__`."""
    if isinstance(node, ast.If):
        return 'TYPE_CHECKING' in ast.unparse(node.test)
    if isinstance(node, ast.AnnAssign):
        return 'TypeAlias' in ast.unparse(node.annotation)
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == '__all__'


def _of_expression(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        changed = ast.BinOp(node.left, _OPERATORS[type(node.op)](), node.right)
        yield f'({ast.unparse(changed)})'
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
        yield f'({ast.unparse(node.operand)})'
    elif isinstance(node, ast.Compare):
        for k, operator in enumerate(node.ops):
            for other in _COMPARISONS[type(operator)]:
                operators = [*node.ops[:k], other(), *node.ops[k + 1 :]]
                yield f'({ast.unparse(ast.Compare(node.left, operators, node.comparators))})'
    elif isinstance(node, ast.BoolOp):
        other_way = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield f'({ast.unparse(ast.BoolOp(other_way, node.values))})'
        for k in range(len(node.values)):
            rest = [*node.values[:k], *node.values[k + 1 :]]
            yield f'({ast.unparse(ast.BoolOp(node.op, rest) if len(rest) > 1 else rest[0])})'
    elif isinstance(node, ast.IfExp):
        turned = ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
        yield f'({ast.unparse(turned)})'
    elif isinstance(node, ast.Constant):
        yield from _of_constant(node.value)
    elif isinstance(node, ast.Name) and node.id in _NAMES and isinstance(node.ctx, ast.Load):
        yield _NAMES[node.id]
    elif isinstance(node, ast.Attribute) and node.attr in _NAMES:
        yield ast.unparse(ast.Attribute(node.value, _NAMES[node.attr], node.ctx))
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name):
        before = ast.BinOp(node.slice, ast.Sub(), ast.Constant(1))
        yield ast.unparse(ast.Subscript(node.value, before, node.ctx))


def _of_constant(value: object) -> Iterator[str]:
    if isinstance(value, bool):
        yield repr(not value)
    elif isinstance(value, int):
        yield repr(value + 1)
    elif isinstance(value, float):
        yield repr(1.25 * value) if value else '1.0'


def _of_statement(node: ast.stmt) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    if isinstance(node, (ast.If, ast.While)):
        yield node.test, f'not ({ast.unparse(node.test)})'
    if isinstance(node, ast.If) and isinstance(node.body[-1], (ast.Raise, ast.Return)):
        yield node.test, f'False and ({ast.unparse(node.test)})'
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield node, 'pass'
    if isinstance(node, ast.AugAssign) and type(node.op) in _OPERATORS:
        operator = _OPERATORS[type(node.op)]()
        yield node, ast.unparse(ast.AugAssign(node.target, operator, node.value))
