# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""containerd 2.1 by its own word: `containerd config dump`, and pods run over CRI.

The lab's own program asks for the pods, in the cgroups of a kubelet on systemd: no kubelet takes part.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.system.node import Node, Run, ansible, throwaway
from ansible_collections.volcano.colocation.tests.system.pods import QOS_CLASSES, qos_classes

NAME = "forky"
SPEC = (
    *("--suite", "forky", "--cgroup", "v2", "--kubelet", "none"),
    *("--driver-kubelet", "systemd", "--driver-runtime", "cgroupfs"),
)
CONFIG = "/etc/containerd/config.toml"
PLAYBOOK = Path(__file__).with_name("runtime.yml")


@pytest.fixture(scope="module", name="forky")
def _forky(request: pytest.FixtureRequest) -> Iterator[Node]:
    yield from throwaway(request, NAME, *SPEC)


def configure(node: Node, *arguments: str) -> Run:
    run = ansible(str(PLAYBOOK), node.folder, "-i", node.inventory, *arguments)
    assert run.code == 0, run.output
    return run


def dump(node: Node) -> list[str]:
    """What containerd makes of its files, without the list of the files."""
    lines = node.shell("containerd config dump").splitlines()
    return [line.strip() for line in lines if not line.startswith("imports = ")]


# Debian's file has schema 2; a file of containerd's own making has schema 3, and begins without drop-ins of another.
OWN = f"rm -rf /etc/containerd/conf.d; containerd config default > {CONFIG}"
NRI_OFF = rf"sed -i '/io.containerd.nri.v1.nri/,/disable/s/disable = false/disable = true/' {CONFIG}"


@pytest.mark.parametrize("make", ["true", OWN], ids=["schema 2", "schema 3"])
def test_the_driver_is_set_and_nothing_else(forky: Node, make: str) -> None:
    forky.shell(f"{make}; systemctl restart containerd lab-pods")
    assert any(":cri-containerd:" in path for path in forky.containers())
    before, tree = dump(forky), forky.tree()
    assert configure(forky, "--check").recap(NAME)["changed"] > 0
    assert forky.tree() == tree

    configure(forky)
    changed = [line for line in difflib.ndiff(before, dump(forky)) if line[0] in "+-"]
    assert changed == ["- SystemdCgroup = false", "+ SystemdCgroup = true"]
    assert qos_classes(forky.containers(), "systemd") == QOS_CLASSES
    assert "nri.sock" in forky.shell("cat /proc/net/unix")

    after = forky.tree()
    assert configure(forky).recap(NAME)["changed"] == 0
    assert forky.tree() == after


def test_driver_and_nri_are_set_in_the_main_file_of_schema_3(forky: Node) -> None:
    forky.shell(f"{OWN}; {NRI_OFF}; systemctl restart containerd lab-pods")
    assert "nri.sock" not in forky.shell("cat /proc/net/unix")
    before, text = dump(forky), forky.shell(f"cat {CONFIG}")
    assert text.startswith("version = 3\n")

    configure(forky, "--extra-vars", "written_to=main-file")
    changed = list(difflib.ndiff(text.splitlines(), forky.shell(f"cat {CONFIG}").splitlines()))
    assert sorted(line.replace(" ", "") for line in changed if line[0] in "+-") == [
        "+SystemdCgroup=true",
        "+disable=false",
        "-SystemdCgroup=false",
        "-disable=true",
    ]
    changed = [line for line in difflib.ndiff(before, dump(forky)) if line[0] in "+-"]
    assert sorted(changed) == [
        "+ SystemdCgroup = true",
        "+ disable = false",
        "- SystemdCgroup = false",
        "- disable = true",
    ]
    assert forky.shell("ls /etc/containerd") == "config.toml\n"
    assert qos_classes(forky.containers(), "systemd") == QOS_CLASSES
    assert "nri.sock" in forky.shell("cat /proc/net/unix")
