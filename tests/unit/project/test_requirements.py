# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each requirement is pinned in one place, with its reason; the locks have all packages with their hashes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.run.locks import (
    DEV,
    FOLLOWS_THE_RELEASE,
    LOCKS,
    parse_pins,
    read_lock,
)
from ansible_collections.volcano.colocation.tests.support.checkout import CHECKOUT

DIRECTORY = CHECKOUT / "requirements"
REASONED = sorted(DIRECTORY.glob("*.txt"))
TOOLS = [path for path in REASONED if path.stem in ("dev", "importer", "mutation", "pip", "resolver")]
NAMES = [lock.name for lock in LOCKS]

LINE = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)(?P<version>[<>=!~][^ #]*)?(?: ; python_version [^#]+)? +# (?P<reason>\S.*)$"
)
LOCKED = re.compile(r"[A-Za-z0-9._-]+==[0-9][^ ]*(?: ; [^\\]+)?(?: --hash=sha256:[0-9a-f]{64})+")
"""A package of a lock; its lines are joined."""


def requirements(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line and not line.startswith(("#", "-r "))]


def names(path: Path) -> Iterator[str]:
    """The packages that a file and those that it includes need on every Python, as a lock writes them."""
    for line in path.read_text().splitlines():
        if line.startswith("-r "):
            yield from names(path.with_name(line.removeprefix("-r ")))
    for line in requirements(path):
        if (match := LINE.match(line)) and " ; " not in line:
            yield _canonical(match["name"])


def _canonical(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()


def joined(name: str) -> list[str]:
    return read_lock(name).partition("\n\n")[2].replace(" \\\n   ", "").splitlines()


def versions(name: str) -> dict[str, str]:
    return {pin.name: pin.version for pin in parse_pins(read_lock(name))}


@pytest.mark.parametrize("path", REASONED, ids=lambda path: path.name)
def test_every_requirement_says_why(path: Path) -> None:
    assert [line for line in requirements(path) if not LINE.match(line)] == []


def test_every_list_has_a_lock() -> None:
    assert sorted(NAMES) == [path.stem for path in REASONED]
    assert sorted(NAMES) == sorted(path.stem for path in (DIRECTORY / "locks").iterdir())


@pytest.mark.parametrize("path", TOOLS, ids=lambda path: path.name)
def test_tools_are_pinned_exactly_and_as_in_the_lock(path: Path) -> None:
    locked = {f"{name}=={version}" for name, version in versions(path.stem).items()}
    pins = [line.partition(" ")[0] for line in requirements(path)]
    assert pins
    assert [pin for pin in pins if _canonical(pin) not in {_canonical(entry) for entry in locked}] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_lock_has_exact_versions_with_hashes_only(name: str) -> None:
    assert joined(name)
    assert [line[:60] for line in joined(name) if not LOCKED.fullmatch(line)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_lock_has_what_its_list_asks_for(name: str) -> None:
    assert set(names(DIRECTORY / f"{name}.txt")) - versions(name).keys() == set()


@pytest.mark.parametrize("name", [lock.name for lock in LOCKS if lock.follows])
def test_other_locks_have_the_versions_of_development(name: str) -> None:
    development, pins = versions(DEV), [*parse_pins(read_lock(name))]
    new = [pin for pin in pins if "< '3.11'" not in pin.marker and pin.name not in FOLLOWS_THE_RELEASE]
    assert [pin for pin in new if development.get(pin.name, pin.version) != pin.version] == []
    assert {pin.name for pin in new} & development.keys()


def test_the_controller_is_asked_for_lower_bounds_only() -> None:
    """An execution environment merges them with requirements of other collections."""
    assert all(re.match(r"[A-Za-z0-9._-]+>=[0-9.]+ ", line) for line in requirements(DIRECTORY / "controller.txt"))


def test_every_pin_but_the_lock_is_given_once() -> None:
    pinned = [
        match["name"]
        for path in REASONED
        for line in requirements(path)
        if (match := LINE.match(line)) and (match["version"] or "").startswith("==")
    ]
    releases = ["ansible-core"] * 5  # that of development, two before it and two after it
    oldest = ["hypothesis", "pytest", "pytest-xdist"]  # separate releases for the oldest Python
    assert sorted(pinned) == sorted([*set(pinned) - {"ansible-core"}, *releases, *oldest])
