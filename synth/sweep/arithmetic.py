"""Whole-number expressions such as ``8*cores``, read without running any code."""

import ast
import operator
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


def names_in(text: str) -> set[str]:
    """The names that an expression refers to; none if the text is no expression."""
    try:
        return {node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)} - {
            *_FUNCTIONS
        }
    except (SyntaxError, ValueError):
        return set()


def evaluate(text: str, value_of: Callable[[str], int]) -> int:
    """The value of an expression of whole numbers, names, ``+ - * // %``, parentheses, ``min`` and ``max``."""

    def value(node: ast.AST) -> int:
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
        return whole_number(text)  # zeros may lead, which no expression allows
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError):
        tree = None
    try:
        return value(tree)
    except ZeroDivisionError:
        raise ParameterError(f"{shown(text)} divides by 0: write another divisor") from None
