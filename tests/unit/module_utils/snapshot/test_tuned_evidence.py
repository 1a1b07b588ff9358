# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence from TuneD's files: the active profiles, the CPUs that they isolate, and systemd's CPU affinity."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.tuned_evidence import (
    ACTIVE_PROFILE,
    SYSTEMD_DROP_IN,
    tuned,
)

PARTITIONING = "/etc/tuned/cpu-partitioning-variables.conf"


def grow(root: Path, files: dict[str, str]) -> Host:
    for name, text in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Host(str(root))


def test_a_node_without_tuned_has_no_evidence_of_it(tmp_path: Path) -> None:
    assert tuned(Host(str(tmp_path))) is None


def test_profile_affinity_and_isolated_cpus_are_read(tmp_path: Path) -> None:
    files = {
        ACTIVE_PROFILE: "cpu-partitioning\n",
        PARTITIONING: "# isolated_cores=2,4-7\nisolated_cores=2-3\n\n# no_balance_cores=5-10\n",
        SYSTEMD_DROP_IN: "# comment\n[Manager]\nCPUAffinity=0 1\n",
        "/etc/tuned/realtime-variables.conf": "isolated_cores=1\n",
    }
    assert tuned(grow(tmp_path, files)) == {
        "profiles": ["cpu-partitioning"],
        "cpu_affinity": "0 1",
        "isolated_cores": {PARTITIONING: "2-3"},
    }


def test_the_affinity_remains_without_a_profile(tmp_path: Path) -> None:
    assert tuned(grow(tmp_path, {SYSTEMD_DROP_IN: "[Manager]\nCPUAffinity=0\n"})) == {
        "profiles": [],
        "cpu_affinity": "0",
        "isolated_cores": {},
    }


@pytest.mark.parametrize(
    ("text", "profiles"),
    [("", []), ("balanced site-1\n", ["balanced", "site-1"]), ("../../shadow\n", []), ("\x1b[2J\n", [])],
)
def test_only_plain_names_of_profiles_are_used(tmp_path: Path, text: str, profiles: list[str]) -> None:
    evidence = tuned(grow(tmp_path, {ACTIVE_PROFILE: text}))
    assert evidence == {"profiles": profiles, "cpu_affinity": "", "isolated_cores": {}}


def test_an_unreadable_value_is_not_a_value(tmp_path: Path) -> None:
    files = {ACTIVE_PROFILE: "cpu-partitioning", PARTITIONING: "isolated_cores=\x1b[2J\n"}
    evidence = tuned(grow(tmp_path, files))
    assert evidence is not None
    assert evidence["isolated_cores"] == {}
