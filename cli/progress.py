"""What a terminal shows while something takes its time; in a pipe, nothing."""

from collections.abc import Callable

from tqdm import tqdm


def note(text: str) -> tqdm:
    """A line that stands there for as long as the ``with`` block lasts."""
    return tqdm(desc=f"{text} …", bar_format="{desc}", disable=None, leave=False)


def shown_on(bar: tqdm) -> Callable[[str, int, int], None]:
    """Shows on a bar what is being done, how much of it is done, and of how much."""

    def show(what: str, done: int, of: int) -> None:
        bar.set_description(what, refresh=False)
        bar.total, bar.n = of, done
        bar.refresh()

    return show
