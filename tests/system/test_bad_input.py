# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bad input gives an error that names file, line or variable and the remedy; the node stays byte-identical."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system.node import PROFILE, Node, Run, ansible, lab

KUBELET = "/var/lib/kubelet/config.yaml"
CONTAINERD = "/etc/containerd/config.toml"

# command that causes the problem, command that ends it, parts of the message
TROUBLE = {
    "duplicate key in kubelet's YAML": (
        f"cp -p {KUBELET} /root/kept; printf 'kind: KubeletConfiguration\\n' >> {KUBELET}",
        f"cat /root/kept > {KUBELET}",
        [KUBELET, "kind"],
    ),
    "unparsable YAML": (
        f"cp -p {KUBELET} /root/kept; printf 'broken: [1\\n' >> {KUBELET}",
        f"cat /root/kept > {KUBELET}",
        [f"{KUBELET}:"],
    ),
    "unparsable TOML": (
        f"cp -p {CONTAINERD} /root/kept; printf '[plugins\\n' >> {CONTAINERD}",
        f"cat /root/kept > {CONTAINERD}",
        [f"{CONTAINERD}:"],
    ),
    "configuration is a link": (
        f"mv {KUBELET} /root/real.yaml; ln -s /root/real.yaml {KUBELET}",
        f"rm {KUBELET}; mv /root/real.yaml {KUBELET}",
        [KUBELET, "symbolic link"],
    ),
    "no containerd": (
        "mv /usr/bin/containerd /root/containerd",
        "mv /root/containerd /usr/bin/containerd",
        ["no containerd program was found", "Install containerd"],
    ),
    "read-only file system": (
        "mount --bind /etc/containerd /etc/containerd; mount -o remount,bind,ro /etc/containerd",
        "umount /etc/containerd",
        ["/etc/containerd", "Read-only file system", "Remount it read-write"],
    ),
    "full file system": (
        # An overlay, because a directory in memory is refused.
        "mkdir -p /var/lib/volcano-colocation /var/tmp/full; mount -t tmpfs -o size=16k full /var/tmp/full;"
        " cd /var/tmp/full; mkdir -m 700 upper; mkdir work lower; head -c 16384 /dev/zero > filler || true;"
        " mount -t overlay -o lowerdir=$PWD/lower,upperdir=$PWD/upper,workdir=$PWD/work full"
        " /var/lib/volcano-colocation",
        "umount /var/lib/volcano-colocation /var/tmp/full",
        ["/var/lib/volcano-colocation", "space"],
    ),
}

# name of a host, its variables, parts of the message
IMPOSSIBLE: dict[str, tuple[dict[str, Any], list[str]]] = {
    "nothing-reserved": (
        {"colocation_system_reserved": {}},
        ["colocation_cpu_manager_policy", "colocation_system_reserved"],
    ),
    "more-than-online": (
        {"colocation_system_reserved": {"cpu": "3"}},
        ["3 CPU(s) are reserved and 2 are online", "system_reserved"],
    ),
}
"""Variables that are wrong for this node only, and words of the refusal."""
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "unknown-driver": ({"colocation_cgroup_driver": "systemctl"}, "'systemctl' is not one of systemd, cgroupfs"),
    "unknown-policy": ({"colocation_cpu_manager_policy": "dynamic"}, "'dynamic' is not one of"),
    "wrong-type": ({"colocation_health_timeout": "soon"}, "soon"),
}
"""Variables that are wrong for every node, and words of the message."""


@contextmanager
def trouble(node: Node, make: str, end: str) -> Iterator[None]:
    node.shell(make)
    try:
        yield
    finally:
        node.shell(end)


@pytest.mark.parametrize("name", TROUBLE)
def test_trouble_on_the_node_is_named_and_nothing_is_touched(node: Node, name: str) -> None:
    make, end, messages = TROUBLE[name]
    before, services = node.tree(), node.services()
    with trouble(node, make, end):
        troubled = node.tree()
        run = node.ansible("provision")
        assert run.code != 0
        assert run.recap(node.name)["changed"] == 0, run.output
        for words in messages:
            assert words in run.output
        assert node.tree() == troubled
    assert node.tree() == before
    assert node.services() == services


def provision_as(node: Node, variables: Mapping[str, dict[str, Any]]) -> Run:
    """Provision hosts with these variables, by name, which are all this node."""
    host = next(iter(json.loads(Path(node.inventory).read_text())["all"]["children"]["lab"]["hosts"].values()))
    hosts = {name: {**host, **PROFILE, **own} for name, own in variables.items()}
    inventory = node.directory / "variables.json"
    inventory.write_text(json.dumps({"all": {"hosts": hosts}}))
    return ansible("volcano.colocation.provision", node.directory, "-i", str(inventory))


def test_impossible_variables_are_named_and_nothing_is_touched(node: Node) -> None:
    """An error of one host does not hide the others."""
    before, services = node.tree(), node.services()
    run = provision_as(node, {name: variables for name, (variables, _messages) in IMPOSSIBLE.items()})
    assert run.code != 0
    for name, (_variables, messages) in IMPOSSIBLE.items():
        assert (run.recap(name)["failed"], run.recap(name)["changed"]) == (1, 0), run.output
        refusal = next(line for line in run.output.splitlines() if line.startswith(f"fatal: [{name}]"))
        assert [words for words in messages if words not in refusal] == []
    assert (node.tree(), node.services()) == (before, services)


def test_wrong_values_are_named_for_each_host_and_nothing_is_touched(node: Node) -> None:
    before, services = node.tree(), node.services()
    run = provision_as(node, {name: variables for name, (variables, _words) in WRONG.items()})
    assert run.code != 0
    assert run.output.count("fatal: ") == 1, run.output
    for name, (variables, words) in WRONG.items():
        (variable,) = variables
        assert f"{name}: {variable}: " in run.output
        assert words in run.output
    assert (node.tree(), node.services()) == (before, services)


def test_unset_permission_stops_before_the_first_change_and_explains(node: Node) -> None:
    before, services = node.tree(), node.services()
    run = node.ansible("provision", colocation_allow_disruption=None)
    assert run.code != 0
    assert "colocation_allow_disruption" in run.output
    assert "cpuManagerPolicy: none -> static" in run.output
    assert (node.tree(), node.services()) == (before, services)


def test_an_unreachable_node_is_named_and_the_others_are_served(node: Node, tmp_path: Any) -> None:
    """Read-only: other tests change the other nodes."""
    second = tmp_path / "more.ini"
    second.write_text("gone ansible_host=127.0.0.1 ansible_port=1\n")
    run = node.ansible("assess", "-i", str(second))
    assert run.recap("gone")["unreachable"] == 1
    assert run.recap(node.name)["failed"] == 0
    assert f"{node.name}: MISALIGNED" in run.output
    assert lab("list")
