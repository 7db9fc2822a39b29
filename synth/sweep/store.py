"""Finished parts of a sweep: a file each, found again by a key that names everything they were made from."""

import dataclasses
import json
from pathlib import Path

from streamjoin.support.cache import key_of
from streamjoin.support.files import whole_file


@dataclasses.dataclass(frozen=True)
class Store:
    """A folder of outcomes. Each is written whole or not at all, at once, and by whichever process has it."""

    folder: Path

    def load(self, made_from: dict) -> dict | None:
        """The outcome, or ``None`` if there is none yet."""
        try:
            return json.loads(self._path(made_from).read_text())["outcome"]
        except (OSError, ValueError, KeyError):
            return None

    def has(self, made_from: dict) -> bool:
        return self._path(made_from).exists()

    def save(self, made_from: dict, outcome: dict) -> None:
        with whole_file(self._path(made_from)) as path:
            path.write_text(json.dumps({"made_from": made_from, "outcome": outcome}, indent=1) + "\n")

    def forget(self, made_from: dict) -> None:
        self._path(made_from).unlink(missing_ok=True)

    def _path(self, made_from: dict) -> Path:
        return self.folder / f"{key_of(json.dumps(made_from, sort_keys=True))}.json"
