"""Whole-number expressions such as ``8*cores``, read without running any code."""

import ast
import operator
import re
from collections.abc import Callable
from contextlib import suppress

from streamjoin.hdl.base.parameters import ParameterError
from streamjoin.reference.wording import shown
from streamjoin.reference.written_numbers import whole_number

_BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_FUNCTIONS = {"min": min, "max": max}
# A number as people write it: zeros may lead, which no expression allows, and 4Ki is one.
_NUMBER = re.compile(r"(?<![\w.])[0-9][\w.]*", re.ASCII)


def names_in(text: str) -> set[str]:
    """The names that an expression refers to; none if the text is no expression."""
    try:
        return {node.id for node in ast.walk(_parsed(text)) if isinstance(node, ast.Name)} - {*_FUNCTIONS}
    except (SyntaxError, ValueError):
        return set()


def evaluate(text: str, value_of: Callable[[str], int]) -> int:
    """The value of an expression of whole numbers, names, ``+ - * // %``, parentheses, ``min`` and ``max``."""

    def value(node: ast.AST | None) -> int:
        match node:
            case ast.Expression(body=body):
                return value(body)
            case ast.Constant(value=int(number)) if not isinstance(number, bool):
                return number
            case ast.Name(id=name) if name not in _FUNCTIONS:
                return value_of(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return _BINARY[type(op)](value(left), value(right))
            case ast.Call(func=ast.Name(id=name), args=[_, *_] as arguments, keywords=[]) if name in _FUNCTIONS:
                return _FUNCTIONS[name]([value(argument) for argument in arguments])
        raise ParameterError(
            f"{shown(text)} is no whole number: write one, or an expression with names, + - * // % min max and "
            "parentheses"
        )

    with suppress(ValueError):
        return whole_number(text)  # which may be 1e+6
    try:
        tree = _parsed(text)
    except (SyntaxError, ValueError):
        tree = None
    try:
        return value(tree)
    except ZeroDivisionError:
        raise ParameterError(f"{shown(text)} divides by 0: write another divisor") from None


def _parsed(text: str) -> ast.Expression:
    def plain(number: re.Match) -> str:
        try:
            return str(whole_number(number[0]))
        except ValueError:
            return number[0]

    return ast.parse(_NUMBER.sub(plain, text.strip()), mode="eval")
