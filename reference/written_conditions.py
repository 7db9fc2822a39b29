"""A predicate written as one condition, such as ``(r.key - s.key <= 8) & (s.key - r.key <= 2)``; no code is run."""

import ast
import operator
from collections.abc import Callable
from typing import Any

from .expressions import RELATIONS
from .wording import shown

_BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.BitAnd: operator.and_, ast.BitOr: operator.or_}
_SIGNS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_FIELDS = ("key", "key2")


def read_condition(text: str) -> tuple[Callable[[Any, Any], Any], tuple[str, ...]]:
    """The function of r and s that a text is, and the fields that it looks at; ValueError if it is none.

    It may say all that a predicate may: fields, whole numbers, ``+ -``, comparisons, ``& |``, parentheses, ``True`` and
    ``False``, and a field so many times (``2 * r.key``), as expressions do when they are written down.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        tree = None
    if tree is None or not _is_known(tree):
        raise ValueError(
            f"predicate {shown(text)} is no condition: write one of r.key, s.key, key2, whole numbers, == != < <= > >= "
            "+ - and, between conditions in parentheses, & |"
        )
    fields = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return lambda r, s: _value(tree, {"r": r, "s": s}), _FIELDS if "key2" in fields else _FIELDS[:1]


def _is_known(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=int()) | ast.Attribute(value=ast.Name(id="r" | "s"), attr="key" | "key2"):
            return True
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _is_known(inner)
        case ast.BinOp(left=ast.UnaryOp(op=ast.USub(), operand=times), op=ast.Mult() as op, right=right):
            return _is_known(ast.BinOp(times, op, right))
        case ast.BinOp(left=ast.Constant(value=int(times)), op=ast.Mult(), right=ast.Attribute() as field):
            return times > 0 and _is_known(field)
        case ast.BinOp(left=left, op=op, right=right):
            return type(op) in _BINARY and _is_known(left) and _is_known(right)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return type(op) in _SIGNS and _is_known(left) and _is_known(right)
    return False


def _value(node: ast.expr, tuples: dict[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Attribute(value=ast.Name(id=side), attr=field):
            return getattr(tuples[side], field)
        case ast.UnaryOp(operand=inner):
            return -_value(inner, tuples)
        case ast.BinOp(left=ast.UnaryOp(operand=times), op=ast.Mult() as op, right=right):
            return -_value(ast.BinOp(times, op, right), tuples)
        case ast.BinOp(left=ast.Constant(value=int(times)), op=ast.Mult(), right=field):
            return _times(times, _value(field, tuples))
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_value(left, tuples), _value(right, tuples))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return RELATIONS[_SIGNS[type(op)]](_value(left, tuples), _value(right, tuples))
    raise AssertionError("it was looked through before")


def _times(times: int, value: Any) -> Any:
    """A value added up so many times, by doubling: not all know how to multiply."""
    if times == 1:
        return value
    half = _times(times // 2, value)
    return half + half + value if times % 2 else half + half
