# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks over 200 hosts with the callback fleet: the whole screen has at most 60 lines.

The hosts answer with recorded snapshots; see ``recorded_fleet``.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import ALIGNED, DIFFERING
from ansible_collections.volcano.colocation.tests.support.hosts.recorded_fleet import (
    BROKEN,
    BROKEN_MESSAGE,
    REFUSING,
    UNREACHABLE,
    numbered,
    write_fleet,
)
from ansible_collections.volcano.colocation.tests.support.tasks.playbook_run import Done, playbook

LINES = 60
"""The largest number of lines of a run, whatever the number of hosts."""
CALLBACK = "[defaults]\nstdout_callback = volcano.colocation.fleet\nforks = 20\n"
PROFILE = {"colocation_system_reserved": {"cpu": "500m"}, "colocation_allow_disruption": True}
STATES = (
    (ALIGNED, 120),
    (DIFFERING, 40),
    (UNREACHABLE, 5),
    (BROKEN, 5),
    ("bookworm-v1-aligned", 10),
    ("bookworm-v1-drivers-differ", 10),
    ("trixie-v2-static", 10),
)


@dataclass(frozen=True)
class Fleet:
    directory: Path
    states: Mapping[str, str]

    def run(self, name: str, *arguments: str, **variables: Any) -> Done:
        options = ["-i", "inventory.json", "-e", json.dumps({**PROFILE, **variables})]
        return playbook(self.directory, f"volcano.colocation.{name}", *options, *arguments)

    def hosts(self, *states: str) -> set[str]:
        return {name for name, state in self.states.items() if state in states}


def fleet(directory: Path, states: Mapping[str, str]) -> Fleet:
    write_fleet(directory, states)
    (directory / "ansible.cfg").write_text(CALLBACK, encoding="utf-8")
    return Fleet(directory, states)


@pytest.fixture(name="large", scope="module")
def _large(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    return fleet(tmp_path_factory.mktemp("large"), numbered(STATES))


@pytest.fixture(name="verified", scope="module")
def _verified(large: Fleet) -> Done:
    return large.run("verify")


def test_200_hosts_are_verified_in_a_screen(verified: Done) -> None:
    print(verified.output)
    assert len(verified.output.splitlines()) <= LINES
