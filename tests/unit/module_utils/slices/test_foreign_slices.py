# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slices that the collection does not create: their original values are restored."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.tests.support.node.slice_manager import CONTROL, Systemd
from ansible_collections.volcano.colocation.tests.unit.module_utils.slices.slice_run import run, tree

FOREIGN = "foreign.slice"


@pytest.fixture(name="foreign")
def _foreign(tmp_path: Path) -> Systemd:
    """The slice of a package, which sets a weight, and a drop-in of the site, which sets a limit."""
    systemd = Systemd(tmp_path / "node")
    systemd.write(f"usr/lib/systemd/system/{FOREIGN}", "[Slice]\nCPUWeight=50\n")
    systemd.write(f"etc/systemd/system/{FOREIGN}.d/10-site.conf", "[Slice]\nTasksMax=9\n")
    systemd.loaded(FOREIGN).active = True
    return systemd


@pytest.mark.parametrize("pushed", [True, False], ids=["pushed before", "after a reboot"])
def test_settings_of_a_foreign_slice_are_restored(foreign: Systemd, pushed: bool) -> None:
    before, values = tree(foreign), dict(foreign.loaded(FOREIGN).values)
    run(foreign, name=FOREIGN, properties={"CPUWeight": 300, "MemoryHigh": 4096})
    assert foreign.slices[FOREIGN].values["CPUWeight"] == 300
    if not pushed:
        shutil.rmtree(foreign.root / CONTROL)
        foreign._load(FOREIGN)
    assert run(foreign, name=FOREIGN, state="absent")[0] is True
    assert foreign.slices[FOREIGN].values == values
    assert [path for path in tree(foreign) if "conf" in path] == [path for path in before if "conf" in path]
    assert run(foreign, name=FOREIGN, state="absent")[0] is False


def test_a_property_that_is_no_longer_requested_is_restored(foreign: Systemd) -> None:
    run(foreign, name=FOREIGN, properties={"CPUWeight": 300, "MemoryHigh": 4096})
    run(foreign, name=FOREIGN, properties={"MemoryHigh": 4096})
    assert foreign.slices[FOREIGN].values["CPUWeight"] == 50


def test_a_foreign_runtime_value_is_not_replaced(foreign: Systemd) -> None:
    path = f"{CONTROL}/{FOREIGN}.d/50-CPUWeight.conf"
    foreign.write(path, "[Slice]\nCPUWeight=70\n")
    with pytest.raises(ColocationError, match=f"systemctl revert {FOREIGN}") as caught:
        run(foreign, name=FOREIGN, properties={"CPUWeight": 300})
    assert caught.value.file == "/" + path
    assert run(foreign, name=FOREIGN, properties={"MemoryHigh": 4096})[0] is True
    assert (foreign.root / path).read_text() == "[Slice]\nCPUWeight=70\n"


@pytest.mark.parametrize(
    ("name", "runtime_value", "desired", "original"),
    [
        ("MemoryHigh", "infinity", 4096, 2**64 - 1),
        ("MemoryHigh", "", 4096, 2**64 - 1),
        ("CPUWeight", "50", 300, 50),
        ("TasksMax", "9", 777, 9),
    ],
)
def test_a_runtime_value_without_effect_is_replaced(
    foreign: Systemd, name: str, runtime_value: str, desired: int, original: int
) -> None:
    foreign.write(f"{CONTROL}/{FOREIGN}.d/50-{name}.conf", f"[Slice]\n{name}={runtime_value}\n")
    foreign._load(FOREIGN)
    assert run(foreign, name=FOREIGN, properties={name: desired})[0] is True
    assert foreign.slices[FOREIGN].values[name] == desired
    assert run(foreign, name=FOREIGN, properties={name: desired})[0] is False
    assert run(foreign, name=FOREIGN, state="absent")[0] is True
    assert foreign.slices[FOREIGN].values[name] == original


def test_a_default_that_overrides_foreign_files_is_not_replaced(foreign: Systemd) -> None:
    foreign.write(f"{CONTROL}/{FOREIGN}.d/50-TasksMax.conf", "[Slice]\nTasksMax=infinity\n")
    with pytest.raises(ColocationError, match=f"systemctl revert {FOREIGN}"):
        run(foreign, name=FOREIGN, properties={"TasksMax": 777})


def test_a_failed_change_of_a_foreign_slice_is_rolled_back(foreign: Systemd) -> None:
    before = tree(foreign)
    with pytest.raises(ColocationError, match="not in every controller"):
        run(foreign, name=FOREIGN, properties={"CPUWeight": 300}, controllers=["io"])
    assert foreign.slices[FOREIGN].values["CPUWeight"] == 50
    assert [path for path in tree(foreign) if "conf" in path] == [path for path in before if "conf" in path]
