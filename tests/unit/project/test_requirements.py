# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each requirement is pinned in one place, with its reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.support.checkout import CHECKOUT

DIRECTORY = CHECKOUT / "requirements"
LOCK = DIRECTORY / "constraints.txt"
REASONED = sorted(path for path in DIRECTORY.glob("*.txt") if path != LOCK)

LINE = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)(?P<version>[<>=!~][^ #]*)?(?: ; python_version [^#]+)? +# (?P<reason>\S.*)$"
)


def requirements(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line and not line.startswith(("#", "-r "))]


@pytest.mark.parametrize("path", REASONED, ids=lambda path: path.name)
def test_every_requirement_says_why(path: Path) -> None:
    assert [line for line in requirements(path) if not LINE.match(line)] == []


@pytest.mark.parametrize("name", ["dev.txt", "mutation.txt"])
def test_tools_are_pinned_exactly_and_as_in_the_lock(name: str) -> None:
    locked = set(requirements(LOCK))
    pins = [line.partition(" ")[0] for line in requirements(DIRECTORY / name)]
    assert pins
    assert [pin for pin in pins if "==" not in pin or pin not in locked] == []


def test_the_lock_holds_exact_versions_only() -> None:
    assert [line for line in requirements(LOCK) if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][^ ]*", line)] == []


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
