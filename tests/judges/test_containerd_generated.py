# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""500 generated configurations for each release of containerd: the collection's verdict is that of the program."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.volcano.colocation.tests.judges.containerd_files import cases
from ansible_collections.volcano.colocation.tests.judges.containerd_fixtures import Judge

pytest_plugins = ("ansible_collections.volcano.colocation.tests.judges.containerd_fixtures",)

COUNT = 500
SCHEMAS = {"1": (2, 2, 2, 1), "2.1": (2, 3, 3, 1), "2.2": (2, 3, 3, 1), "2": (2, 3, 4, 4, 1)}
"""Schemas by release; a schema that most of its files use appears more often."""


def test_no_verdict_differs_from_containerds(judge: Judge, tmp_path: Path) -> None:
    release = judge.containerd.release
    schemas = SCHEMAS.get(release) or SCHEMAS[release.split(".")[0]]
    wrong = judge.differences(cases(release, schemas, COUNT), tmp_path)
    assert not wrong, "\n".join(f"{tmp_path / name}: {reason}" for name, reasons in wrong.items() for reason in reasons)
