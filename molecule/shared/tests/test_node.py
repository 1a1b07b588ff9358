# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node as its kernel and its services tell it. None of this collection's code is asked."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

QOS_CLASSES = ("guaranteed", "burstable", "besteffort")
SHAPES = {
    "systemd": re.compile(
        r"/kubepods\.slice/(kubepods-\w+\.slice/)?kubepods-(\w+-)?pod\w+\.slice/cri-containerd-[0-9a-f]{64}\.scope"
    ),
    "cgroupfs": re.compile(r"/kubepods/(\w+/)?pod[\w-]+/[0-9a-f]{64}"),
}
OTHER_TREE = {"systemd": "kubepods", "cgroupfs": "kubepods.slice"}


@pytest.fixture(name="wanted")
def _wanted(host: Any) -> dict[str, Any]:
    variables: dict[str, Any] = host.ansible.get_variables()
    return variables


@pytest.fixture(name="cgroup_v2")
def _cgroup_v2(host: Any) -> bool:
    return bool(host.check_output("stat --file-system --format=%t /sys/fs/cgroup") == "63677270")


def container_paths(host: Any) -> dict[str, str]:
    """{process id: cgroup path} of every container process, in the hierarchy that limits memory."""
    paths = {}
    listing = host.check_output("grep -H . /proc/[0-9]*/cgroup 2>/dev/null || true")
    for line in listing.splitlines():
        found = re.match(r"/proc/(\d+)/cgroup:\d+:(?P<controllers>[^:]*):(?P<path>.*)", line)
        if found and re.search(r"[0-9a-f]{64}", found["path"]) and found["controllers"] in ("", "memory"):
            paths[found[1]] = found["path"]
    return paths


def test_the_node_was_booted_as_the_scenario_says(wanted: dict[str, Any], cgroup_v2: bool) -> None:
    assert cgroup_v2 is wanted["inventory_hostname"].startswith("v2")


@pytest.mark.parametrize("service", ["kubelet", "containerd"])
def test_services_run(host: Any, service: str) -> None:
    assert host.check_output(f"systemctl is-active {service}") == "active"


def test_kubelet_answers(host: Any) -> None:
    script = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:10248/healthz').read().decode())"
    assert host.check_output(f'python3 -c "{script}"') == "ok"


def test_every_container_runs_where_the_driver_puts_it(host: Any, wanted: dict[str, Any]) -> None:
    paths = container_paths(host)
    # three pods, each with a sandbox and a container
    assert len(paths) >= 6
    driver = wanted["colocation_cgroup_driver"]
    assert [path for path in paths.values() if not SHAPES[driver].fullmatch(path)] == []


def test_all_three_qos_classes_run(host: Any) -> None:
    paths = list(container_paths(host).values())
    for name in ("burstable", "besteffort"):
        assert any(name in path for path in paths), name
    assert any("burstable" not in path and "besteffort" not in path for path in paths)


def test_the_tree_of_the_other_driver_holds_no_process(host: Any, wanted: dict[str, Any], cgroup_v2: bool) -> None:
    """The tree itself may be there: kubelet 1.20 makes an empty one under the systemd driver on v2."""
    other = OTHER_TREE[wanted["colocation_cgroup_driver"]]
    root = "/sys/fs/cgroup" if cgroup_v2 else "/sys/fs/cgroup/memory"
    assert host.check_output(f"find {root}/{other} -name cgroup.procs -exec cat {{}} + 2>/dev/null || true") == ""


def test_the_file_says_it_plainly_for_agents_that_read_it(host: Any, wanted: dict[str, Any]) -> None:
    text = host.file("/var/lib/kubelet/config.yaml").content_string
    lines = [line.partition("#")[0].rstrip() for line in text.splitlines()]
    assert f"cgroupDriver: {wanted['colocation_cgroup_driver']}" in lines
    assert "cpuManagerPolicy: static" in lines


def test_the_checkpoint_is_the_static_policys(host: Any) -> None:
    assert json.loads(host.file("/var/lib/kubelet/cpu_manager_state").content_string)["policyName"] == "static"


def test_the_guaranteed_pod_has_its_cpu_for_itself(host: Any, cgroup_v2: bool) -> None:
    """By the kernel's word: the container with a whole CPU is alone on it, save for the reserved system."""
    state = json.loads(host.file("/var/lib/kubelet/cpu_manager_state").content_string)
    exclusive = [cpus for containers in state["entries"].values() for cpus in containers.values()]
    assert len(exclusive) == 1
    root = "/sys/fs/cgroup" if cgroup_v2 else "/sys/fs/cgroup/cpuset"
    listing = host.check_output(f"find {root} -name cpuset.cpus -path '*kubepods*' | xargs grep -H . || true")
    values = dict(line.split(":", 1) if ":" in line else (line, "") for line in listing.splitlines())
    owners = [path for path, cpus in values.items() if re.search(r"[0-9a-f]{64}", path) and cpus == exclusive[0]]
    assert owners, values


def test_containerd_itself_comes_to_the_driver(host: Any, wanted: dict[str, Any]) -> None:
    dump = host.check_output("containerd config dump")
    expected = str(wanted["colocation_cgroup_driver"] == "systemd").lower()
    assert f"SystemdCgroup = {expected}" in dump
    assert f"SystemdCgroup = {'false' if expected == 'true' else 'true'}" not in dump


def test_nri_listens_where_containerd_has_it(host: Any) -> None:
    version = re.search(r"(\d+)\.(\d+)\.", host.check_output("containerd --version"))
    assert version
    has_nri = (int(version[1]), int(version[2])) >= (1, 7)
    sockets = [line.split()[-1] for line in host.check_output("cat /proc/net/unix").splitlines() if "nri.sock" in line]
    assert bool(sockets) is has_nri


def test_the_prediction_is_what_was_done(host: Any, wanted: dict[str, Any]) -> None:
    folder = Path(os.environ["MOLECULE_EPHEMERAL_DIRECTORY"])
    predicted, done = (
        json.loads((folder / f"{name}-{wanted['inventory_hostname']}.json").read_text())
        for name in ("predicted", "done")
    )
    assert predicted == done
    assert predicted["plan"]["changes"]
    for entry in predicted["diff"]:
        assert entry["before"] != entry["after"]
        assert hashlib.sha256(entry["after"].encode()).hexdigest() == host.file(entry["after_header"]).sha256sum


def test_nothing_of_a_transaction_is_left_in_watched_folders(host: Any) -> None:
    for folder in ("/etc/kubernetes/manifests", "/etc/containerd", "/var/lib/kubelet"):
        names = host.check_output(f"ls -A {folder}").splitlines()
        assert [name for name in names if "volcano" in name or name.endswith((".bak", "~", ".tmp"))] == []
