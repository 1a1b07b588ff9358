# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hints in kubelet's files in JSON and YAML."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.cgroup_evidence import reserved_names
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.kubelet_endpoints import healthz_address
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.kubelet_evidence import static_pods
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.kubelet_files import hints
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.runtime_evidence import kubelets_endpoint

VALUES: dict[str, Any] = {
    "kind": "KubeletConfiguration",
    "healthzPort": 10348,
    "healthzBindAddress": "::1",
    "staticPodPath": "/etc/manifests",
    "containerRuntimeEndpoint": "unix:///x.sock",
    "systemReservedCgroup": "/system.slice",
    "inner": {"staticPodPath": "/no"},
}
TEXTS = {
    "JSON on one line": json.dumps(VALUES),
    "JSON without spaces": json.dumps(VALUES, separators=(",", ":")),
    "JSON on several lines": "\n" + json.dumps(VALUES, indent="\t"),
    "JSON behind a byte order mark": "\ufeff" + json.dumps(VALUES).replace("/", "\\/"),
    "YAML": "".join("%s: %s\n" % (key, json.dumps(value)) for key, value in VALUES.items() if key != "inner"),
}


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_every_hint_is_taken_from_the_file(name: str, tmp_path: Path) -> None:
    text = TEXTS[name]
    (tmp_path / "k").write_text(text, encoding="utf-8")
    agents = {"kubelet": [{"pid": 1, "argv": ["kubelet", "--config=/k"], "started_at": 1.0}]}
    assert healthz_address([], [text]) == ("::1", 10348)
    assert static_pods(Host(str(tmp_path)), [], [text]) == {"/etc/manifests": []}
    assert kubelets_endpoint(Host(str(tmp_path)), agents) == "unix:///x.sock"
    assert reserved_names({"processes": [], "files": {"/k": {"text": text}}}) == ["/system.slice"]


@pytest.mark.parametrize(
    "text", ['{"a": ["x"], "b": null, "c": "", "d": {}}', "[1]", "{", "{a", '{"a":' * 100000, "{}", ""]
)
def test_what_says_nothing_gives_none(text: str) -> None:
    assert [value for _name, value in hints(text, "a", "b", "c", "d")] == []
