# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hostile configuration texts are read or reported as a problem; all other facts are still reported."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.plugin_utils.assessment.profile_comparison import assess
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    captured,
    checkpoint,
    kubelet_text,
    put,
    runtime_text,
)

LETTERS = "abcdefghij"
BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join(['*' + old] * 9)}]\n" for old, new in pairwise(LETTERS)
)
YAML = {
    "bomb": BOMB,
    "itself": "a: &a [*a]\n",
    "merged with itself": "a: &a\n  <<: *a\n",
    "python tag": "a: !!python/object/apply:os.system [id]\n",
    "unknown tag": "cgroupDriver: !x systemd\n",
    "deep flow": "a: " + "[" * 20_000 + "]" * 20_000 + "\n",
    "deep blocks": "".join(" " * depth + "a:\n" for depth in range(2_000)),
    "duplicate": "cgroupDriver: systemd\ncgroupDriver: cgroupfs\n",
    "two documents": "cgroupDriver: systemd\n---\ncgroupDriver: cgroupfs\n",
    "list": "- a\n",
    "tabs": "a:\n\tb: 1\n",
    "control": "a: \x00\n",
    "surrogate": "a: \udcff\n",
    "wide key": "? [a, b]\n: 1\n",
    "types": "cgroupDriver: [systemd]\ncpuManagerPolicy: {a: 1}\nsystemReserved: text\nreadOnlyPort: .nan\n",
    "number": "readOnlyPort: " + "9" * 6_000 + "\n",
}
TOML = {
    "duplicate table": "version = 2\n[a]\nx = 1\n[a]\ny = 2\n",
    "duplicate key": "version = 2\nversion = 3\n",
    "table over value": "a = 1\n[a.b]\n",
    "deep": "a = " + "[" * 5_000 + "]" * 5_000 + "\n",
    "dotted": "a" + ".a" * 5_000 + " = 1\n",
    "number": "version = " + "9" * 6_000 + "\n",
    "types": 'version = "2"\nimports = 7\ndisabled_plugins = {a = 1}\n[plugins]\n"io.containerd.grpc.v1.cri" = 1\n',
    "runtimes": 'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd]\nruntimes = [1]\n',
    "options": 'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]\noptions = 1\n',
    "nri": 'version = 2\n[plugins]\n"io.containerd.nri.v1.nri" = true\n',
    "control": "a = \x00\n",
    "surrogate": 'a = "\udcff"\n',
}
STATES = ["", "[]", "null", "7", "{", '{"policyName": 7}', '{"policyName":"static","defaultCpuSet":7,"entries":[]}']
STATES += [
    '{"policyName":"static","defaultCpuSet":"0-","entries":{"a":{"b":[]}}}',
    "[" * 50_000,
    '{"entries":{"a":"b"}}',
]
STATES += ['{"policyName":"static","defaultCpuSet":"0-99999999999"}']


def assess_node(snapshot: dict[str, Any]) -> dict[str, Any]:
    began = time.process_time()
    document = assess(snapshot, {})
    assert time.process_time() - began < 5
    assert document["cgroup"]["mode"] == "v2"
    return document


@pytest.mark.parametrize("name", YAML)
def test_a_hostile_kubelet_file_does_not_hide_the_node(name: str) -> None:
    assess_node(kubelet_text(captured(ALIGNED), YAML[name]))


@pytest.mark.parametrize("name", TOML)
def test_a_hostile_containerd_file_does_not_hide_the_node(name: str) -> None:
    assess_node(runtime_text(captured(ALIGNED), TOML[name]))


@pytest.mark.parametrize("text", STATES, ids=range(len(STATES)))
def test_a_hostile_checkpoint_does_not_hide_the_node(text: str) -> None:
    assess_node(checkpoint(captured(ALIGNED), text))


@pytest.mark.parametrize("name", ["bomb", "itself", "unknown tag", "deep flow", "duplicate", "two documents", "list"])
def test_what_cannot_be_read_is_a_finding_that_names_the_file(name: str) -> None:
    findings = assess_node(kubelet_text(captured(ALIGNED), YAML[name]))["findings"]
    named = [
        finding for finding in findings if any("/var/lib/kubelet/config.yaml" in line for line in finding["evidence"])
    ]
    assert named or any("/var/lib/kubelet/config.yaml" in finding["summary"] for finding in findings)


@settings(max_examples=200, deadline=None)
@given(st.text("ab:-&*[]{}<!|>\"'# \n\t=.1?,", max_size=60))
@example("a: &a\n  <<: [*a, *a]")
@example("<<: 1")
def test_any_text_of_a_file_leaves_the_other_facts(text: str) -> None:
    assess_node(kubelet_text(captured(ALIGNED), text))
    assess_node(runtime_text(captured(ALIGNED), text))
    assess_node(checkpoint(captured(ALIGNED), text))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(max_size=12) | st.sampled_from(["--config", "--cgroup-driver", "--cgroup-driver=", "=", "--"])))
def test_any_command_line_leaves_the_other_facts(argv: list[str]) -> None:
    snapshot = put(captured(ALIGNED), argv, "kubelet", "processes", 0, "argv")
    assess_node(put(snapshot, argv, "runtime", "processes", 0, "argv"))


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.text("0123456789:/.kubepodscri-\n", max_size=60), st.just(1), max_size=4))
def test_any_text_of_the_cgroup_of_a_process_leaves_the_other_facts(containers: dict[str, int]) -> None:
    assess_node(put(captured(ALIGNED), containers, "containers"))
