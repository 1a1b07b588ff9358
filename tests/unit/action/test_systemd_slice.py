# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd_slice on an image: create, again, modify, again, remove, again, each in check mode first; bad input."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.tests.support.tasks.node_image import contents
from ansible_collections.volcano.colocation.tests.support.tasks.play_tasks import Task, checked, run, task

FIRST_LINE = (
    "# Kept by the Ansible collection volcano.colocation; what is changed here by hand is lost at its next run.\n"
)
UNIT = "etc/systemd/system/node-agents.slice"
LINK = "etc/systemd/system/slices.target.wants/node-agents.slice"
DROP_IN = "etc/systemd/system/kubepods-besteffort.slice.d/50-volcano-colocation.conf"
COMPANION = "etc/systemd/system/volcano-colocation-cgroups-node-agents.service"
TEXT = (
    FIRST_LINE
    + """[Unit]
Description=What the node runs, 100%%
DefaultDependencies=no
Before=slices.target kubelet.service

[Slice]
CPUWeight=500
MemoryHigh=infinity
TasksMax=4096

[Install]
WantedBy=slices.target
"""
)
SETTINGS = {"CPUWeight": 500, "MemoryHigh": None, "TasksMax": "4096"}


def tasks(root: Path, step: str, arguments: dict[str, Any]) -> Iterator[Task]:
    """The task in check mode, for real, and for real again."""
    one = task(step, "systemd_slice", root=str(root), **arguments)
    yield {**checked(one), "register": step + "_checked"}
    yield one
    yield {**one, "register": step + "_again"}


def grow(root: Path, texts: dict[str, str] | None = None) -> Path:
    (root / "etc/systemd/system").mkdir(parents=True, exist_ok=True)
    for path, text in (texts or {}).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def test_each_state_twice_and_in_check_mode(tmp_path: Path) -> None:
    root = grow(tmp_path / "image")
    before = contents(root)
    trees = tmp_path / "trees"
    trees.mkdir()
    arguments = {"name": "node-agents.slice", "description": "What the node runs, 100%", "properties": SETTINGS}
    changed = {**arguments, "properties": {"CPUWeight": "idle"}, "controllers": ["cpuset", "memory"]}
    keep = [{"name": f"keep {name}", "ansible.builtin.command": f"cp -a {root} {trees}/{name}"} for name in "123"]
    done = run(
        tmp_path,
        [
            *tasks(root, "create", arguments),
            keep[0],
            *tasks(root, "modify", changed),
            keep[1],
            *tasks(root, "remove", {"name": "node-agents.slice", "state": "absent"}),
            keep[2],
        ],
    )
    for step in ("create", "modify", "remove"):
        results = [done.results[step + suffix] for suffix in ("_checked", "", "_again")]
        assert [result.get("changed") for result in results] == [True, True, False], results
        assert results[0]["diff"] == results[1]["diff"]
        assert results[2]["diff"] == []
    created = contents(trees / "1")
    assert created[UNIT] == TEXT.encode()
    assert created[LINK] == "/etc/systemd/system/node-agents.slice"
    assert created[UNIT + ":mode"] == oct(0o100644)
    modified = contents(trees / "2")
    unit = modified[UNIT]
    assert isinstance(unit, bytes)
    assert b"[Slice]\nCPUWeight=idle\nMemoryAccounting=yes\n\n" in unit
    assert b"\nWants=volcano-colocation-cgroups-node-agents.service\n" in unit
    assert set(modified) - set(created) == {COMPANION, COMPANION + ":mode"}
    assert contents(trees / "3") == before
    assert done.results["create"]["parents"] == ["node.slice"]
    assert done.results["create"]["unit_file"] == "/" + UNIT
    (difference,) = done.results["create"]["diff"]
    assert (difference["before"], difference["after"]) == ("", TEXT)


def test_slices_of_kubelet_get_a_drop_in(tmp_path: Path) -> None:
    root = grow(tmp_path / "image")
    before = contents(root)
    arguments: dict[str, Any] = {
        "name": "kubepods-besteffort.slice",
        "properties": {"CPUQuota": "250%", "IOReadBandwidthMax": ["/dev/vda 10M"]},
    }
    created = run(tmp_path, list(tasks(root, "create", arguments)))
    assert created.results["create_again"]["changed"] is False
    assert (
        contents(root)[DROP_IN]
        == (FIRST_LINE + "[Slice]\nCPUQuota=250%\nIOReadBandwidthMax=\nIOReadBandwidthMax=/dev/vda 10M\n").encode()
    )
    assert [path for path in contents(root) if path.endswith(".wants")] == []
    removed = run(tmp_path, list(tasks(root, "remove", {"name": arguments["name"], "state": "absent"})))
    assert [removed.results[name]["changed"] for name in ("remove", "remove_again")] == [True, False]
    assert contents(root) == before


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "name": ({"name": "a--b.slice"}, "name: 'a--b.slice' is not the name of a slice"),
    "value": (
        {"properties": {"CPUWeight": 0}},
        "CPUWeight: '0' is not a value that systemd accepts. Use a weight from 1 to 10000",
    ),
    "property": ({"properties": {"MemoryLimit": "1G"}}, "Use MemoryMax"),
    "delegate": ({"properties": {"Delegate": True}}, "never slices"),
    "before": ({"before": ["kubelet"]}, "'kubelet' is not the name of a unit"),
    "controller": ({"controllers": ["gpu"]}, "'gpu' is not a controller of the kernel"),
    "description": ({"description": "one\ntwo"}, "Use one plain line"),
    "foreign": ({"name": "foreign.slice"}, "does not manage this file"),
    "foreign_removed": ({"name": "foreign.slice", "state": "absent"}, "does not manage this file"),
    "overridden": ({"properties": {"MemoryMax": "1G"}}, "systemctl revert node-agents.slice"),
    "link": ({"name": "linked.slice"}, "it is a symbolic link"),
    "wants": ({"name": "wanted.slice"}, "it is a link to /dev/null"),
}


def test_bad_input_leaves_the_image_as_it_is(tmp_path: Path) -> None:
    root = grow(
        tmp_path / "image",
        {
            "etc/systemd/system/foreign.slice": "[Slice]\nCPUWeight=3\n",
            "etc/systemd/system.control/node-agents.slice.d/50-MemoryMax.conf": "[Slice]\nMemoryMax=3\n",
        },
    )
    (root / "etc/systemd/system/linked.slice").symlink_to("/dev/null")
    (root / "etc/systemd/system/slices.target.wants").mkdir()
    (root / "etc/systemd/system/slices.target.wants/wanted.slice").symlink_to("/dev/null")
    before = contents(root)
    done = run(
        tmp_path,
        [
            task(name, "systemd_slice", **{"root": str(root), "name": "node-agents.slice", **arguments})
            for name, (arguments, _message) in BAD.items()
        ],
    )
    for name, (_arguments, message) in BAD.items():
        assert done.results[name]["failed"], name
        assert message in done.results[name]["msg"], (name, done.results[name]["msg"])
    assert contents(root) == before
    assert "Traceback" not in done.output
