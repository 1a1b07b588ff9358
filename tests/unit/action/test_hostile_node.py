# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node with arbitrary responses: the task fails with a message that names the node, never with a Python error."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from ansible import constants
from ansible.utils.display import Display

from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.packing import SIZE_LIMIT, pack
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import ALIGNED, DIFFERING, captured, put
from ansible_collections.volcano.colocation.tests.support.tasks import in_process

ACTIONS: dict[str, dict[str, Any]] = {
    "node_facts": {},
    "node_align": {"cgroup_driver": "systemd"},
    "kubelet_config": {"cgroup_driver": "systemd"},
    "containerd_config": {"cgroup_driver": "systemd"},
    "crio_config": {"cgroup_driver": "systemd"},
    "node_restore": {},
}
ANSWERS: dict[str, Any] = {
    "number": 7,
    "list": [1],
    "nothing": None,
    "packed number": pack(7),  # type: ignore[arg-type]
    "packed list": pack([]),  # type: ignore[arg-type]
    "deep": pack({"x": 1})[:9],
    "empty": pack({}),
    "bomb": pack({"x": " " * SIZE_LIMIT}),
    "shape": pack(put(captured(ALIGNED), 7, "cgroups", "mountinfo")),
    "content": pack(put(captured(ALIGNED), "/gone", "kubelet", "checkpoint_path")),
}


@pytest.fixture(autouse=True)
def _private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "DEFAULT_LOCAL_TMP", str(tmp_path))


@pytest.mark.parametrize("response", ANSWERS)
@pytest.mark.parametrize("name", ACTIONS)
def test_whatever_a_node_sends_is_refused_with_its_name(name: str, response: str) -> None:
    def recorded(_module: str, _arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {"snapshot": ANSWERS[response], "evidence": ANSWERS[response]}

    result = in_process.action(name, ACTIONS[name], check=True, recorded=recorded)
    assert result["failed"] is True
    assert result["msg"].startswith("node: ")


EVIL = "\x1b[31m\x07\x9b2J\x7f\u202e\u2066\u2028\rX"
DANGEROUS = set(EVIL) - set("[31m2JX")
KUBELET_TEXT = ("kubelet", "files", "/var/lib/kubelet/config.yaml", "text")
RUNTIME_TEXT = ("runtime", "files", "/etc/containerd/config.toml", "text")


def infected(*places: tuple[str | int, ...]) -> dict[str, Any]:
    """A node that needs changes, with control characters in these places."""
    snapshot = captured(DIFFERING)
    for place in places:
        value: Any = snapshot
        for key in place:
            value = value[key]
        snapshot = put(snapshot, f"{value}# {EVIL}\r\n" if place[-1] == "text" else f"{value}{EVIL}", *place)
    return snapshot


INFECTED = {
    "kubelet's file": infected(KUBELET_TEXT),
    "containerd's file": infected(RUNTIME_TEXT),
    "names": infected(("system", "hostname"), ("system", "kernel_release"), ("kubelet", "version")),
    "command line": infected(("kubelet", "processes", 0, "argv", 1), ("runtime", "processes", 0, "argv", 0)),
    "mounts": infected(("cgroups", "mountinfo", 0), ("cgroups", "trees", 0)),
    "paths": infected(("kubelet", "config_path"), ("runtime", "cri", "endpoint")),
}


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield str(key)
        yield from texts(item)


@pytest.fixture(name="screen")
def _screen(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are passed to Ansible's display."""
    displayed: list[str] = []
    for name in ("display", "warning"):
        monkeypatch.setattr(Display, name, lambda _self, text, *_more, **_options: displayed.append(str(text)))
    return displayed


@pytest.mark.parametrize("name", ["node_facts", "node_align", "kubelet_config", "containerd_config"])
@pytest.mark.parametrize("place", INFECTED)
def test_no_control_character_of_a_node_is_shown(name: str, place: str, screen: list[str]) -> None:
    def recorded(_module: str, _arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {"snapshot": pack(INFECTED[place]), "warnings": [f"look {EVIL}"]}

    result = in_process.action(name, ACTIONS[name], check=True, recorded=recorded)
    assert not [text for text in (*texts(result), *screen) if DANGEROUS & set(text)]
    assert any("\\x1b[31m" in text for text in screen)
    assert json.loads(json.dumps(result, default=str))


def test_a_failing_module_and_its_warnings_are_shown_escaped(screen: list[str]) -> None:
    failure = {"failed": True, "msg": EVIL, "module_stderr": f"a\n{EVIL}", "warnings": [EVIL], EVIL: 1}
    result = in_process.action("node_facts", {}, recorded=lambda _name, _arguments: failure)
    assert result["failed"] is True
    assert not [text for text in (*texts(result), *screen) if DANGEROUS & set(text)]
    assert result["module_stderr"].startswith("a\n\\x1b")


@pytest.mark.parametrize("warnings", [7, None, {"a": 1}, [7, None]])
def test_warnings_of_another_type_are_no_error(warnings: Any) -> None:
    result = in_process.action(
        "node_facts", {}, recorded=lambda _name, _arguments: {"snapshot": pack(captured(ALIGNED)), "warnings": warnings}
    )
    assert "failed" not in result


def test_a_diff_shows_carriage_returns_and_keeps_its_lines() -> None:
    crlf = captured(DIFFERING)
    text = crlf["kubelet"]["files"][KUBELET_TEXT[2]]["text"].replace("\n", "\r\n") + "# a\tb\r\n"
    snapshot = put(crlf, text, *KUBELET_TEXT)
    answers = {"snapshot": pack(snapshot), "transaction": {"state": "none"}}
    result = in_process.action("kubelet_config", {"pod_pids_limit": 5}, check=True, recorded=lambda *_: answers)
    (edit,) = result["diff"]
    before, after = edit["before"], edit["after"]
    assert before == text.replace("\r", "\\r")
    assert after.count("\\r\n") == after.count("\n") >= before.count("\n")
    assert "# a\tb\\r\n" in after


def test_a_returned_snapshot_keeps_its_line_ends() -> None:
    snapshot = infected(KUBELET_TEXT)
    result = in_process.action(
        "node_facts", {"return_snapshot": True}, recorded=lambda *_: {"snapshot": pack(snapshot)}
    )
    text = result["snapshot"]["kubelet"]["files"][KUBELET_TEXT[2]]["text"]
    assert text.endswith("# \x1b[31m\x07\\x9b2J\\x7f\\u202e\\u2066\\u2028\rX\r\n")
