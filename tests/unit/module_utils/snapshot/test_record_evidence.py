# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's records, checked by a user who may not read them, and on a node without records."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.record_evidence import (
    ledger_problem,
    record_problems,
    unfinished_transactions,
)
from ansible_collections.volcano.colocation.plugins.module_utils.state.store import STATE_DIRECTORY, Store

NOBODY = 65534


@pytest.fixture(name="directory")
def _directory() -> Iterator[Path]:
    """A world-readable directory, unlike those of pytest."""
    directory = Path(tempfile.mkdtemp())
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


@contextmanager
def nobody() -> Iterator[None]:
    """root can read everything."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.fixture(name="closed", params=["", "/transactions"])
def _closed(directory: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Host, str]]:
    """A node with records, and a directory on it that only its owner can read."""
    path = directory / f"{STATE_DIRECTORY}{request.param}".lstrip("/")
    (directory / STATE_DIRECTORY.lstrip("/") / "transactions/t-1").mkdir(parents=True)
    path.chmod(0)
    yield Host(str(directory)), f"{STATE_DIRECTORY}{request.param}"
    path.chmod(0o700)


def test_a_directory_that_may_not_be_looked_into_is_named_once(closed: tuple[Host, str]) -> None:
    host, path = closed
    with nobody():
        evidence = record_problems(host)
        assert unfinished_transactions(host) == []
        ledger_problem(host)
    assert evidence == [
        {
            "record": "directory",
            "file": path,
            "message": "cannot list it: Permission denied",
            "remedy": "Use become: true with a user that may do this; SELinux and AppArmor log what they deny",
        }
    ]


def test_functions_that_need_the_transactions_report_the_problem(closed: tuple[Host, str]) -> None:
    host, _path = closed
    with nobody(), pytest.raises(ColocationError, match="cannot list it: Permission denied"):
        Store(host).transactions()


def test_a_node_without_records_has_no_problem(directory: Path) -> None:
    host = Host(str(directory))
    assert (record_problems(host), unfinished_transactions(host), ledger_problem(host)) == ([], [], None)
