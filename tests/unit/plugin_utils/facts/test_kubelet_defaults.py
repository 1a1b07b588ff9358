# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Null and empty fields of kubelet's files, which kubelet reads as not set."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.plan.kubelet_location import reads_main
from ansible_collections.volcano.colocation.tests.support.hosts.captured_nodes import (
    ALIGNED,
    KUBELET_FILE,
    captured,
    facts_of,
    missing,
    put,
)
from ansible_collections.volcano.colocation.tests.unit.plugin_utils.facts.test_kubelet_layers import (
    TYPE,
    evidence,
    facts,
    value,
)


def test_an_empty_text_of_a_dropin_resets_to_the_default() -> None:
    kubelet = facts(evidence("1.35.0", "cgroupDriver: systemd\n", a=TYPE + 'cgroupDriver: ""\n'))
    assert value(kubelet, "cgroupDriver") == ("cgroupfs", "kubelet's default")


DEFAULTED = {
    "cpuManagerPolicy": "none",
    "topologyManagerPolicy": "none",
    "topologyManagerScope": "container",
    "memoryManagerPolicy": "None",
    "memoryThrottlingFactor": "0.9",
    "failCgroupV1": "true",
    "podPidsLimit": "-1",
    "readOnlyPort": "0",
    "cgroupsPerQOS": "true",
    "failSwapOn": "true",
}


@pytest.mark.parametrize("key", DEFAULTED)
def test_null_is_the_default_of_every_field_that_has_one(key: str) -> None:
    assert value(facts(evidence("1.35.0", f"{key}: null\n")), key) == (DEFAULTED[key], "kubelet's default")


@pytest.mark.parametrize("key", ["systemReserved", "enforceNodeAllocatable", "featureGates", "reservedMemory"])
def test_null_is_not_set_if_a_field_has_no_default(key: str) -> None:
    assert key not in facts(evidence("1.35.0", f"{key}: null\n")).settings


@pytest.mark.parametrize(
    ("flags", "port", "source"),
    [
        ([], "10255", "kubelet's default without --config"),
        (["--read-only-port=0"], "0", "kubelet's command line, --read-only-port"),
        ([f"--config={KUBELET_FILE}"], "0", "kubelet's default"),
    ],
)
def test_without_a_file_the_read_only_port_is_open(flags: list[str], port: str, source: str) -> None:
    node = put(captured(ALIGNED), ["/usr/bin/kubelet", *flags], "kubelet", "processes", 0, "argv")
    kubelet = facts_of(missing(node, "kubelet", KUBELET_FILE)).kubelet
    assert value(kubelet, "readOnlyPort") == (port, source)


@pytest.mark.parametrize("text", [None, "cgroupDriver: systemd\nreadOnlyPort: 1\n", "not: [valid"])
def test_without_config_a_file_at_the_default_path_is_not_read(text: str | None) -> None:
    """The file is evidence, for agents that parse it; its values and its problems are not kubelet's."""
    node = put(captured(ALIGNED), ["/usr/bin/kubelet", "--v=2"], "kubelet", "processes", 0, "argv")
    if text is not None:
        node = put(node, text, "kubelet", "files", KUBELET_FILE, "text")
    facts = facts_of(node)
    assert value(facts.kubelet, "cgroupDriver") == ("cgroupfs", "kubelet's default")
    assert value(facts.kubelet, "readOnlyPort") == ("10255", "kubelet's default without --config")
    assert (facts.driver.authority, facts.kubelet.config.kind) == ("default", "regular")
    assert facts.kubelet.config.problem is None
    assert not reads_main(facts.kubelet)


def test_a_kubelet_without_any_flag_reads_no_file() -> None:
    node = put(captured(ALIGNED), ["/usr/bin/kubelet"], "kubelet", "processes", 0, "argv")
    assert not reads_main(facts_of(node).kubelet)


def test_k3s_starts_its_kubelet_with_its_own_flags() -> None:
    node = put(captured(ALIGNED), ["/usr/local/bin/k3s", "agent"], "kubelet", "processes", 0, "argv")
    assert value(facts_of(missing(node, "kubelet", KUBELET_FILE)).kubelet, "readOnlyPort")[0] == "0"
