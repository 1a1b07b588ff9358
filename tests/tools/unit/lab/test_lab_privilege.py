# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab import privilege, requirements
from ansible_collections.volcano.colocation.tests.lab.errors import UnavailableError

REFUSES = "echo 'unshare: unshare failed: Operation not permitted' >&2; exit 1"


@pytest.fixture(autouse=True)
def _user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A user other than root, whose programs are those below ``tmp_path``."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(requirements, "_SYSTEM", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    privilege._user_namespace.cache_clear()
    yield
    privilege._user_namespace.cache_clear()


def write(directory: Path, unshare: str) -> None:
    for name, script in (("newuidmap", ""), ("unshare", unshare)):
        (directory / name).write_text(f"#!/bin/sh\n{script}\n")
        (directory / name).chmod(0o755)


def test_root_needs_no_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert (privilege.as_root(), privilege.mmdebstrap_mode()) == ([], "root")


def test_another_user_has_a_namespace_that_is_tried_once(tmp_path: Path) -> None:
    write(tmp_path, f"echo call >>{tmp_path / 'calls'}")
    assert privilege.as_root()[:2] == [str(tmp_path / "unshare"), "--user"]
    assert privilege.mmdebstrap_mode() == "unshare"
    assert (tmp_path / "calls").read_text() == "call\n"


def test_a_missing_program_is_named_with_its_package() -> None:
    with pytest.raises(UnavailableError, match="newuidmap is not installed: apt-get install uidmap"):
        privilege.as_root()


def test_a_refused_namespace_is_named_with_its_remedy(tmp_path: Path) -> None:
    write(tmp_path, REFUSES)
    with pytest.raises(UnavailableError, match=r"Operation not permitted.*: run as root, or .* /etc/subuid"):
        privilege.mmdebstrap_mode()
