"""Names for the rows of a sweep: what tells them apart, which of it is the axis, and what makes a series."""

import dataclasses
from collections.abc import Sequence

_IN_WORDS = {
    "cores": "{} cores",
    "window": "windows of {}",
    "segment": "segments of {}",
    "scan": "{} scan",
    "storage": "windows in {}",
    "merger": "{} mergers",
}


def in_words(name: str, value: object) -> str:
    """A parameter and its value as people say it."""
    if name == "cores" and str(value) == "1":
        return "1 core"
    return _IN_WORDS.get(name, name.replace("_", " ") + " {}").format(str(value).replace("*", " × "))


def upper(text: str) -> str:
    """With a capital at the front."""
    return text[:1].upper() + text[1:]


@dataclasses.dataclass(frozen=True)
class Naming:
    """How the rows of one sweep are told apart.

    Parameters
    ----------
    varied : by design, the choices that differ between its rows, in the order in which they were given
    fixed : the choices that are the same for all that make them
    telling : by design, the parameters that differ between its rows
    axis : the one that plots run along: cores, or else the number that takes most values; ``None`` if there is none
    """

    varied: dict[str, tuple[str, ...]]
    fixed: dict[str, str]
    telling: dict[str, tuple[str, ...]]
    axis: str | None

    @classmethod
    def of(cls, rows: Sequence[dict]) -> "Naming":
        designs = list(dict.fromkeys(row["design"] for row in rows))
        varied = {design: _differing(rows, design, "choices") for design in designs}
        telling = {design: _differing(rows, design, "parameters") for design in designs}
        values: dict[str, set[str]] = {}
        for row in rows:
            for name, value in row["choices"].items():
                values.setdefault(name, set()).add(value)
        fixed = {name: min(several) for name, several in values.items() if len(several) == 1}
        numbers = {
            name: len(values[name])
            for names in varied.values()
            for name in names
            if all(value.isdecimal() for value in values[name])
        }
        axis = "cores" if "cores" in numbers else max(numbers, key=numbers.__getitem__, default=None)
        return cls(varied, fixed, telling, axis)

    def position(self, row: dict) -> int | None:
        """Where the row stands along the axis; a design without cores counts as one core."""
        if self.axis is None:
            return 1
        value = row["parameters"].get(self.axis, 1 if self.axis == "cores" else row["choices"].get(self.axis))
        return None if value is None else int(value)

    def series(self, row: dict) -> str:
        """The row without its place on the axis, and without its target."""
        names = [name for name in self.varied[row["design"]] if name != self.axis and name in row["choices"]]
        return ", ".join([row["design"], *(in_words(name, row["choices"][name]) for name in names)])

    def label(self, row: dict) -> str:
        """The row without its target: the parameters in which it differs from others of its design."""
        values = dict(row["parameters"])
        names = list(self.telling[row["design"]])
        for both, of_r, of_s in (("window", "window_r", "window_s"), ("span", "span_r", "span_s")):
            if {of_r, of_s} <= set(names) and values[of_r] == values[of_s]:
                names[names.index(of_r)] = both
                names.remove(of_s)
                values[both] = values[of_r]
        # Cores come first: they are what people ask for.
        names.sort(key=lambda name: name != "cores")
        return ", ".join([row["design"], *(in_words(name, values[name]) for name in names)])


def _differing(rows: Sequence[dict], design: str, what: str) -> tuple[str, ...]:
    sets = [row[what] for row in rows if row["design"] == design]
    names = dict.fromkeys(name for each in sets for name in each)
    return tuple(name for name in names if any(each.get(name) != sets[0].get(name) for each in sets))
