# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""node_facts without options reports each file that would make a plan be refused, with its path and line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.support.tasks.in_process import run
from ansible_collections.volcano.colocation.tests.unit.malformed import (
    containerd_files,
    crio_files,
    kubelet_files,
    kubelet_starts,
)
from ansible_collections.volcano.colocation.tests.unit.malformed.case import Case, everything, grow

TABLES = {
    "kubelet": kubelet_files.CASES,
    "start": kubelet_starts.CASES,
    "containerd": containerd_files.CASES,
    "CRI-O": crio_files.CASES,
}
ALL = {f"{table}: {name}": case for table, cases in TABLES.items() for name, case in cases.items()}
ONLY_TO_BE_EDITED = {"kubelet: driver with an anchor", "kubelet: driver with a tag", "kubelet: bare carriage returns"}
"""kubelet reads them; only a change of that line is refused."""
AGAINST_THE_PROFILE = {
    name
    for name, case in ALL.items()
    if name.startswith("start: ") and re.search(r"Remove (?:the flag|cgroupDriver)", " ".join(case.says))
}
"""A flag or a later file overrides the profile; without a profile, nothing conflicts with it."""
CASES: dict[str, Case] = {
    name: case for name, case in ALL.items() if name not in ONLY_TO_BE_EDITED | AGAINST_THE_PROFILE
}
PLACE = re.compile(r"(/(?:var|etc)/[^ :]+|var/lib/kubelet/config\.yaml)(?::(\d+))?")


@pytest.mark.parametrize("name", CASES)
def test_reasons_of_refusals_are_reported_without_options(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    root = grow(tmp_path / "image", case.files)
    case.spoil(root)
    before = everything(tmp_path)
    result = run("node_facts", {"root": str(root)})
    assert everything(tmp_path) == before
    assert not result.get("failed"), result
    findings = result["ansible_facts"]["colocation"]["findings"]
    place = PLACE.search(" ".join(case.says))
    assert place, case.says
    lines = [line for finding in findings for line in (finding["summary"], *finding["evidence"])]
    expected = f"{place[1]}:{place[2]}: " if place[2] else place[1]
    assert any(expected in line for line in lines), json.dumps(findings, indent=1)
