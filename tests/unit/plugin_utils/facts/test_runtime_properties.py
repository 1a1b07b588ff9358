# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All texts of a runtime's files give facts and findings, and no exception."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.runtime_files import (
    dump_excerpt,
    import_patterns,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.catalogue import findings
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    Snapshot,
    captured,
    facts_of,
    runtime_text,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.rules.variants_runtime import (
    containerd,
    crio,
    distribution,
    docker,
    imports,
)

KEYS = (
    "version", "imports", "plugins", "containerd", "runtimes", "runc", "options", "SystemdCgroup", "disabled_plugins",
    '"io.containerd.grpc.v1.cri"', '"io.containerd.cri.v1.runtime"', "cri", '"io.containerd.nri.v1.nri"', "disable",
    "socket_path", "default_runtime_name", "systemd_cgroup", "crio", "runtime", "cgroup_manager", "conmon_cgroup",
    "nri", "enable_nri", "nri_listen", "default_runtime", "timeouts", "grpc", "runtime_type",
)  # fmt: skip
VALUES = ("true", "false", "0", "2", "3", '""', '"x"', "[]", '["*"]', "{}", '["/etc/*/*"]', "1.5", "1979-05-27", "[[]]")
WORDS = st.lists(st.sampled_from(KEYS), min_size=1, max_size=6).map(".".join)
LINES = st.one_of(
    st.tuples(WORDS, st.sampled_from(VALUES)).map(lambda pair: f"{pair[0]} = {pair[1]}"),
    WORDS.map(lambda name: f"[{name}]"),
    st.text(max_size=20),
)
TEXTS = st.lists(LINES, max_size=8).map("\n".join)
VERSIONS = st.sampled_from(["1.6.20", "1.7.24", "2.0.0", "2.2.0", "2.3.0", "2.3.5", "odd"])


@pytest.fixture(scope="module")
def aligned() -> Snapshot:
    return captured(ALIGNED)


def render_findings(snapshot: Snapshot) -> list[Any]:
    return [str(finding) for finding in findings(facts_of(snapshot))]


@settings(max_examples=150, deadline=None)
@given(version=VERSIONS, main=TEXTS, drop_in=TEXTS)
def test_any_text_of_containerds_files_gives_facts_and_findings(
    aligned: Snapshot, version: str, main: str, drop_in: str
) -> None:
    node = containerd(aligned, version)
    render_findings(runtime_text(node, main))
    render_findings(imports(node, drop_in))


@settings(max_examples=60, deadline=None)
@given(text=TEXTS, other=st.text(max_size=60))
def test_any_text_of_crio_docker_and_k3s_gives_facts_and_findings(aligned: Snapshot, text: str, other: str) -> None:
    render_findings(crio(aligned, **{"a.conf": text}))
    render_findings(docker(aligned, other))
    render_findings(distribution(aligned, title="/usr/local/bin/k3s server", k3s=f"kubelet-arg: {other}\n"))


@settings(max_examples=100, deadline=None)
@given(text=st.one_of(TEXTS, st.text(max_size=200)))
def test_the_node_reads_only_words_that_are_in_a_text(text: str) -> None:
    assert all(pattern in text for pattern in import_patterns(text))
    assert set(dump_excerpt(text).split()) <= {word for line in text.splitlines() for word in line.split()}
