"""The locks fit pyproject.toml, and name files by their hashes and nothing else."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ASKED = {
    "build": PROJECT["build-system"]["requires"],
    "dev": sum(PROJECT["project"]["optional-dependencies"].values(), PROJECT["project"]["dependencies"]),
}
_ENTRY = re.compile(r"([\w.-]+)==([\w.]+)( ; .+)?")


def entries(lock: str) -> list[list[str]]:
    """What a lock says of each package, cut at its continued lines: the version first, then the hashes."""
    lines = (ROOT / "requirements" / f"{lock}.lock").read_text(encoding="utf-8").splitlines()
    said = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    return [entry.split(" \\\n    ") for entry in re.split(r"\n(?=\S)", said)]


@pytest.mark.parametrize("lock", ASKED)
def test_all_that_is_asked_for_is_locked(lock):
    locked = dict(_ENTRY.fullmatch(entry[0]).groups()[:2] for entry in entries(lock))
    for requirement in map(Requirement, ASKED[lock]):
        assert locked.get(requirement.name, "no version") in requirement.specifier, f"{requirement}: run make lock"


@pytest.mark.parametrize("lock", ASKED)
def test_a_lock_names_versions_and_hashes_alone(lock):
    """No index, no host, no folder."""
    for version, *hashes in entries(lock):
        assert _ENTRY.fullmatch(version)
        assert hashes
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each.strip()) for each in hashes)


def test_the_citation_is_of_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {PROJECT['project']['version']}\n" in citation
    assert f"\nlicense: {PROJECT['project']['license']}\n" in citation
