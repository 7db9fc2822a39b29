"""Verilog for people: what the registers of a module will be, in one block.

Yosys writes each register as two blocks: one that computes its next value under a name of its own, starting from what
it is now, and one that takes that value over at the clock edge. Written as anybody would by hand, in one block and with
registers that share a condition under that condition, nothing is said of a register that keeps its value: there is less
to read, and a simulation neither copies what does not change nor asks the same question twice.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import zip_longest

_MODULE_END = "endmodule\n"
_NAME = re.compile(r"\\\S+ ")
# Registers that take over their next values, one after the other.
_UPDATES = re.compile(
    r"^  always @\(posedge (?P<clock>\w+)\)\n    \S.* <= .*;\n"
    r"(?:  always @\(posedge (?P=clock)\)\n    \S.* <= .*;\n)*",
    re.MULTILINE,
)
_UPDATE = re.compile(r"^    (?P<register>\w+|\\\S+ ) <= (?P<value>.*);$", re.MULTILINE)
_NEXT_VALUE = re.compile(
    r"^  always @\* begin\n(?:    if \(\\\S+ \) begin end\n)?"
    r"(?P<body>    (?P<name>\\\S+ ).* = .*\n(?:    .*\n)*)  end\n",
    re.MULTILINE,
)
_DECLARATION = re.compile(r"^  reg (?:\[\d+:0\] )?(?P<name>\\\S+ )(?: = 0)?;\n", re.MULTILINE)
_RESET = "if (rst) begin"
_END = re.compile(r"end(case)?\b")
_CHOICE = "casez "
_NOTHING = "/* empty */;"

# Lines, each with those that stand under it.
Outline = list[tuple[str, "Outline"]]


def in_one_block(verilog: str) -> str:
    """The same modules, all registers of each in one block."""
    return _MODULE_END.join(_join(module) for module in verilog.split(_MODULE_END))


def _join(module: str) -> str:
    bodies = {value["name"]: value["body"] for value in _NEXT_VALUE.finditer(module)}
    uses = Counter(_NAME.findall(module))
    joined = set()

    def statements(update: re.Match) -> list[Outline]:
        register, name = update["register"], update["value"]
        target = re.compile(rf"^( +){re.escape(name)}(\[\S+\])? *= ", re.MULTILINE)
        body, assignments = target.subn(lambda found: f"{found[1]}{register}{found[2] or ''} <= ", bodies.get(name, ""))
        # Besides them it is declared and taken over: nobody else needs it.
        if not assignments or uses[name] != assignments + 2:
            return _statements(_outline([update[0]]))
        joined.add(name)
        return _statements(_outline(body.replace(f"    {register} <= {register};\n", "", 1).splitlines()))

    def block(updates: re.Match) -> str:
        registers = [statements(update) for update in _UPDATE.finditer(updates[0])]
        # A reset has the last word; all of them do together.
        resets = [each[-1:] if each and each[-1][0][0] == _RESET else [] for each in registers]
        work = [each[: len(each) - len(reset)] for each, reset in zip(registers, resets, strict=True)]
        lines = _lines(_woven(work) + _woven(resets), "    ")
        return "\n".join([f"  always @(posedge {updates['clock']}) begin", *lines, "  end\n"])

    module = _UPDATES.sub(block, module)
    module = _NEXT_VALUE.sub(lambda value: "" if value["name"] in joined else value[0], module)
    # What makes Yosys' blocks run at the start is of no use if there are none.
    joined |= set(uses) - set(_NAME.findall(_DECLARATION.sub("", module)))
    return _DECLARATION.sub(lambda wire: "" if wire["name"] in joined else wire[0], module)


def _woven(registers: Iterable[list[Outline]]) -> Outline:
    """The statements for several registers, those under equal conditions together; for each register in its order."""
    woven: Outline = []
    for statements in zip_longest(*registers):
        alike: dict[tuple[str, ...], list[Outline]] = {}
        for statement in filter(None, statements):
            alike.setdefault(_kind(statement), []).append(statement)
        for kind, group in sorted(alike.items(), key=lambda entry: bool(entry[0])):
            choices = [statement[0][1] for statement in group]
            if not kind or (kind[0].startswith(_CHOICE) and not _agree(choices)):
                woven += [line for statement in group for line in statement]
            elif kind[0].startswith(_CHOICE):
                woven += [(kind[0], _woven_arms(choices)), ("endcase", [])]
            else:
                arms = zip(*group, strict=True)
                woven += [(arm[0][0], _woven([_statements(lines) for _, lines in arm])) for arm in arms]
    return woven


def _kind(statement: Outline) -> tuple[str, ...]:
    """What statements must have in common to become one: of an ``if`` all conditions, of a choice what it is about."""
    if statement[0][0].startswith(_CHOICE):
        return (statement[0][0],)
    return tuple(line for line, _ in statement) if len(statement) > 1 else ()


def _agree(choices: list[Outline]) -> bool:
    """Whether they have the same arms; each may end with the last one that it needs."""
    return all(len({label for label, _ in filter(None, arms)}) == 1 for arms in zip_longest(*choices))


def _woven_arms(choices: list[Outline]) -> Outline:
    woven: Outline = []
    for arms in zip_longest(*choices):
        labels, bodies = zip(*filter(None, arms), strict=True)
        statements = _woven([_statements(_unwrapped(body)) for body in bodies])
        woven.append((labels[0], [("begin", statements), ("end", [])] if statements else [(_NOTHING, [])]))
    return woven


def _unwrapped(arm: Outline) -> Outline:
    """The statements of an arm: Yosys embraces several, and says so if there are none."""
    if arm[0][0] == "begin":
        return arm[0][1]
    return [line for line in arm if line[0] != _NOTHING]


def _statements(outline: Outline) -> list[Outline]:
    statements: list[Outline] = []
    for line in outline:
        if _END.match(line[0]):
            statements[-1].append(line)
        else:
            statements.append([line])
    return statements


def _outline(lines: list[str]) -> Outline:
    outline: Outline = []
    above = [(-1, outline)]
    for line in lines:
        text = line.lstrip()
        depth = len(line) - len(text)
        while above[-1][0] >= depth:
            above.pop()
        under: Outline = []
        above[-1][1].append((text, under))
        above.append((depth, under))
    return outline


def _lines(outline: Outline, margin: str) -> Iterator[str]:
    for line, under in outline:
        yield margin + line
        yield from _lines(under, margin + "  ")
