# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slices that somebody else makes: their values are theirs, and come back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.tests.support.node.slice_manager import CONTROL, Systemd
from ansible_collections.volcano.colocation.tests.unit.module_utils.slices.slice_run import run, tree

THEIRS = "theirs.slice"


@pytest.fixture(name="theirs")
def _theirs(tmp_path: Path) -> Systemd:
    """A slice of a package, which sets a weight, and a drop-in of the site, which sets a limit."""
    systemd = Systemd(tmp_path / "node")
    systemd.write(f"usr/lib/systemd/system/{THEIRS}", "[Slice]\nCPUWeight=50\n")
    systemd.write(f"etc/systemd/system/{THEIRS}.d/10-site.conf", "[Slice]\nTasksMax=9\n")
    systemd.loaded(THEIRS).active = True
    return systemd


@pytest.mark.parametrize("pushed", [True, False], ids=["pushed before", "after a reboot"])
def test_what_we_set_on_somebody_elses_slice_goes_back_to_what_their_files_say(theirs: Systemd, pushed: bool) -> None:
    before, values = tree(theirs), dict(theirs.loaded(THEIRS).values)
    run(theirs, name=THEIRS, properties={"CPUWeight": 300, "MemoryHigh": 4096})
    assert theirs.slices[THEIRS].values["CPUWeight"] == 300
    if not pushed:
        shutil.rmtree(theirs.root / CONTROL)
        theirs._load(THEIRS)
    assert run(theirs, name=THEIRS, state="absent")[0] is True
    assert theirs.slices[THEIRS].values == values
    assert [each for each in tree(theirs) if "conf" in each] == [each for each in before if "conf" in each]
    assert run(theirs, name=THEIRS, state="absent")[0] is False


def test_a_property_that_is_no_longer_asked_for_is_what_their_files_say(theirs: Systemd) -> None:
    run(theirs, name=THEIRS, properties={"CPUWeight": 300, "MemoryHigh": 4096})
    run(theirs, name=THEIRS, properties={"MemoryHigh": 4096})
    assert theirs.slices[THEIRS].values["CPUWeight"] == 50


def test_somebody_elses_runtime_value_is_not_replaced(theirs: Systemd) -> None:
    path = f"{CONTROL}/{THEIRS}.d/50-CPUWeight.conf"
    theirs.write(path, "[Slice]\nCPUWeight=70\n")
    with pytest.raises(ColocationError, match=f"systemctl revert {THEIRS}") as caught:
        run(theirs, name=THEIRS, properties={"CPUWeight": 300})
    assert caught.value.file == "/" + path
    assert run(theirs, name=THEIRS, properties={"MemoryHigh": 4096})[0] is True
    assert (theirs.root / path).read_text() == "[Slice]\nCPUWeight=70\n"


@pytest.mark.parametrize(
    ("name", "there", "wanted", "without"),
    [
        ("MemoryHigh", "infinity", 4096, 2**64 - 1),
        ("MemoryHigh", "", 4096, 2**64 - 1),
        ("CPUWeight", "50", 300, 50),
        ("TasksMax", "9", 777, 9),
    ],
)
def test_a_runtime_value_that_says_what_holds_without_it_is_replaced(
    theirs: Systemd, name: str, there: str, wanted: int, without: int
) -> None:
    theirs.write(f"{CONTROL}/{THEIRS}.d/50-{name}.conf", f"[Slice]\n{name}={there}\n")
    theirs._load(THEIRS)
    assert run(theirs, name=THEIRS, properties={name: wanted})[0] is True
    assert theirs.slices[THEIRS].values[name] == wanted
    assert run(theirs, name=THEIRS, properties={name: wanted})[0] is False
    assert run(theirs, name=THEIRS, state="absent")[0] is True
    assert theirs.slices[THEIRS].values[name] == without


def test_a_default_that_hides_what_their_files_say_is_not_replaced(theirs: Systemd) -> None:
    theirs.write(f"{CONTROL}/{THEIRS}.d/50-TasksMax.conf", "[Slice]\nTasksMax=infinity\n")
    with pytest.raises(ColocationError, match=f"systemctl revert {THEIRS}"):
        run(theirs, name=THEIRS, properties={"TasksMax": 777})


def test_a_failed_change_of_somebody_elses_slice_leaves_nothing_pushed(theirs: Systemd) -> None:
    before = tree(theirs)
    with pytest.raises(ColocationError, match="not in every controller"):
        run(theirs, name=THEIRS, properties={"CPUWeight": 300}, controllers=["io"])
    assert theirs.slices[THEIRS].values["CPUWeight"] == 50
    assert [each for each in tree(theirs) if "conf" in each] == [each for each in before if "conf" in each]
