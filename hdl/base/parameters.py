"""Parameters of a design: one frozen dataclass that checks itself and can be read from text."""

import abc
import dataclasses
import enum
import types
import typing
from collections.abc import Mapping, Sequence

from amaranth.hdl import Signal

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.reference.output import Combinations, Output
from streamjoin.reference.predicates import Predicate, parse_predicate, users_code
from streamjoin.reference.wording import listed, printable, shown
from streamjoin.reference.written_numbers import whole_number

EQUI = parse_predicate("equi")
#: What to do with tuples that come while the queues of a join are full.
ON_FULL = ("stall", "drop")


class Group(enum.IntEnum):
    """What a parameter is about; parameters are listed in this order, whichever class they stand in."""

    WINDOWS = enum.auto()
    SPANS = enum.auto()
    COMMON = enum.auto()
    OWN = enum.auto()
    TREES = enum.auto()


#: Values worth trying, each as likely as the others; of a range, any value.
Samples = Sequence[object]


def parameter(
    default,
    meaning: str,
    choices: tuple[str, ...] | None = None,
    *,
    group: Group = Group.OWN,
    samples: Samples = (),
) -> typing.Any:
    """A field of a parameter class.

    ``meaning`` is the sentence that the command line shows for it. Whoever tries parameters at random draws from the
    ``choices``, or from the ``samples``: values that are small and awkward.
    """
    metadata = {"meaning": meaning, "choices": choices, "group": group, "samples": samples}
    return dataclasses.field(default=default, metadata=metadata)


class ParameterError(ValueError):
    """Parameters that no hardware can be made of; the message is one sentence that names the fix."""

    #: Of the command that it ends: wrong usage.
    status = 2


@dataclasses.dataclass(frozen=True, kw_only=True)
class JoinParameters(abc.ABC):
    """What all joins have in common, of two streams or of more.

    ``window`` is not a field: it sets all windows at once when parameters are read by :meth:`parse`. Nor is ``span``
    where each stream has its own.
    """

    predicate: Predicate = parameter(
        EQUI,
        "equi, band:EPS, ne, lt, le, gt, ge, bands:LO..HI,..., band2:E1,E2, module:function",
        group=Group.COMMON,
    )
    key_width: int = parameter(32, "bits of a key", group=Group.COMMON, samples=(32, 32, 5, 40, 62))
    payload_width: int = parameter(32, "bits of a payload", group=Group.COMMON, samples=(32, 12, 64))
    time_width: int = parameter(32, "bits of a timestamp, with span", group=Group.COMMON, samples=(32, 14, 62))
    on_full: str = parameter(
        "stall", "when queues are full, hold inputs back or drop them", ON_FULL, group=Group.COMMON
    )

    def __post_init__(self):
        for field in dataclasses.fields(self):
            value, choices = getattr(self, field.name), field.metadata.get("choices")
            if choices and value not in choices:
                raise ParameterError(f"{field.name} is one of {', '.join(choices)}, not {shown(value)}")
            if field.type is int and not (isinstance(value, int) and value >= 1):
                raise ParameterError(f"{field.name} must be a whole number from 1 up, not {shown(value)}")
        self._check_predicate()
        for name in self.span_names():
            span = getattr(self, name)
            if span is not None and not 1 <= span <= 1 << self.time_width:
                raise ParameterError(f"{name} must lie between 1 and 2^time_width = {1 << self.time_width}, not {span}")

    def _check_predicate(self) -> None:
        """A user's own function may go by what it is given: see that it becomes gates before anything is built."""
        layout = TupleLayout(self.predicate)
        try:
            with users_code(
                f"predicate {shown(self.predicate.spec)} cannot become gates", "return the same whatever r is"
            ):
                layout.matches(Signal(layout.tuple), Signal(layout.tuple))
        except ValueError as error:
            raise ParameterError(str(error)) from error

    @property
    @abc.abstractmethod
    def streams(self) -> tuple[str, ...]:
        """The streams by name, in the order of their ports."""

    @property
    @abc.abstractmethod
    def windows(self) -> tuple[int, ...]:
        """Tuples in the window of each stream."""

    @property
    @abc.abstractmethod
    def spans(self) -> tuple[int, ...] | None:
        """How long the tuples of each stream stay, if windows are time-based."""

    @property
    def numbered(self) -> bool:
        """Whether tuples and results carry the number of an arrival, as they have to for punctuations."""
        return False

    @property
    def output_meaning(self) -> Output:
        """What leaves the join: how it is read, and what it has to be."""
        return Combinations()

    @property
    def holds_back(self) -> str | None:
        """Why results may wait until later tuples, or a drain, push them out; ``None``: each comes by itself."""
        return None

    @property
    def quiet(self) -> int:
        """Cycles of silence, with no more tuples to come, after which a drain hastens nothing that comes by itself."""
        return 0 if self.holds_back is None else self.patience

    @property
    def width(self) -> int:
        """Tuples of each stream that may enter in a cycle; where that can be chosen, a field takes its place."""
        return 1

    @property
    def results(self) -> int:
        """Results that may leave in a cycle; likewise."""
        return 1

    @property
    def layout(self) -> TupleLayout:
        return TupleLayout(
            self.predicate,
            key_width=self.key_width,
            payload_width=self.payload_width,
            time_width=self.time_width,
            spans=self.spans,
            numbered=self.numbered,
            sides=tuple(stream.lower() for stream in self.streams),
            width=self.width,
            results_width=self.results,
        )

    @property
    def clearing(self) -> int:
        """Cycles after a reset that it takes to clear memories; tuples enter after that."""
        return 0

    @property
    def comparisons_per_cycle(self) -> int | None:
        """Comparisons in a cycle, at most; ``None``: nobody has counted."""
        return None

    @property
    @abc.abstractmethod
    def patience(self) -> int:
        """Cycles that may pass without a tuple taken or a result given, while the output is ready."""

    @classmethod
    def parse(cls, given: Mapping[str, object]) -> typing.Self:
        """Parameters from names and values, which may be text; ``window`` stands for all windows, ``span`` likewise."""
        given = cls.expanded(given, given)
        unknown = sorted(set(given) - set(cls.names()))
        if unknown:
            of_all = [name for name in ("window", "span") if name not in cls.names()]
            raise ParameterError(
                f"there is no parameter {printable(unknown[0], 30)}; "
                f"there are {listed([*of_all, *cls.names()], unknown[0])}"
            )
        types_of = typing.get_type_hints(cls)
        return cls(**{name: _read(name, types_of[name], value) for name, value in given.items()})

    @classmethod
    def expanded(cls, given: Mapping[str, object], beside: Mapping[str, object]) -> dict[str, object]:
        """What is given, with ``window`` and ``span`` as what they stand for beside other parameters."""
        given = dict(given)
        for name, meant in (("window", cls.window_names(beside)), ("span", cls.span_names())):
            if name in given:
                value = _read(name, int if name == "window" else int | None, given.pop(name))
                given = dict.fromkeys(meant, value) | given
        return given

    @classmethod
    def resolved(cls, preset: Mapping[str, object], given: Mapping[str, object]) -> dict[str, object]:
        """A preset and what is given beside it, which wins."""
        beside = {**preset, **given}
        return cls.expanded(preset, beside) | cls.expanded(given, beside)

    @classmethod
    def reconciled(cls, drawn: dict[str, typing.Any]) -> dict[str, typing.Any]:
        """Values that were drawn each by itself, as near to that as they go together; they may still be refused."""
        return drawn

    @classmethod
    def window_names(cls, _given: Mapping[str, object]) -> list[str]:
        """What ``window`` stands for, beside the parameters that are given."""
        return [name for name in cls.names() if name.startswith("window_")]

    @classmethod
    def span_names(cls) -> list[str]:
        """What ``span`` stands for."""
        return [name for name in cls.names() if name == "span" or name.startswith("span_")]

    @classmethod
    def fields(cls) -> list[dataclasses.Field]:
        """The parameters as they are listed: by group, and within a group in the order of the classes.

        The class that has a parameter first says its group; those that only change its default need not.
        """
        groups: dict[str, Group] = {}
        for base in filter(dataclasses.is_dataclass, reversed(cls.__mro__)):
            for field in dataclasses.fields(base):
                groups.setdefault(field.name, field.metadata.get("group", Group.OWN))
        return sorted(dataclasses.fields(cls), key=lambda field: groups[field.name])

    @classmethod
    def names(cls) -> list[str]:
        """Their names, in the same order."""
        return [field.name for field in cls.fields()]

    def as_dict(self) -> dict[str, int | str | None]:
        """Plain values, as they appear in manifests and summaries; :meth:`parse` reads them back."""
        values = {name: getattr(self, name) for name in self.names()}
        return {name: value.spec if isinstance(value, Predicate) else value for name, value in values.items()}


@dataclasses.dataclass(frozen=True, kw_only=True)
class TwoStreamParameters(JoinParameters):
    """What all designs of two streams have in common."""

    window_r: int = parameter(
        64, "tuples of R in its window (with span: room for so many)", group=Group.WINDOWS, samples=(1, 2, range(1, 41))
    )
    window_s: int = parameter(
        64, "tuples of S in its window (with span: room for so many)", group=Group.WINDOWS, samples=(1, 2, range(1, 41))
    )
    span_r: int | None = parameter(
        None,
        "a time-based window: how long a tuple of R stays; none: windows count tuples",
        group=Group.SPANS,
        samples=(None, None, range(1, 31)),
    )
    span_s: int | None = parameter(None, "the same for S, with span_r", group=Group.SPANS, samples=(None, range(1, 31)))

    #: The streams in the order of their ports.
    streams: typing.ClassVar[tuple[str, ...]] = ("R", "S")

    def __post_init__(self):
        super().__post_init__()
        if (self.span_r is None) != (self.span_s is None):
            raise ParameterError("span_r and span_s go together: give both, or span for both at once, or neither")

    @classmethod
    def reconciled(cls, drawn: dict[str, typing.Any]) -> dict[str, typing.Any]:
        drawn = super().reconciled(drawn)
        return drawn | {"span_s": drawn["span_r"] and (drawn["span_s"] or drawn["span_r"])}

    @property
    def windows(self) -> tuple[int, int]:
        return self.window_r, self.window_s

    @property
    def spans(self) -> tuple[int, int] | None:
        return None if self.span_r is None or self.span_s is None else (self.span_r, self.span_s)


def _read(name: str, wanted, value: object) -> typing.Any:
    """One value of the wanted type, from text if need be."""
    if not isinstance(value, str):
        return value
    if wanted is Predicate:
        try:
            return parse_predicate(value)
        except ValueError as error:
            raise ParameterError(str(error)) from error
    if isinstance(wanted, types.UnionType):
        if value.lower() in ("none", ""):
            return None
        wanted = int
    if wanted is int:
        try:
            return whole_number(value)
        except ValueError:
            raise ParameterError(f"{name} must be a whole number, not {shown(value)}") from None
    return value
