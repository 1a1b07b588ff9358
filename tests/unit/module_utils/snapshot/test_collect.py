# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The evidence about a node: of a recorded tree, and of each kind of entry at the path of a file."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.cgroup.hierarchy import cgroup_mounts
from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.collect import collect
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.file_evidence import (
    CONFIG_LIMIT,
    capture,
    describe,
    kernel_text,
)
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.kubelet_endpoints import (
    healthz,
    healthz_address,
)
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.machine_evidence import booted_at
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.process_evidence import (
    command_line_option,
    started_at,
)
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.runtime_evidence import (
    listening_sockets,
    running_handlers,
)
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.systemd_evidence import parse_show, services
from ansible_collections.volcano.colocation.tests.support.node.tcp_listener import listening

ID = "0123456789abcdef" * 4
MOUNTINFO = """22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
31 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate
40 22 0:30 / /run/containerd/x rw - tmpfs tmpfs rw,size=1k
"""
V1_MOUNTINFO = """24 22 0:21 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755
32 24 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
"""
UNIX = """Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 12345 /var/run/nri/nri.sock
0000000000000000: 00000002 00000000 00010000 0001 01 12346 /run/special.sock
0000000000000000: 00000002 00000000 00010000 0001 01 12347 /run/else.sock
0000000000000000: 00000003 00000000 00000000 0001 03 12348 /run/connected/nri.sock
0000000000000000: 00000002 00000000 00010000 0001 01 12349
"""


def stat_line(pid: int, name: str, ticks: int) -> str:
    return f"{pid} ({name}) S 1 " + " ".join(["0"] * 17) + f" {ticks} 0 0\n"


def process(pid: int, name: str, *argv: str, cgroup: str = "0::/system.slice/x.service") -> dict[str, str]:
    directory = f"proc/{pid}"
    return {
        f"{directory}/comm": f"{name}\n",
        f"{directory}/cmdline": "\0".join(argv) + "\0",
        f"{directory}/stat": stat_line(pid, name, 500),
        f"{directory}/cgroup": f"{cgroup}\n",
    }


FILES = {
    "proc/sys/kernel/hostname": "node1\n",
    "proc/sys/kernel/osrelease": "6.1.0\n",
    "proc/1/comm": "systemd\n",
    "proc/uptime": "100.25 90.00\n",
    "proc/self/mountinfo": MOUNTINFO,
    "proc/net/unix": UNIX,
    "sys/devices/system/cpu/online": "0-3\n",
    "sys/devices/system/node/node0/cpulist": "0-3\n",
    "sys/devices/system/node/possible": "0\n",
    "sys/fs/cgroup/cgroup.controllers": "cpu memory\n",
    "sys/fs/cgroup/kubepods.slice/cgroup.type": "domain\n",
    "usr/bin/kubelet": "",
    "usr/local/bin/containerd": "",
    "srv/kubelet.yaml": "cgroupDriver: systemd\n",
    "var/lib/kubelet/cpu_manager_state": "{}",
    "etc/containerd/config.toml": 'version = 2\nsocket_path = "/run/special.sock"\n',
    "etc/containerd/conf.d/a.toml": "",
    "etc/containerd/conf.d/README": "",
    **process(
        7, "kubelet", "/usr/bin/kubelet", "--config", "/srv/kubelet.yaml", "--container-runtime-endpoint=unix:///r.sock"
    ),
    **process(8, "containerd", "/usr/local/bin/containerd"),
    **process(9, "dockerd", "/usr/bin/dockerd"),
    **process(10, "bash", "bash"),
    **process(11, "pause", "/pause", cgroup=f"0::/kubepods.slice/cri-containerd-{ID}.scope"),
    **process(12, "kubelet", "/kubelet", cgroup=f"0::/kubepods.slice/cri-containerd-{ID}.scope"),
}


def grow(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def evidence(tmp_path: Path) -> dict[str, Any]:
    snapshot = collect(Host(str(grow(tmp_path, FILES))))
    assert json.loads(json.dumps(snapshot)) == snapshot
    return snapshot


def test_the_machine_is_described_by_its_files(evidence: dict[str, Any]) -> None:
    assert evidence["system"]["hostname"] == "node1"
    assert evidence["system"]["pid1"] == "systemd"
    assert evidence["system"]["boot_id"] is None
    assert (evidence["cpus"]["online"], evidence["cpus"]["numa"]) == ("0-3", {"0": "0-3"})


def test_cgroups_are_described_by_the_mount_table_and_their_files(evidence: dict[str, Any]) -> None:
    assert evidence["cgroups"]["mountinfo"] == [MOUNTINFO.splitlines()[1]]
    assert evidence["cgroups"]["trees"] == ["/sys/fs/cgroup/kubepods.slice"]
    assert evidence["cgroups"]["files"] == {
        "/sys/fs/cgroup/cgroup.controllers": "cpu memory",
        "/sys/fs/cgroup/kubepods.slice/cgroup.type": "domain",
    }


def test_agents_and_what_only_looks_like_one(evidence: dict[str, Any]) -> None:
    (kubelet,) = evidence["kubelet"]["processes"]
    assert kubelet["pid"] == 7
    assert kubelet["argv"][1:3] == ["--config", "/srv/kubelet.yaml"]
    assert [process["pid"] for process in evidence["runtime"]["processes"]] == [8]
    assert evidence["other_runtimes"] == ["dockerd"]
    assert evidence["containers"] == {f"0::/kubepods.slice/cri-containerd-{ID}.scope": 2}


def test_the_file_kubelet_was_started_with(evidence: dict[str, Any]) -> None:
    kubelet = evidence["kubelet"]
    assert (kubelet["program"], kubelet["config_path"]) == ("/usr/bin/kubelet", "/srv/kubelet.yaml")
    assert kubelet["files"]["/srv/kubelet.yaml"]["text"] == "cgroupDriver: systemd\n"
    assert kubelet["files"]["/var/lib/kubelet/cpu_manager_state"]["text"] == "{}"


def test_containerd_is_found_with_its_files(evidence: dict[str, Any]) -> None:
    runtime = evidence["runtime"]
    assert runtime["program"] == "/usr/local/bin/containerd"
    assert runtime["cri"] == {"endpoint": "unix:///r.sock"}
    assert sorted(runtime["files"]) == ["/etc/containerd/conf.d/a.toml", "/etc/containerd/config.toml"]


def test_nri_sockets_by_name_and_by_configuration(evidence: dict[str, Any]) -> None:
    assert sorted(evidence["runtime"]["nri_sockets"]) == ["/run/special.sock", "/var/run/nri/nri.sock"]


def test_programs_of_a_tree_are_not_asked(evidence: dict[str, Any]) -> None:
    assert evidence["services"] == {"version": None, "installed": None, "units": {}}
    assert (evidence["kubelet"]["version"], evidence["kubelet"]["healthz"]) == (None, None)
    assert evidence["runtime"]["version"] is None
    assert evidence["cgroups"]["filesystem_types"] == {}


def test_taking_evidence_changes_nothing(tmp_path: Path) -> None:
    grow(tmp_path, FILES)
    before = {path: path.stat().st_ctime_ns for path in tmp_path.rglob("*")}
    collect(Host(str(tmp_path)))
    assert {path: path.stat().st_ctime_ns for path in tmp_path.rglob("*")} == before


def journal(transaction: str, state: str) -> str:
    """The journal of a transaction without changes."""
    healthy = {"kubelet_runs": False, "runtime_runs": False, "kubelet_healthy": False, "pods": {}}
    empty = ("files", "written", "checkpoints", "begun", "undone", "steps", "gate")
    plan = {"schema": 1, "id": transaction, "summary": [], "files": []}
    document = {"schema": 1, "id": transaction, "state": state, "plan": plan, "before": healthy, "step": ""}
    return json.dumps({**document, **{name: [] for name in empty}, "error": None, "recovered": None})


def test_transactions_that_have_not_ended_are_reported(tmp_path: Path) -> None:
    ids = [f"20261121T013455-0000000{number}" for number in range(4)]
    directory = "var/lib/volcano-colocation/transactions"
    states = zip(ids, ("committed", "applying", "rolled-back"))
    tree = {f"{directory}/{item}/journal.json": journal(item, state) for item, state in states}
    grow(tmp_path, {**tree, f"{directory}/{ids[3]}/plan.json": "{}"})
    assert collect(Host(str(tmp_path)))["unfinished_transactions"] == [ids[1]]


def test_an_empty_tree_is_evidence_too(tmp_path: Path) -> None:
    snapshot = collect(Host(str(tmp_path)))
    assert snapshot["kubelet"]["program"] is None
    assert snapshot["runtime"]["files"] == {"/etc/containerd/config.toml": {"kind": "missing"}}
    assert snapshot["system"]["booted_at"] is None
    assert snapshot["unfinished_transactions"] == []


def test_a_relative_config_path_is_noted_and_not_followed(tmp_path: Path) -> None:
    grow(tmp_path, {**FILES, **process(7, "kubelet", "kubelet", "--config=kubelet.yaml")})
    snapshot = collect(Host(str(tmp_path)))["kubelet"]
    assert snapshot["program"] == "/usr/bin/kubelet"
    assert snapshot["files"]["kubelet.yaml"] == {"kind": "unknown", "error": "not an absolute path: 'kubelet.yaml'"}


def test_a_process_that_ended_between_two_reads_is_no_evidence(tmp_path: Path) -> None:
    missing = grow(tmp_path, FILES) / "proc" / "7"
    (missing / "cgroup").unlink()
    assert collect(Host(str(tmp_path)))["kubelet"]["processes"] == []


@pytest.mark.parametrize(
    ("argv", "value"),
    [
        (["x"], None),
        (["x", "--config=/a"], "/a"),
        (["x", "--config", "/a"], "/a"),
        (["x", "--config=/a", "--config", "/b"], "/b"),
        (["x", "-c", "/a"], "/a"),
        (["x", "--config-dir=/a"], None),
        (["x", "--config"], None),
        (["x", "--config="], ""),
        (["x", '--config="/a"'], '"/a"'),
        ([], None),
    ],
)
def test_an_option_is_read_from_a_command_line_in_every_form(argv: list[str], value: str | None) -> None:
    assert command_line_option(argv, "--config", "-c") == value


def test_only_sockets_somebody_listens_on() -> None:
    assert listening_sockets(UNIX) == ["/var/run/nri/nri.sock", "/run/special.sock", "/run/else.sock"]
    assert listening_sockets("") == []


def test_running_handlers_carry_no_registry_secret() -> None:
    config = {
        "containerd": {
            "defaultRuntimeName": "runc",
            "runtimes": {
                "runc": {"runtimeType": "io.containerd.runc.v2", "options": {"SystemdCgroup": True}},
                "kata": {"runtimeType": "io.containerd.kata.v2", "options": None},
            },
        },
        "registry": {"configs": {"r": {"auth": {"password": "hunter2"}}}},
    }
    handlers = running_handlers(json.dumps(config))
    assert "hunter2" not in json.dumps(handlers)
    assert handlers == {
        "default": "runc",
        "handlers": {
            "runc": {"type": "io.containerd.runc.v2", "systemd_cgroup": True},
            "kata": {"type": "io.containerd.kata.v2", "systemd_cgroup": None},
        },
    }
    assert running_handlers("{}") == {"default": None, "handlers": {}}


def test_boot_and_start_of_a_process() -> None:
    assert booted_at("100.25 90.00\n", 1000.0) == 899.75
    assert booted_at(None, 1000.0) is None
    assert started_at(stat_line(7, "a) (b", 500), 899.75, 100) == 904.75
    assert started_at(stat_line(7, "kubelet", 500), None, 100) is None
    assert started_at("", 899.75, 100) is None


def test_only_mounts_of_cgroups_are_taken() -> None:
    assert cgroup_mounts(MOUNTINFO) == [MOUNTINFO.splitlines()[1]]
    assert cgroup_mounts(V1_MOUNTINFO) == V1_MOUNTINFO.splitlines()


def test_blocks_of_systemctl_show() -> None:
    assert parse_show("Id=a.service\nDropInPaths=\nx\n\nId=b.service\nExecStart={ a=b }\n") == [
        {"Id": "a.service", "DropInPaths": ""},
        {"Id": "b.service", "ExecStart": "{ a=b }"},
    ]


def test_an_image_has_no_services(tmp_path: Path) -> None:
    assert services(Host(str(tmp_path))) == {"version": None, "installed": None, "units": {}}


def test_a_regular_file_is_taken_with_its_text_and_checksum(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"caf\xe9\r\n")
    os.chmod(tmp_path / "a", 0o640)
    evidence = capture(Host(str(tmp_path)), "/a")
    assert (evidence["kind"], evidence["mode"]) == ("regular", "0640")
    assert evidence["text"] == "caf\udce9\r\n"
    assert evidence["sha256"] == hashlib.sha256(b"caf\xe9\r\n").hexdigest()


def test_a_symlink_stays_one_and_shows_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("x\n", encoding="utf-8")
    (tmp_path / "link").symlink_to("real")
    evidence = capture(Host(str(tmp_path)), "/link")
    assert (evidence["kind"], evidence["target"], evidence["text"]) == ("symlink", "real", "x\n")


def test_no_text_of_this_machine_is_in_the_snapshot_of_an_image(tmp_path: Path) -> None:
    """Links at paths of files and directories, whose targets are on this machine and not in the image."""
    root, outside = tmp_path / "image", tmp_path / "machine"
    for directory in (root / "etc/systemd/system", root / "proc", outside / "systemd"):
        directory.mkdir(parents=True)
    for name in ("config.yaml", "systemd/kubelet.service", "meminfo"):
        (outside / name).write_text("memory: of this machine\n")
    (root / "var/lib").mkdir(parents=True)
    (root / "var/lib/kubelet").symlink_to(outside)
    (root / "etc/systemd/system/kubelet.service").symlink_to(outside / "systemd/kubelet.service")
    (root / "etc/os-release").symlink_to("../../machine/meminfo")
    snapshot = collect(Host(str(root)))
    assert "of this machine" not in json.dumps(snapshot)
    assert snapshot["kubelet"]["unit_files"] == ["/etc/systemd/system/kubelet.service"]
    assert snapshot["kubelet"]["files"]["/etc/systemd/system/kubelet.service"]["error"] == "No such file or directory"


def test_linked_units_of_an_image_are_read(tmp_path: Path) -> None:
    (tmp_path / "usr/lib/systemd/system").mkdir(parents=True)
    (tmp_path / "etc/systemd/system").mkdir(parents=True)
    (tmp_path / "lib").symlink_to("/usr/lib")
    (tmp_path / "usr/lib/systemd/system/node.service").write_text("[Service]\nExecStart=/usr/bin/kubelet --v=2\n")
    (tmp_path / "etc/systemd/system/kubelet.service").symlink_to("/lib/systemd/system/node.service")
    (tmp_path / "usr/lib/systemd/system/kubelet.service.d").mkdir()
    (tmp_path / "usr/lib/systemd/system/kubelet.service.d/10.conf").symlink_to("/dev/null")
    snapshot = collect(Host(str(tmp_path)))["kubelet"]
    unit, drop_in = snapshot["unit_files"]
    assert (unit, snapshot["files"][unit]["target"]) == (
        "/etc/systemd/system/kubelet.service",
        "/lib/systemd/system/node.service",
    )
    assert "--v=2" in snapshot["files"][unit]["text"]
    assert snapshot["files"][drop_in]["text"] == ""


def test_a_symlink_to_nowhere_is_described_with_the_error(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("gone")
    evidence = capture(Host(str(tmp_path)), "/link")
    assert (evidence["kind"], evidence["error"]) == ("symlink", "No such file or directory")


@pytest.mark.parametrize("path", ["/gone", "/file/below"])
def test_a_missing_file_is_described_as_missing(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").touch()
    assert capture(Host(str(tmp_path)), path) == {"kind": "missing"}


def test_a_file_that_is_too_long_to_take_along(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"#" * (CONFIG_LIMIT + 1))
    evidence = capture(Host(str(tmp_path)), "/long")
    assert (evidence["kind"], evidence["error"]) == (
        "regular",
        "it has 1048577 bytes, more than a configuration file may have: 1048576 (1 MiB)",
    )
    assert evidence["remedy"]
    assert "text" not in evidence


class DeniedHost(Host):
    """A node whose files cannot be read, as by SELinux for root."""

    def read_bytes(self, path: str, limit: int = CONFIG_LIMIT) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def test_a_file_that_may_not_be_read_has_the_reason_and_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    evidence = capture(DeniedHost(str(tmp_path)), "/file")
    assert (evidence["kind"], evidence["error"]) == ("regular", "Permission denied")
    assert evidence["remedy"].startswith("Use become: true")
    assert "text" not in evidence


def test_a_file_of_the_longest_size_is_taken_along(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"#" * CONFIG_LIMIT)
    assert len(capture(Host(str(tmp_path)), "/long")["text"]) == CONFIG_LIMIT


def test_a_fifo_does_not_hang_us(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    evidence = capture(Host(str(tmp_path)), "/fifo")
    assert evidence["kind"] == "special"
    assert "text" not in evidence


def test_a_directory_and_a_socket_are_described_by_their_kind(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        assert describe(Host(str(tmp_path)), "/s")["kind"] == "socket"
    assert capture(Host(str(tmp_path)), "/directory")["kind"] == "directory"


def test_a_link_that_leads_to_itself_is_described_and_not_read(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert describe(Host(str(tmp_path)), "/loop/below")["kind"] == "unknown"
    assert "error" in capture(Host(str(tmp_path)), "/loop")


def test_a_kernel_file_is_read_and_a_missing_one_is_none(tmp_path: Path) -> None:
    grow(tmp_path, {"proc/x": "a b\n"})
    assert kernel_text(Host(str(tmp_path)), "/proc/x") == "a b"
    assert kernel_text(Host(str(tmp_path)), "/proc/y") is None
    assert kernel_text(Host(str(tmp_path)), "/proc") is None


@pytest.mark.parametrize("body", ["ok", ""])
def test_the_answer_of_healthz_is_taken(body: str) -> None:
    with listening() as server:

        def respond() -> None:
            connection, _address = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.0 200 OK\r\nX: y\r\n\r\n" + body.encode())

        thread = threading.Thread(target=respond)
        thread.start()
        assert healthz(server.getsockname()[:2], 5.0) == body
        thread.join()


@pytest.mark.parametrize("word", ["null", "~", '""'])
def test_a_null_address_is_kubelets_default(word: str) -> None:
    text = f"healthzBindAddress: {word}\nhealthzPort: {word}\n"
    assert healthz_address([], [text]) == ("127.0.0.1", 10248)


def test_healthz_where_nobody_listens_is_none() -> None:
    with listening() as server:
        address = server.getsockname()[:2]
    assert healthz(address, 1.0) is None


def test_a_time_that_is_still_to_come_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock was set back after the file was written, so no restart would make a process newer than the file."""
    (tmp_path / "config").touch()
    host = Host.below(str(tmp_path))
    assert describe(host, "/config")["ctime"] == (tmp_path / "config").stat().st_ctime
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    assert "ctime" not in describe(host, "/config")
