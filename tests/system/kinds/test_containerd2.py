# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""containerd 2.1, checked with `containerd config dump` and with pods that run over CRI.

The lab's program creates the pods, in the cgroups of a kubelet with the systemd driver, without a kubelet.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.system.containerd_config import CONFIG, differences, dump, serves_nri
from ansible_collections.volcano.colocation.tests.system.node import Node, Run, ansible, throwaway
from ansible_collections.volcano.colocation.tests.system.pods import QOS_CLASSES, qos_classes

NAME = "forky"
SPEC = (
    *("--suite", "forky", "--cgroup", "v2", "--kubelet", "none"),
    *("--driver-kubelet", "systemd", "--driver-runtime", "cgroupfs"),
)
PLAYBOOK = Path(__file__).with_name("runtime.yml")


@pytest.fixture(scope="module", name="forky")
def _forky(request: pytest.FixtureRequest) -> Iterator[Node]:
    yield from throwaway(request, NAME, *SPEC)


def configure(node: Node, *arguments: str) -> Run:
    run = ansible(str(PLAYBOOK), node.directory, "-i", node.inventory, *arguments)
    assert run.code == 0, run.output
    return run


# Debian's file has schema 2. containerd's default file has schema 3, and must not have drop-ins of another schema.
OWN = f"rm -rf /etc/containerd/conf.d; containerd config default > {CONFIG}"
ALIGNED = ["+ SystemdCgroup = true", "+ disable = false", "- SystemdCgroup = false", "- disable = true"]
NRI_OFF = rf"sed -i '/io.containerd.nri.v1.nri/,/disable/s/disable = false/disable = true/' {CONFIG}"


@pytest.mark.parametrize("make", ["true", OWN], ids=["schema 2", "schema 3"])
def test_the_driver_is_set_and_nothing_else(forky: Node, make: str) -> None:
    forky.shell(f"{make}; systemctl restart containerd lab-pods")
    assert any(":cri-containerd:" in path for path in forky.containers())
    before, tree = dump(forky), forky.tree()
    assert configure(forky, "--check").recap(NAME)["changed"] > 0
    assert forky.tree() == tree

    configure(forky)
    assert differences(before, dump(forky)) == ["+ SystemdCgroup = true", "- SystemdCgroup = false"]
    assert qos_classes(forky.containers(), "systemd") == QOS_CLASSES
    assert serves_nri(forky)

    after = forky.tree()
    assert configure(forky).recap(NAME)["changed"] == 0
    assert forky.tree() == after


def test_driver_and_nri_are_set_in_the_main_file_of_schema_3(forky: Node) -> None:
    forky.shell(f"{OWN}; {NRI_OFF}; systemctl restart containerd lab-pods")
    assert not serves_nri(forky)
    before, text = dump(forky), forky.shell(f"cat {CONFIG}")
    assert text.startswith("version = 3\n")

    configure(forky, "--extra-vars", "written_to=main-file")
    lines = differences(text.splitlines(), forky.shell(f"cat {CONFIG}").splitlines())
    assert [" ".join(line.split()) for line in lines] == ALIGNED
    assert differences(before, dump(forky)) == ALIGNED
    assert forky.shell("ls /etc/containerd") == "config.toml\n"
    assert qos_classes(forky.containers(), "systemd") == QOS_CLASSES
    assert serves_nri(forky)
