"""The cache builds once, hands out only what is whole, and trusts nobody else's folder."""

import multiprocessing
import os
import time
from pathlib import Path

import pytest

from streamjoin.support import cache


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("STREAMJOIN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Builder:
    """Builds an entry and counts how often."""

    def __init__(self, text: str = "content") -> None:
        self.text, self.calls = text, 0

    def __call__(self, folder: Path) -> None:
        self.calls += 1
        (folder / "inner").mkdir()
        (folder / "inner" / "file").write_text(self.text)


@pytest.mark.usefixtures("root")
def test_built_once_and_found_again():
    build = Builder()
    first, second = cache.entry("key", build), cache.entry("key", build)
    assert first == second
    assert (first / "inner" / "file").read_text() == "content"
    assert build.calls == 1


def damage_content(entry: Path) -> None:
    (entry / "inner" / "file").write_text("c0ntent")


def damage_by_loss(entry: Path) -> None:
    (entry / "inner" / "file").unlink()


def damage_by_addition(entry: Path) -> None:
    (entry / "stranger").write_text("")


def damage_checksums(entry: Path) -> None:
    (entry / "checksums.json").write_text("{")


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("damage", [damage_content, damage_by_loss, damage_by_addition, damage_checksums])
def test_a_damaged_entry_is_rebuilt(damage):
    build = Builder()
    damage(cache.entry("key", build))
    entry = cache.entry("key", build)
    assert build.calls == 2
    assert sorted(path.name for path in entry.rglob("*")) == ["checksums.json", "file", "inner"]
    assert (entry / "inner" / "file").read_text() == "content"


def test_a_failed_build_leaves_nothing(root):
    def fail(folder: Path) -> None:
        (folder / "half").write_text("")
        raise RuntimeError("no luck")

    with pytest.raises(RuntimeError, match="no luck"):
        cache.entry("key", fail)
    assert [path.name for path in root.iterdir()] == ["key.lock"]
    assert cache.entry("key", Builder()).is_dir()


def test_leftovers_of_a_killed_build_are_cleared(root):
    (root / "key.partial").mkdir(parents=True)
    (root / "key.partial" / "half").write_text("")
    root.chmod(0o700)
    assert not (cache.entry("key", Builder()) / "half").exists()


def build_slowly(log: str) -> None:
    def build(folder: Path) -> None:
        with Path(log).open("a") as file:
            file.write("built\n")
        time.sleep(0.3)
        (folder / "file").write_text("content")

    assert (cache.entry("key", build) / "file").read_text() == "content"


@pytest.mark.usefixtures("root")
def test_processes_at_once_build_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=build_slowly, args=(str(tmp_path / "log"),)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert (tmp_path / "log").read_text() == "built\n"


def test_the_folder_is_private(root):
    assert cache.directory() == root
    assert root.stat().st_mode & 0o777 == 0o700


@pytest.mark.usefixtures("root")
def test_a_folder_that_others_can_write_is_refused():
    cache.directory().chmod(0o777)
    with pytest.raises(cache.CacheError, match="can be written by others"):
        cache.directory()


def test_a_folder_of_someone_else_is_refused(root, monkeypatch):
    cache.directory()
    owner = root.stat().st_uid
    monkeypatch.setattr("os.getuid", lambda: owner + 1)
    with pytest.raises(cache.CacheError, match="belongs to another user"):
        cache.directory()


def test_a_folder_that_cannot_be_made(root, monkeypatch):
    root.write_text("a file in its place")
    monkeypatch.setenv("STREAMJOIN_CACHE", str(root / "below"))
    with pytest.raises(cache.CacheError, match="cannot be made"):
        cache.directory()


def test_the_usual_places(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMJOIN_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.directory() == tmp_path / "xdg" / "streamjoin"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache.directory() == tmp_path / "home" / ".cache" / "streamjoin"


def test_what_nobody_has_used_for_a_month_goes(root):
    for key in ("old", "young"):
        cache.entry(key, lambda folder: (folder / "file").write_text("content"))
    month = 31 * 24 * 3600
    os.utime(root / "old" / "checksums.json", (time.time() - month, time.time() - month))
    cache.entry("new", lambda folder: (folder / "file").write_text("content"))
    assert sorted(path.name for path in root.iterdir() if path.is_dir()) == ["new", "young"]
