# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about cgroups, CPUs, real-time threads, units and other writers, from trees like those of nodes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.cgroup_evidence import (
    MOUNT_LIMIT,
    NAME_LIMIT,
    THREAD_LIMIT,
    available_controllers,
    cgroups,
    live_trees,
    realtime_threads,
    reserved_cgroups,
    reserved_names,
)
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.file_evidence import list_names
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.machine_evidence import (
    booted_at,
    cpus,
    kernel,
)
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.process_evidence import (
    scan_processes,
    writers,
)
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.systemd_evidence import (
    installed_version,
    mapped_version,
)

ID = "0123456789abcdef" * 4
ROOT = "/sys/fs/cgroup"
V2 = f"31 23 0:26 / {ROOT} rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
KTHREAD = 0x00200000


def grow(root: Path, files: dict[str, str]) -> Host:
    for name, text in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Host(str(root))


def stat_line(pid: int, threads: int = 1, policy: int = 0, priority: int = 0, flags: int = 0) -> str:
    """A line of /proc/PID/stat, proc(5): flags are field 9, threads 20, priority 40 and policy 41."""
    fields = ["S"] + ["0"] * 49
    fields[6], fields[17], fields[37], fields[38] = str(flags), str(threads), str(priority), str(policy)
    return f"{pid} (a) b) {' '.join(fields)}\n"


def task(pid: int, tid: int, cgroup: str, policy: int = 0, priority: int = 0) -> dict[str, str]:
    directory = f"/proc/{pid}/task/{tid}"
    return {
        f"{directory}/stat": stat_line(tid, 1, policy, priority),
        f"{directory}/cgroup": f"0::{cgroup}\n",
        f"{directory}/comm": f"thread{tid}\n",
    }


PROCESSES = {
    "/proc/2/stat": stat_line(2, flags=KTHREAD),
    **task(2, 2, "/system.slice", 1, 99),
    "/proc/40/stat": stat_line(40, threads=2),
    **task(40, 40, "/system.slice/multipathd.service"),
    **task(40, 41, "/system.slice/multipathd.service", 2, 99),
    "/proc/50/stat": stat_line(50),
    **task(50, 50, "/", 1, 50),
    "/proc/60/stat": stat_line(60),
    **task(60, 60, "/user.slice/x.scope", 1, 10),
    "/proc/70/stat": "70 (cut",
    "/proc/sys/kernel/osrelease": "6.1.0\n",
}


def test_real_time_threads_of_user_space_are_found_outside_the_root(tmp_path: Path) -> None:
    evidence = realtime_threads(grow(tmp_path, PROCESSES))
    assert [(thread["pid"], thread["tid"], thread["policy"], thread["priority"]) for thread in evidence["threads"]] == [
        (40, 41, "RR", 99),
        (60, 60, "FIFO", 10),
    ]
    assert evidence["threads"][0]["comm"] == "thread41"
    assert evidence["threads"][0]["cgroup"] == "/system.slice/multipathd.service"
    assert (evidence["seen"], evidence["group_scheduling"]) == (4, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("CONFIG_RT_GROUP_SCHED=y\n", "y"), ("CONFIG_SMP=y\n# CONFIG_RT_GROUP_SCHED is not set\n", "n")],
)
def test_the_kernels_build_file_says_whether_they_matter(tmp_path: Path, text: str, expected: str) -> None:
    evidence = realtime_threads(grow(tmp_path, {**PROCESSES, "/boot/config-6.1.0": text}))
    assert evidence["group_scheduling"] == expected


def test_the_number_of_reported_threads_is_limited(tmp_path: Path) -> None:
    many = {"/proc/40/stat": stat_line(40, threads=100)}
    for tid in range(100, 200):
        many.update(task(40, tid, "/system.slice/a.service", 1, 5))
    assert len(realtime_threads(grow(tmp_path, many))["threads"]) == THREAD_LIMIT


def v2_tree(enabled: str) -> dict[str, str]:
    pods = f"{ROOT}/kubepods.slice"
    return {
        "/proc/self/mountinfo": V2,
        f"{ROOT}/cgroup.controllers": "cpuset cpu io memory pids\n",
        f"{ROOT}/cgroup.subtree_control": f"{enabled}\n",
        f"{ROOT}/io.cost.qos": "",
        f"{ROOT}/memory.slice/cgroup.procs": "",
        f"{ROOT}/system.slice/cpu.weight": "100\n",
        f"{ROOT}/system.slice/cpu.idle": "0\n",
        f"{ROOT}/system.slice/cpu.service/cgroup.procs": "",
        f"{pods}/cgroup.subtree_control": "cpuset cpu memory pids\n",
        f"{pods}/kubepods-besteffort.slice/cgroup.subtree_control": "\n",
        f"{pods}/kubepods-besteffort.slice/cpu.idle": "1\n",
        f"{ROOT}/apps/cgroup.subtree_control": "memory\n",
        f"{ROOT}/apps/kubepods/burstable/cgroup.type": "domain\n",
    }


def test_a_v2_hierarchy_is_described_with_its_trees_of_pods(tmp_path: Path) -> None:
    evidence = cgroups(grow(tmp_path, v2_tree("cpuset cpu io memory pids")), [f"0::/apps/kubepods/burstable/pod1/{ID}"])
    assert evidence["tops"][ROOT] == {
        "files": ["cgroup.controllers", "cgroup.subtree_control", "io.cost.qos"],
        "folders": ["apps", "kubepods.slice", "memory.slice", "system.slice"],
    }
    assert evidence["probes"][ROOT] == {"cgroup": f"{ROOT}/system.slice", "files": ["cpu.idle", "cpu.weight"]}
    assert evidence["trees"] == [f"{ROOT}/kubepods.slice", f"{ROOT}/apps/kubepods"]
    assert evidence["files"][f"{ROOT}/kubepods.slice/kubepods-besteffort.slice/cpu.idle"] == "1"
    assert evidence["files"][f"{ROOT}/apps/kubepods/burstable/cgroup.type"] == "domain"
    assert evidence["files"][f"{ROOT}/apps/cgroup.subtree_control"] == "memory"
    assert (evidence["mountinfo_read"], evidence["realtime"], evidence["links"]) == (True, None, {})


def test_real_time_threads_are_looked_for_only_when_cpu_is_not_enabled(tmp_path: Path) -> None:
    evidence = cgroups(grow(tmp_path, {**v2_tree("memory pids"), **PROCESSES}), [])
    assert [thread["pid"] for thread in evidence["realtime"]["threads"]] == [40, 60]


def test_v1_hierarchies_are_described_once_though_links_lead_to_them(tmp_path: Path) -> None:
    lines = (
        f"24 22 0:21 / {ROOT} ro - tmpfs tmpfs ro\n"
        f"31 24 0:28 / {ROOT}/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
        f"32 24 0:29 / {ROOT}/memory rw - cgroup cgroup rw,memory\n"
    )
    host = grow(
        tmp_path,
        {
            "/proc/self/mountinfo": lines,
            f"{ROOT}/cpu,cpuacct/release_agent": "",
            f"{ROOT}/cpu,cpuacct/cpu.shares": "1024\n",
            f"{ROOT}/cpu,cpuacct/kubepods/besteffort/cpu.idle": "1\n",
            f"{ROOT}/cpu,cpuacct/kubepods/cpu.shares": "2\n",
            f"{ROOT}/memory/memory.limit_in_bytes": "1\n",
        },
    )
    os.symlink("cpu,cpuacct", tmp_path / ROOT.lstrip("/") / "cpu")
    evidence = cgroups(host, [])
    assert evidence["links"] == {"cpu": "cpu,cpuacct"}
    assert evidence["trees"] == [f"{ROOT}/cpu,cpuacct/kubepods"]
    assert evidence["files"] == {f"{ROOT}/cpu,cpuacct/kubepods/besteffort/cpu.idle": "1"}
    assert evidence["probes"][f"{ROOT}/cpu,cpuacct"]["cgroup"] == f"{ROOT}/cpu,cpuacct/kubepods"
    assert evidence["probes"][f"{ROOT}/memory"] == {"cgroup": f"{ROOT}/memory", "files": ["memory.limit_in_bytes"]}


def test_what_is_taken_along_is_bounded(tmp_path: Path) -> None:
    leaked = "".join(f"{number} 1 0:9 / /x/{number} rw - cgroup2 none rw\n" for number in range(MOUNT_LIMIT + 50))
    files = {f"{ROOT}/{number}.slice/cgroup.procs": "" for number in range(NAME_LIMIT + 50)}
    evidence = cgroups(grow(tmp_path, {"/proc/self/mountinfo": V2 + leaked, **files}), [])
    assert len(evidence["mountinfo"]) == MOUNT_LIMIT
    assert len(evidence["tops"][ROOT]["folders"]) == NAME_LIMIT


def test_garbage_in_the_mount_table_gives_no_trees(tmp_path: Path) -> None:
    text = " - cgroup2 x\nx - cgroup y\n1 2 3 4 relative rw - cgroup2 cgroup2 rw\n" + V2
    evidence = cgroups(grow(tmp_path, {"/proc/self/mountinfo": text, ROOT: "not a directory"}), [])
    assert evidence["tops"][ROOT] == {"files": [], "folders": []}
    assert evidence["trees"] == []


def test_a_missing_mount_table_is_distinguished_from_an_empty_one(tmp_path: Path) -> None:
    assert cgroups(Host(str(tmp_path)), [])["mountinfo_read"] is False


def test_pods_are_counted_in_each_tree(tmp_path: Path) -> None:
    files = {
        f"{ROOT}/kubepods/pod1f/cgroup.procs": "",
        f"{ROOT}/kubepods/burstable/pod2f/cgroup.procs": "",
        f"{ROOT}/kubepods/pods/cgroup.procs": "",
        f"{ROOT}/kubepods/pod/cgroup.procs": "",
        f"{ROOT}/kubepods.slice/kubepods-pod1_f.slice/cgroup.procs": "",
        f"{ROOT}/kubepods.slice/kubepods-foo-pod1.slice/cgroup.procs": "",
        f"{ROOT}/kubepods.slice/pod5.slice/cgroup.procs": "",
        f"{ROOT}/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podf3.slice/cgroup.procs": "",
        f"{ROOT}/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podf4.slice/cgroup.procs": "",
    }
    evidence = cgroups(grow(tmp_path, {"/proc/self/mountinfo": V2, **files}), [])
    assert evidence["pods"] == {f"{ROOT}/kubepods": 3, f"{ROOT}/kubepods.slice": 3}


@pytest.mark.parametrize(
    ("text", "trees"),
    [
        (f"0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-{ID}.scope", ["kubepods.slice"]),
        (
            f"0::/a.slice/a-kubepods.slice/a-kubepods-pod1.slice/crio-{ID}.scope",
            ["a.slice/a-kubepods.slice"],
        ),
        (f"4:memory:/kubelet/kubepods/pod1/{ID}\n1:name=systemd:/kubelet/kubepods/pod1/{ID}", ["kubelet/kubepods"]),
        (f"0::/kubepods/kubepods/burstable/pod1/{ID}", ["kubepods/kubepods"]),
        (f"0::/a/kubepods/other/{ID}", ["a/kubepods"]),
        (f"0::/kubepods.slice/kubepods-pod1.slice/crio-{ID}.scope/a/kubepods/pod1/{ID}", ["kubepods.slice"]),
        (f"0::/system.slice/kubepods-pod1.slice:cri-containerd:{ID}", []),
        ("", []),
    ],
)
def test_trees_are_found_by_the_containers_in_them(text: str, trees: list[str]) -> None:
    assert live_trees([text]) == trees


KUBELET: dict[str, Any] = {
    "processes": [{"argv": ["kubelet", "--kube-reserved-cgroup", "/podruntime.slice"]}],
    "files": {
        "/a": {"text": "systemReservedCgroup: '/system.slice' # x\n#kubeReservedCgroup: /no\n"},
        "/b": {"text": '{"kubeReservedCgroup":"/json","x":1}\n{\n "systemReservedCgroup": "/json2",\n'},
        "/c": {"kind": "missing"},
    },
}


def test_reserved_cgroups_are_found_wherever_they_are_named(tmp_path: Path) -> None:
    assert reserved_names(KUBELET) == ["/json2", "/podruntime.slice", "/system.slice"]
    host = grow(tmp_path, {f"{ROOT}/memory/system.slice/tasks": "", f"{ROOT}/cpu/tasks": ""})
    evidence = reserved_cgroups(host, [f"{ROOT}/memory", f"{ROOT}/cpu"], KUBELET)
    assert evidence["system.slice"] == [f"{ROOT}/memory"]
    assert evidence["podruntime.slice"] == []
    assert "x.slice" not in evidence


def test_cgroups_of_the_profile_are_looked_for_as_well(tmp_path: Path) -> None:
    host = grow(tmp_path, {f"{ROOT}/a.slice/a-b.slice/cgroup.controllers": "cpu memory\n"})
    evidence = reserved_cgroups(host, [ROOT], KUBELET, ["a-b", "/x"])
    assert evidence["a.slice/a-b.slice"] == [ROOT]
    assert (evidence["x"], evidence["x.slice"], evidence["podruntime.slice"]) == ([], [], [])


def test_controllers_of_a_cgroup_are_reported_if_it_has_any(tmp_path: Path) -> None:
    host = grow(
        tmp_path,
        {
            f"{ROOT}/x.slice/cgroup.controllers": "cpu memory\n",
            f"{ROOT}/empty.slice/cgroup.controllers": "\n",
            f"{ROOT}/cpu/v1/tasks": "",
        },
    )
    points_by_path = {"x.slice": [ROOT], "empty.slice": [ROOT], "v1": [f"{ROOT}/cpu"], "gone": []}
    assert available_controllers(host, points_by_path) == {"x.slice": "cpu memory", "empty.slice": ""}


def test_siblings_of_cpus_are_listed_once_where_the_kernel_names_them(tmp_path: Path) -> None:
    directory = "/sys/devices/system/cpu"
    siblings = {
        f"{directory}/cpu{number}/topology/thread_siblings_list": f"{number % 2},{number % 2 + 2}\n"
        for number in range(4)
    }
    files = {f"{directory}/online": "0-3\n", f"{directory}/offline": "4-7\n", f"{directory}/cpufreq/x": "", **siblings}
    evidence = cpus(grow(tmp_path, files))
    assert (evidence["offline"], evidence["present"], evidence["siblings"]) == ("4-7", None, ["0,2", "1,3"])
    assert cpus(grow(tmp_path, {f"{directory}/smt/active": "0\n"}))["siblings"] == []


def test_each_socket_is_listed_once(tmp_path: Path) -> None:
    directory = "/sys/devices/system/cpu"
    packages = {f"{directory}/cpu{number}/topology/physical_package_id": f"{number % 2}\n" for number in range(4)}
    assert cpus(grow(tmp_path, packages))["sockets"] == ["0", "1"]
    assert cpus(grow(tmp_path / "none", {f"{directory}/online": "0\n"}))["sockets"] == []


def test_sysctls_of_the_kernel_are_read_where_they_exist(tmp_path: Path) -> None:
    files = {
        "/proc/filesystems": "nodev\tsysfs\nnodev\tresctrl\n",
        "/proc/sys/vm/memcg_qos_enable": "1\n",
        "/sys/fs/resctrl/schemata": "",
    }
    evidence = kernel(grow(tmp_path, files))
    assert evidence["pressure"] is None
    assert evidence["sysctls"]["/proc/sys/vm/memcg_qos_enable"] == "1"
    assert evidence["resctrl"] == {"known": True, "files": ["schemata"]}


def test_other_writers_are_found_in_pods_and_beside_them(tmp_path: Path) -> None:
    files = {
        "/proc/10/comm": "koordlet\n",
        "/proc/10/cgroup": f"0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-{ID}.scope\n",
        "/proc/11/comm": "volcano-config-\n",
        "/proc/11/cgroup": "0::/system.slice/v.service\n",
        "/opt/nri/plugins/10-balloons": "",
    }
    host = grow(tmp_path, files)
    states = scan_processes(host, None)
    assert states["writers"] == {"koordlet": 1, "volcano-config-": 1}
    assert writers(host, states["writers"])["folders"] == {"/opt/nri/plugins": ["10-balloons"]}


MAPS = """7f0 r--p 0 fe:01 1 /usr/lib/x86_64-linux-gnu/libc.so.6
7f1 r--p 0 fe:01 1 /usr/lib/x86_64-linux-gnu/systemd/libsystemd-shared-257.so
7f2 r--p 0 fe:01 1 /usr/lib/x86_64-linux-gnu/systemd/libsystemd-shared-257.so
"""


@pytest.mark.parametrize(
    ("maps", "version"),
    [
        (MAPS, "257"),
        ("7f1 /usr/lib/systemd/libsystemd-shared-255.4-1.fc40.so\n", "255.4-1.fc40"),
        ("7f1 /usr/lib/systemd/libsystemd-shared-257.so (deleted)\n", "257"),
        ("", None),
    ],
)
def test_the_version_that_pid_1_runs_with(maps: str, version: str | None) -> None:
    assert mapped_version(maps) == version


def test_the_version_that_the_next_boot_starts(tmp_path: Path) -> None:
    assert installed_version(Host(str(tmp_path))) is None
    host = grow(tmp_path, {"/usr/lib/aarch64-linux-gnu/systemd/libsystemd-shared-258.so": ""})
    assert installed_version(host) == "258"


def test_names_of_what_is_no_directory(tmp_path: Path) -> None:
    os.symlink("loop", tmp_path / "loop")
    assert list_names(Host(str(tmp_path)), "/loop") == []
    assert list_names(Host(str(tmp_path)), "relative") == []


@pytest.mark.parametrize("text", ["", " ", "garbage", None])
def test_an_uptime_that_is_none(text: str | None) -> None:
    assert booted_at(text, 5.0) is None
