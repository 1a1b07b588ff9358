# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings of a lab node do not contain directories and the name of the machine that ran the node."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.system.record import NotRecorded, without_machine


@pytest.fixture(name="cache")
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("COLOCATION_LAB_CACHE", "COLOCATION_LAB_STATE"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setattr(socket, "gethostname", lambda: "workshop-7")
    return (tmp_path / "COLOCATION_LAB_CACHE").resolve()


def test_directories_of_the_machine_become_those_of_a_lab(cache: Path) -> None:
    assert without_machine(f'"ubd0=disk.cow,{cache}/images/base.raw initrd=/boot/x"') == (
        '"ubd0=disk.cow,/lab/images/base.raw initrd=/boot/x"'
    )


def test_a_text_that_still_names_the_machine_is_refused(cache: Path) -> None:
    for text in (f'"{cache}"', '"made on workshop-7"'):
        with pytest.raises(NotRecorded):
            without_machine(text)


@pytest.mark.parametrize("text", ["workshop-7.overcommit", "/sys/workshop-7/x", "workshop-77", "my-workshop-7"])
def test_another_word_with_its_name_is_kept(cache: Path, text: str) -> None:
    assert without_machine(text) == text
