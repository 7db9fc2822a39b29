"""What a terminal shows while something takes its time; in a pipe, nothing."""

from tqdm import tqdm


def note(text: str) -> tqdm:
    """A line that stands there for as long as the ``with`` block lasts."""
    return tqdm(desc=f"{text} …", bar_format="{desc}", disable=None, leave=False)
