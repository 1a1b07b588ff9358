# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of containerd in another letter case: the existing key is changed, and no second one is added."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.containerd_changes import containerd_validation
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import facts_of
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.plan.containerd_nodes import (
    CONF_D,
    DRIVER,
    MAIN,
    NRI,
    NVIDIA,
    V2,
    V3,
    Files,
    containerd,
    edits_of,
    handler,
    plan_of,
)

MAIN_FILE = {**DRIVER, "containerd_strategy": "main-file"}
SMALL = handler(V3, "runc", "false").replace("SystemdCgroup", "systemdcgroup")
ALL = f'imports = ["{CONF_D}*.toml"]\n'

EDITED: dict[str, tuple[str, str, dict[str, Any], tuple[str, str]]] = {
    "an option": ("2.4.2", f"version = 3\n{SMALL}", MAIN_FILE, ("systemdcgroup = false", "systemdcgroup = true")),
    "tables": (
        "2.4.2",
        f"Version = 3\n[Plugins.{V3[8:]}.Containerd.Runtimes.runc.Options]\nSystemdCgroup = false\n",
        MAIN_FILE,
        ("= false", "= true"),
    ),
    "an option of 1.7": (
        "1.7.24",
        "version = 2\n" + handler(V2, "runc", "false").replace("SystemdCgroup", "systemdCgroup"),
        MAIN_FILE,
        ("systemdCgroup = false", "systemdCgroup = true"),
    ),
    "NRI": (
        "2.4.2",
        f"version = 3\n[{NRI}]\nDisable = true\n",
        {"nri": {"enabled": True}, "containerd_strategy": "main-file"},
        ("Disable = true", "Disable = false"),
    ),
    "a list": (
        "2.4.2",
        f'version = 3\nDisabled_Plugins = ["x.y", "io.containerd.grpc.v1.cri"]\n{handler(V3, "runc", "true")}',
        MAIN_FILE,
        ('["x.y", "io.containerd.grpc.v1.cri"]', '["x.y"]'),
    ),
}


@pytest.mark.parametrize("case", EDITED)
def test_the_existing_key_is_changed(case: str) -> None:
    version, text, options, (before, after) = EDITED[case]
    (edit,) = edits_of(containerd(version, {MAIN: text}), options)
    assert edit.after == text.replace(before, after)


REFUSED: dict[str, tuple[str, Files, str, str]] = {
    "the main file of a drop-in": ("2.4.2", {MAIN: f"version = 3\n{SMALL}"}, MAIN, "systemdcgroup"),
    "the main file of a drop-in, by a table": (
        "2.4.2",
        {MAIN: "version = 3\n" + handler(V3, "runc", "false").replace(".runtimes", ".Runtimes")},
        MAIN,
        "Runtimes",
    ),
    "a table of schema 2 that is migrated": (
        "2.4.2",
        {MAIN: "version = 3\n" + handler(V2, "runc", "false").replace('".containerd.', '".Containerd.')},
        MAIN,
        "Containerd",
    ),
    "another file": ("2.4.2", {MAIN: f"{ALL}version = 3\n", NVIDIA: f"version = 3\n{SMALL}"}, NVIDIA, "systemdcgroup"),
    "a key that 1.7 does not read": (
        "1.7.24",
        {MAIN: "version = 2\n" + handler(V2, "runc", "false").replace(".runtimes", ".Runtimes")},
        MAIN,
        "Runtimes",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_no_second_key_is_added(case: str) -> None:
    version, files, path, key = REFUSED[case]
    (refusal,) = plan_of(containerd(version, files), DRIVER).refusals
    assert (refusal.code, refusal.file) == ("containerd-key-case", path)
    assert f"has the key {key} in another letter case" in refusal.message


@pytest.mark.parametrize(
    "options",
    ["SystemdCgroup = false\nsystemdcgroup = false\n", "SYSTEMDCGROUP = false\n"],
)
def test_a_key_without_effect_is_not_changed(options: str) -> None:
    text = f"version = 3\n[{V3}.containerd.runtimes.runc.options]\n{options}"
    (refusal,) = plan_of(containerd("2.4.2", {MAIN: text}), MAIN_FILE).refusals
    assert (refusal.code, refusal.file) == ("containerd-key-case", MAIN)


def test_migrated_handlers_are_changed_in_their_table() -> None:
    text = "version = 3\n" + handler(V2, "runc", "false") + handler(V2, "nvidia", "true")
    (edit,) = edits_of(containerd("2.4.2", {MAIN: text}), MAIN_FILE)
    assert edit.after == "version = 3\n" + handler(V2, "runc", "true") + handler(V2, "nvidia", "true")


def test_the_dump_is_searched_for_the_option_as_the_file_spells_it() -> None:
    text = f"version = 3\n{SMALL}".replace(".runtimes", ".Runtimes")
    snapshot = containerd("2.4.2", {MAIN: text})
    changes, edits = plan_of(snapshot, MAIN_FILE).changes, edits_of(snapshot, MAIN_FILE)
    (section,) = containerd_validation(facts_of(snapshot).runtime, changes, edits)
    runtimes = ["plugins", "io.containerd.cri.v1.runtime", "containerd", "runtimes"]
    assert section["expect"] == [{"table": [*runtimes, "runc", "options"], "key": "systemdcgroup", "value": "true"}]
