"""The room that an input needs in time-based windows, in a design's own words."""

from collections.abc import Sequence

from streamjoin.hdl.base.parameters import JoinParameters


def needed_windows(parameters: JoinParameters, rooms: Sequence[int]) -> dict[str, int]:
    """The parameters that are too small for these rooms, with what they would have to be."""
    needs = zip(parameters.streams, parameters.windows, rooms, strict=True)
    return {f"window_{stream.lower()}": needed for stream, window, needed in needs if needed > window}


def overflow_sentence(parameters: JoinParameters, missing: int, rooms: Sequence[int]) -> str:
    """How many results are missing by overflow, and what would help."""
    needed = needed_windows(parameters, rooms)
    wanted = _listed([f"{name}={window}" for name, window in needed.items()])
    there = _listed(list(dict.fromkeys(str(getattr(parameters, name)) for name in needed)))
    return (
        f"{missing} {'result is' if missing == 1 else 'results are'} missing by overflow: this input needs {wanted}, "
        f"not {there} (or --allow-overflows)"
    )


def _listed(words: list[str]) -> str:
    return " and ".join([*([", ".join(words[:-1])] if words[1:] else []), words[-1]])
