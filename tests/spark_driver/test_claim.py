"""Folders of a stream are those of one run, whatever was killed, removed, copied or called at the same time."""

import json
import re
import shutil
import subprocess
import threading

import pytest

from streamjoin.spark_driver.claim import claimed
from streamjoin.spark_driver.errors import SparkError
from streamjoin.support.files import InputError


@pytest.fixture(autouse=True)
def little_patience(monkeypatch):
    monkeypatch.setattr("streamjoin.spark_driver.claim._PATIENCE_SECONDS", 0.3)


def claim(checkpoint, output, run=None):
    """Begin a run, and be gone at once."""
    with claimed(checkpoint, output, run or {}):
        pass


def refused(checkpoint, output, run=None, error=SparkError):
    """The sentence with which a run is refused."""
    with pytest.raises(error) as caught:
        claim(checkpoint, output, run)
    sentence = str(caught.value)
    assert sentence.isprintable()
    assert len(sentence) <= 300
    return sentence


def with_batches(checkpoint, output, *, done, written):
    """What Spark leaves in both folders."""
    (checkpoint / "commits").mkdir()
    (output / "_spark_metadata").mkdir()
    for number in range(done):
        (checkpoint / "commits" / str(number)).touch()
        (checkpoint / "commits" / f".{number}.crc").touch()
    for number in range(written):
        name = f"{number}.compact" if number % 10 == 9 else str(number)
        (output / "_spark_metadata" / name).touch()


@pytest.fixture
def places(tmp_path):
    return tmp_path / "deep" / "checkpoint", tmp_path / "out"


def test_a_run_goes_on_in_its_folders(places):
    run = {"tuples": 5, "match_rate": 0.1, "windows": (3, 4)}
    claim(*places, run)
    claim(*places, run)
    with_batches(*places, done=10, written=11)
    claim(*places, run)


def test_a_checkpoint_is_of_one_run(places, tmp_path):
    run = {"tuples": 5, "design": "a"}
    claim(*places, run)
    assert "belongs to another run: tuples was 5, not 6; run it as it was" in refused(*places, {**run, "tuples": 6})
    assert re.search(r"output was \S*out, not \S*other;", refused(places[0], tmp_path / "other", run))


def test_an_output_is_of_one_checkpoint_before_the_first_byte(places, tmp_path):
    """The second one would have filled it, and the first one called that its own."""
    claim(*places)
    owned = r"\S*/out belongs to the checkpoint \S*/deep/checkpoint, not to \S*/second: name another output"
    assert re.fullmatch(owned, refused(tmp_path / "second", places[1]))
    claim(*places)
    claim(tmp_path / "second", tmp_path / "another")


def test_every_way_to_an_output_leads_to_its_owner(places, tmp_path, monkeypatch):
    claim(*places)
    (tmp_path / "link").symlink_to(places[1])
    monkeypatch.chdir(tmp_path)
    for way in (tmp_path / "link", type(tmp_path)("out"), tmp_path / "deep" / ".." / "out"):
        claim(places[0], way)
        assert "belongs to the checkpoint" in refused(tmp_path / "second", way)


def test_killed_between_record_and_owner(places, tmp_path):
    claim(*places)
    (places[1] / "_streamjoin.json").unlink()
    claim(*places)
    assert (places[1] / "_streamjoin.json").exists()
    (places[1] / "_streamjoin.json").unlink()
    claim(tmp_path / "second", places[1])
    assert re.search(r"belongs to the checkpoint \S*/second, not to \S*/deep/checkpoint", refused(*places))


def test_an_unfinished_file_hinders_nobody(places):
    for place in places:
        place.mkdir(parents=True)
        (place / ".streamjoin-01234567").write_text("{")
    claim(*places)


def test_a_checkpoint_that_is_gone(places, tmp_path):
    claim(*places)
    shutil.rmtree(places[0])
    gone = r"belongs to a checkpoint that is no longer at \S*/deep/checkpoint: name another output, or remove"
    for checkpoint in (places[0], tmp_path / "second"):
        assert re.search(gone, refused(checkpoint, places[1]))
    # Another one is in its place, and the output of old comes back.
    places[1].rename(tmp_path / "old")
    claim(*places)
    shutil.rmtree(places[1])
    (tmp_path / "old").rename(places[1])
    assert re.search(gone, refused(*places))


def test_a_checkpoint_may_be_moved_and_an_output_may_not(places, tmp_path):
    claim(*places)
    places[0].rename(tmp_path / "moved")
    claim(tmp_path / "moved", places[1])
    shutil.copytree(places[1], tmp_path / "copy")
    assert "output was" in refused(tmp_path / "moved", tmp_path / "copy")
    assert "belongs to a checkpoint that is no longer at" in refused(tmp_path / "second", tmp_path / "copy")


@pytest.mark.parametrize(("done", "written"), [(1, 0), (4, 3), (11, 10)])
def test_results_that_are_gone(places, done, written):
    claim(*places)
    with_batches(*places, done=done, written=written)
    assert "has lost the results of" in refused(*places)


def test_an_output_that_is_gone(places):
    claim(*places)
    shutil.rmtree(places[1])
    claim(*places)  # there was nothing in it
    with_batches(*places, done=1, written=1)
    shutil.rmtree(places[1])
    assert "has lost the results of" in refused(*places)
    places[1].mkdir()
    assert "has lost the results of" in refused(*places)


def test_an_output_that_is_taken_away_during_a_run(places, tmp_path):
    def taken_away():
        with claimed(*places, {}):
            shutil.rmtree(places[1])
            claim(tmp_path / "second", places[1])

    with pytest.raises(SparkError, match="belongs to the checkpoint"):
        taken_away()
    claim(tmp_path / "second", places[1])


def test_folders_of_something_else(tmp_path):
    full = tmp_path / "full"
    full.mkdir()
    (full / "file").touch()
    assert "is not empty and no checkpoint of ours" in refused(full, tmp_path / "out")
    assert "is not empty, and nothing in it says whose it is" in refused(tmp_path / "new", full)
    for place in (full / "file", full / "file" / "deeper"):
        assert "cannot be used (Not a directory)" in refused(tmp_path / "new", place, error=InputError)
        assert "cannot be used (" in refused(place, tmp_path / "out", error=InputError)


def test_folders_in_each_other(tmp_path):
    for checkpoint, output in (("a", "a"), ("a", "a/b"), ("a/b", "a")):
        assert "name two folders" in refused(tmp_path / checkpoint, tmp_path / output)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b'{"name": 5}', b'{"name": "x"}', b"\xff", b"[" * 100_000])
@pytest.mark.parametrize("which", [0, 1])
def test_damage(places, which, text):
    claim(*places)
    damaged = places[which] / ("streamjoin.json", "_streamjoin.json")[which]
    damaged.write_bytes(text)
    assert f"{damaged.name} is damaged, or of another release: name two other folders" in refused(*places)


def test_one_at_a_time(places, tmp_path):
    with claimed(*places, {}):
        assert "checkpoint: wait for it" in refused(*places)
        # A copy has another lock; the output has the same.
        shutil.copytree(places[0], tmp_path / "copy")
        assert "out: wait for it" in refused(tmp_path / "copy", places[1])
    claim(*places)


def test_only_one_of_many_that_come_at_once(tmp_path):
    start, outcomes = threading.Barrier(8), []

    def come(number):
        start.wait()
        try:
            with claimed(tmp_path / f"checkpoint{number}", tmp_path / "out", {}):
                outcomes.append(number)
        except SparkError as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=come, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = [outcome for outcome in outcomes if isinstance(outcome, int)]
    owner = json.loads((tmp_path / "out" / "_streamjoin.json").read_text())
    assert owner["checkpoint"] == str(tmp_path / f"checkpoint{winner}")
    assert sum("belongs to the checkpoint" in str(outcome) for outcome in outcomes) == 7


def test_locks_outlive_us_in_a_child(places, tmp_path):
    with claimed(*places, {}) as locks:
        child = subprocess.Popen(["sleep", "60"], pass_fds=locks)
    try:
        assert "checkpoint: wait for it" in refused(*places)
        shutil.copytree(places[0], tmp_path / "copy")
        assert "out: wait for it" in refused(tmp_path / "copy", places[1])
    finally:
        child.kill()
        child.wait()
    claim(*places)


def test_sentences_stay_short_and_printable(tmp_path):
    places = [tmp_path / ("x" * 200) / f"line\nend{kind}" for kind in "co"]
    claim(*places, {"predicate": "a" * 500})
    sentence = refused(tmp_path / ("y" * 200) / "other", places[1])
    assert sentence.endswith("y/other: name another output")
    assert "predicate was …aaaaaaaaaa, not …aaaaaaaaaab;" in refused(*places, {"predicate": "a" * 500 + "b"})
