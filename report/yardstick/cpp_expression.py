"""A predicate as a C++ expression on two rows ``r`` and ``s`` whose fields are unsigned integers."""

from streamjoin.reference.expressions import Comparison, Expression

_INT64 = 1 << 63


def cpp_expression(expression: Expression, key_width: int) -> str:
    """The condition in C++, exact for keys of so many bits, 63 at most.

    It is computed in ``int64_t``, of which the compiler makes vectors, wherever no sum of such keys leaves 64 bits, and
    otherwise in GCC's ``__int128``.
    """
    if isinstance(expression, Comparison):
        return _comparison(expression, key_width)
    # & and |, not && and ||: both sides are conditions, and nothing is to be jumped over.
    return f" {expression.word} ".join(f"({cpp_expression(part, key_width)})" for part in expression.parts)


def _comparison(comparison: Comparison, key_width: int) -> str:
    if comparison.decided is not None:
        return "true" if comparison.decided else "false"
    greatest = (1 << key_width) - 1
    reach = sum(abs(times) * greatest for _, times in comparison.terms)
    # Of one key minus another, the reach is that of one of them.
    narrow = (greatest if comparison.difference is not None else reach) < _INT64 and abs(comparison.number) < _INT64
    number = "int64_t" if narrow else "__int128"
    terms = (f"{number}({times}) * {number}({'.'.join(field)})" for field, times in comparison.terms)
    return f"{' + '.join(terms)} {comparison.relation} {_number(comparison.number, number)}"


def _number(value: int, number: str) -> str:
    if abs(value) < _INT64:
        return f"{number}({value}LL)"
    high, low = divmod(value, 1 << 62)
    return f"({number}({high}LL) * {number}({1 << 62}LL) + {number}({low}LL))"
