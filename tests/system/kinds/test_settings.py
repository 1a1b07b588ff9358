# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node with settings that few have: cgroup root and folder of kubelet's own, drop-ins that disagree, two handlers.

In this order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.system.everything import state
from ansible_collections.volcano.colocation.tests.system.node import Node, throwaway

NAME = "settings"
SPEC = (
    *("--suite", "trixie", "--cgroup", "v2", "--driver-kubelet", "systemd", "--driver-runtime", "systemd"),
    *("--cpu-manager", "static", "--wait", "ssh"),
    *("--kubelet-flag=--config-dir=/etc/kubernetes/kubelet.d", "--kubelet-flag=--root-dir=/data/kubelet"),
)
PREPARE = Path(__file__).with_name("settings.sh")
FOLDER = "/data/kubelet"
DROPINS = "/etc/kubernetes/kubelet.d"
NRI = {
    "colocation_nri_socket_path": "/run/nri/nri.sock",
    "colocation_nri_plugin_path": "/opt/site/plugins",
    "colocation_nri_plugin_config_path": "/etc/site/nri.d",
    "colocation_nri_plugin_registration_timeout": "7s",
    "colocation_nri_plugin_request_timeout": "3s",
}
PROFILE: dict[str, Any] = {
    **NRI,
    "colocation_cgroup_driver": "cgroupfs",
    "colocation_cpu_manager_policy": "none",
    "colocation_read_only_port": 0,
}
DRIVERS = {
    "cgroupfs": re.compile(r"/colocated/kubepods/(?:(?:burstable|besteffort)/)?pod[\w-]+/[0-9a-f]{64}"),
    "systemd": re.compile(
        r"/colocated\.slice/colocated-kubepods\.slice/(?:colocated-kubepods-\w+\.slice/)?"
        r"colocated-kubepods-(?:\w+-)?pod\w+\.slice/cri-containerd-[0-9a-f]{64}\.scope"
    ),
}


@pytest.fixture(scope="module", name="odd")
def _odd(request: pytest.FixtureRequest) -> Iterator[Node]:
    for node in throwaway(request, NAME, *SPEC):
        node.shell(PREPARE.read_text())
        yield node


@pytest.fixture(scope="module", name="before")
def _before(odd: Node) -> dict[str, str]:
    now = state(odd)
    return {what: now[what] for what in ("files", "attributes", "pods")}


def driver(node: Node) -> str:
    """That of all containers, by their cgroups."""
    paths = node.containers()
    (found,) = (name for name, shape in DRIVERS.items() if paths and all(map(shape.fullmatch, paths)))
    return found


def policy(node: Node) -> str:
    checkpoint: dict[str, str] = json.loads(node.shell(f"cat {FOLDER}/cpu_manager_state"))
    return checkpoint["policyName"]


def handlers(node: Node) -> dict[str, str]:
    """SystemdCgroup of each handler, by containerd's own reading of its files."""
    text = node.shell("containerd config dump")
    return dict(re.findall(r"runtimes\.(\w+)\.options\][^\[]*?SystemdCgroup = (\w+)", text))


def read_only_port(node: Node) -> str:
    """What it answers; the end of a traceback where nothing listens."""
    asks = (
        'from urllib.request import urlopen; print(urlopen("http://127.0.0.1:10255/pods", timeout=20).read().decode())'
    )
    return node.shell(f"python3 -c '{asks}' 2>&1 || true")


def assessed(node: Node, folder: Path) -> dict[str, Any]:
    run = node.ansible("assess", colocation_report_folder=str(folder))
    assert run.code == 0, run.output
    facts: dict[str, Any] = json.loads((folder / f"{NAME}.json").read_text())
    return facts


def test_what_is_in_force_is_named(odd: Node, before: dict[str, str], tmp_path: Path) -> None:
    assert driver(odd) == "systemd"
    assert policy(odd) == "static"
    facts = assessed(odd, tmp_path)
    kubelet = facts["kubelet"]
    assert (kubelet["cgroup_driver"], kubelet["cgroup_driver_source"]) == ("systemd", f"{DROPINS}/20-driver.conf")
    assert kubelet["checkpoints"][0]["path"] == f"{FOLDER}/cpu_manager_state"
    codes = {finding["code"] for finding in facts["findings"]}
    assert {"cgroup-root-elsewhere", "kubelet-folder-elsewhere", "read-only-port-open"} <= codes
    assert '"kind":"PodList"' in read_only_port(odd)


def test_all_of_it_is_changed_at_once(odd: Node, tmp_path: Path) -> None:
    assert handlers(odd) == {"runc": "true", "second": "true"}
    predicted = odd.ansible("provision", "--check", "--diff", **PROFILE)
    assert predicted.code == 0, predicted.output
    assert driver(odd) == "systemd"

    run = odd.ansible("provision", **PROFILE)
    assert run.code == 0, run.output[-4000:]
    assert driver(odd) == "cgroupfs"
    assert policy(odd) == "none"
    assert handlers(odd) == {"runc": "false", "second": "false"}
    assert "PodList" not in read_only_port(odd)
    dumped = odd.shell("containerd config dump")
    for name, value in NRI.items():
        assert re.search(rf"{name.removeprefix('colocation_nri_')} = ['\"]{value}['\"]", dumped), name
    assert "read-only-port-open" not in {finding["code"] for finding in assessed(odd, tmp_path)["findings"]}

    assert odd.ansible("verify", **PROFILE).code == 0
    services = odd.services()
    again = odd.ansible("provision", **PROFILE)
    assert again.code == 0, again.output[-4000:]
    assert again.recap(NAME)["changed"] == 0
    assert odd.services() == services


def test_all_of_it_goes_back(odd: Node, before: dict[str, str]) -> None:
    run = odd.ansible("restore")
    assert run.code == 0, run.output[-4000:]
    assert driver(odd) == "systemd"
    assert policy(odd) == "static"
    assert '"kind":"PodList"' in read_only_port(odd)
    now = state(odd)
    assert {what: now[what] for what in before} == before
