# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""docker's malformed daemon.json: it is never written, and the error is reported with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.node_plan import make_plan
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.interpreter import interpret
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import profile_of
from ansible_collections.volcano.colocation.tests.support.hosts.described_hosts import described, merged, snapshot_of

DAEMON = "/etc/docker/daemon.json"
TYPE = "exec-opts is not a list of strings; dockerd does not start with it"

CASES = {
    "empty": ("", 1, "a missing value", "Write text in double quotes"),
    "cut off": (
        '{\n  "exec-opts": ["native.cgroupdriver=cgroupfs"',
        2,
        "a missing comma, or a missing closing bracket or brace",
        "Separate entries",
    ),
    "YAML": ("exec-opts:\n  - x\n", 1, "a missing value", "Write text in double quotes"),
    "a comma too much": (
        '{\n  "exec-opts": [],\n}',
        3,
        "a key without double quotes, a comment, or a comma after the last entry",
        "Write keys",
    ),
    "a list": ("[]", None, "not a JSON object", "Write one object"),
    "lists without end": ("[" * 100_000, None, "nested too deeply", "Reduce the nesting"),
    "options are a text": ('{\n  "exec-opts": "native.cgroupdriver=systemd"\n}', 2, TYPE, "Write it as a list"),
    "options are a number": ('{"exec-opts": 5}', 1, TYPE, "Write it as a list"),
    "options are a mapping": ('{\n\n"exec-opts": {"native.cgroupdriver": "systemd"}}', 3, TYPE, "Write it as a list"),
    "option is a number": ('{"exec-opts": ["native.cgroupdriver=systemd", 5]}', 1, TYPE, "Write it as a list"),
    "option is a list": ('{"exec-opts": [["native.cgroupdriver=systemd"]]}', 1, TYPE, "Write it as a list"),
    "options by another spelling of the key": ('{"exec\\u002dopts": 5}', None, TYPE, "Write it as a list"),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_refused_with_its_line(name: str, tmp_path: Path) -> None:
    text, line, message, remedy = CASES[name]
    node = merged(described("docker-cri-dockerd").host, {"files": {DAEMON: text}})
    plan = make_plan(interpret(snapshot_of(node, tmp_path)), profile_of(cgroup_driver="systemd"), allow_disruption=True)
    place = DAEMON if line is None else f"{DAEMON}:{line}"
    refusals = [str(refusal) for refusal in plan.refusals]
    assert any(reason.startswith(f"{place}: {message}") and remedy in reason for reason in refusals), refusals
    assert plan.changes == ()
