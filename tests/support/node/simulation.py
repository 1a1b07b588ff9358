# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node made of a real directory, a real CRI socket and a scripted systemd: kubelet and containerd as they behave."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from ansible_collections.volcano.colocation.plugins.module_utils.cri.node_access import Node
from ansible_collections.volcano.colocation.plugins.module_utils.host import Clock, CommandResult, Host
from ansible_collections.volcano.colocation.plugins.module_utils.state.store import STATE_DIRECTORY, Store
from ansible_collections.volcano.colocation.tests.support.node.cri_server import Container, Runtime, Sandbox, Server

KUBELET = "kubelet.service"
CONTAINERD = "containerd.service"
ENDPOINT = "/run/cri.sock"
KUBELET_CONFIG = "/var/lib/kubelet/config.yaml"
RUNTIME_CONFIG = "/etc/containerd/config.toml"
CHECKPOINT = "/var/lib/kubelet/cpu_manager_state"
NRI = "/run/nri.sock"
POD_DIRECTORY = {"systemd": "/sys/fs/cgroup/kubepods.slice", "cgroupfs": "/sys/fs/cgroup/kubepods"}
SECRET = "hunter2-registry-password"


class FakeClock(Clock):
    """A clock that advances only in ``sleep``."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def wall(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class Unit:
    active: str = "active"
    sub: str = "running"
    pid: int = 100
    restarts: int = 0
    kill_mode: str = "process"
    load: str = "loaded"
    control_group: str = ""
    started: float = 0.0


class SimulatedHost(Host):
    """Files below a directory; the simulation provides the programs' output."""

    def __init__(self, root: Path, respond: Callable[[tuple[str, ...]], tuple[int, str, str]]) -> None:
        super().__init__(str(root))
        self._respond = respond

    @property
    def live(self) -> bool:
        return True

    def path(self, path: str) -> str:
        return os.path.join(self.root, path.lstrip("/"))

    def run(self, argv: Sequence[str], timeout: float = 30.0) -> CommandResult:
        rc, out, err = self._respond(tuple(argv))
        return CommandResult(tuple(argv), rc, out, err, 0.0)


@dataclass
class Simulation:
    root: Path
    units: dict[str, Unit] = field(default_factory=dict)
    runtime: Runtime = field(default_factory=Runtime)
    server: Server | None = None
    healthz_url: str = ""
    healthy: bool = True
    refused_jobs: set[tuple[str, str]] = field(default_factory=set)
    commands: list[tuple[str, ...]] = field(default_factory=list)
    log: str = ""
    system: str = "running"
    next_pid: int = 200
    returning_plugins: int = 0
    clock: FakeClock = field(default_factory=FakeClock)

    launch: Callable[[str, str], tuple[int, str, str]] = lambda command, transaction: (0, "", "")
    crio: Callable[[tuple[str, ...]], tuple[int, str, str]] = lambda argv: (0, "", "")

    def __post_init__(self) -> None:
        self.host = SimulatedHost(self.root, self._respond)
        self.node = Node(self.host, self.clock)
        self.store = Store(self.host)

    # For tests

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        target = Path(self.host.path(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(mode)

    def read(self, path: str) -> str:
        return Path(self.host.path(path)).read_text()

    def tree(self) -> dict[str, tuple[str, str]]:
        """{path: (kind and mode, content)} of all files except the collection's, /run and /proc."""
        contents = {}
        for path in sorted(self.root.rglob("*")):
            relative = "/" + str(path.relative_to(self.root))
            if relative.startswith((STATE_DIRECTORY, "/usr", "/run", "/proc")):
                continue
            content = ""
            if path.is_symlink():
                content = os.readlink(path)
            elif path.is_file():
                content = path.read_text()
            contents[relative] = (stat.filemode(path.lstat().st_mode), content)
        return contents

    def state(self) -> dict[str, str]:
        return {name: unit.active for name, unit in self.units.items()}

    def pods(self) -> list[str]:
        return sorted(sandbox.name for sandbox in self.runtime.sandboxes)

    def stored_text(self) -> str:
        """Return all text below the state directory except backups and originals."""
        directory = Path(self.host.path(STATE_DIRECTORY))
        return "\n".join(
            path.read_text(errors="replace")
            for path in directory.rglob("*")
            if path.is_file() and path.parent.name not in ("backups", "originals")
        )

    # systemd

    def _respond(self, argv: tuple[str, ...]) -> tuple[int, str, str]:
        self.commands.append(argv)
        if argv[0] == "journalctl":
            return 0, self.log, ""
        if argv[:2] == ("systemctl", "show"):
            return 0, self._show(argv[-1]), ""
        if argv == ("systemctl", "is-system-running"):
            return 0, self.system + "\n", ""
        if argv[:2] == ("systemctl", "reset-failed"):
            return 0, "", ""
        if argv[0] == "systemctl":
            return self._job(argv[1], argv[2])
        if argv[:2] == ("containerd", "--config"):
            return self._dump(Path(argv[2]))
        if argv[0] == "crio":
            return self.crio(argv)
        if argv[0] == "systemd-run":
            return self.launch(*argv[-2:])
        raise AssertionError(f"unexpected command: {argv}")

    def _show(self, name: str) -> str:
        if name.endswith(".slice"):
            directory = Path(self.host.path("/sys/fs/cgroup/" + name))
            return f"LoadState=loaded\nActiveState={'active' if directory.is_dir() else 'inactive'}\nSubState=active\n"
        unit = self.units.get(name, Unit("inactive", "dead", 0, load="not-found"))
        return (
            f"LoadState={unit.load}\nActiveState={unit.active}\nSubState={unit.sub}\nMainPID={unit.pid}\n"
            f"NRestarts={unit.restarts}\nKillMode={unit.kill_mode}\n"
            f"ControlGroup={unit.control_group}\n"
            f"ExecMainStartTimestampMonotonic={unit.started * 1e6:.0f}\n"
        )

    def _job(self, verb: str, name: str) -> tuple[int, str, str]:
        if (verb, name) in self.refused_jobs:
            return 1, "", f"Job for {name} failed because the control process exited with error code."
        if name.endswith(".slice"):
            os.rmdir(self.host.path("/sys/fs/cgroup/" + name))
            return 0, "", ""
        unit = self.units[name]
        if verb == "stop":
            self._stop_processes(name)
            unit.active, unit.sub, unit.pid = "inactive", "dead", 0
            return 0, "", ""
        if unit.active != "active":
            self.next_pid += 1
            unit.active, unit.sub, unit.pid = "active", "running", self.next_pid
            return self._start_kubelet(unit) if name == KUBELET else self._start_containerd(unit)
        return 0, "", ""

    def _stop_processes(self, name: str) -> None:
        if name == CONTAINERD and self.server is not None:
            self.server.close()
            self.server = None
            os.unlink(self.host.path(ENDPOINT))

    def listen(self) -> None:
        """Open the runtime's socket and serve requests."""
        self.server = Server(Path(self.host.path(ENDPOINT)), self.runtime.converse)

    # containerd

    def connect_plugins(self, count: int) -> None:
        """Let the NRI socket listen, with this number of connected plugins."""
        rows = [f"0: 2 0 00010000 1 1 7 {NRI}", *[f"0: 3 0 00000000 1 3 {8 + number} {NRI}" for number in range(count)]]
        self.write("/proc/net/unix", "\n".join(["Num RefCount Protocol Flags Type St Inode Path", *rows, ""]))

    def _dump(self, path: Path) -> tuple[int, str, str]:
        text = path.read_text()
        if "broken" in text:
            return 1, "", f"containerd: toml: line 1: bare keys cannot contain {SECRET[:7]}, token: {SECRET}"
        driver = "true" if "SystemdCgroup = true" in text else "false"
        return 0, f'[plugins]\n  [plugins."cri".containerd.runtimes.runc.options]\n    SystemdCgroup = {driver}\n', ""

    def _start_containerd(self, unit: Unit) -> tuple[int, str, str]:
        text = self.read(RUNTIME_CONFIG)
        if "refused at start" in text:
            unit.active, unit.sub, unit.pid = "failed", "failed", 0
            return 1, "", "Job for containerd.service failed."
        options = {"SystemdCgroup": "SystemdCgroup = true" in text}
        self.runtime.config = {"containerd": {"runtimes": {"runc": {"options": options}}}}
        self.listen()
        self.connect_plugins(self.returning_plugins)
        self.write(NRI, "")
        return 0, "", ""

    # kubelet

    def settings(self) -> dict[str, str]:
        lines = (line.split(":", 1) for line in self.read(KUBELET_CONFIG).splitlines() if ":" in line)
        return {key.strip(): value.strip() for key, value in lines}

    def _start_kubelet(self, unit: Unit) -> tuple[int, str, str]:
        settings = self.settings()
        if "refused" in settings:
            unit.active, unit.sub, unit.pid = "failed", "failed", 0
            self.log = "E1121 01:00:00.000000 1 server.go:1] failed to load config, token=" + SECRET
            return 1, "", "Job for kubelet.service failed."
        policy = settings.get("cpuManagerPolicy", "none")
        if not self._checkpoint_fits(policy) or self.server is None or "dies" in settings:
            unit.active, unit.sub, unit.pid = "activating", "auto-restart", 0
            self.log = (
                'F1121 01:00:00.000000 1 kubelet.go:1] start cpu manager error: configured policy "static" differs'
            )
            return 0, "", ""
        if not os.path.exists(self.host.path(CHECKPOINT)):
            self.write(CHECKPOINT, json.dumps({"policyName": policy}), 0o600)
        self._start_pods(settings.get("cgroupDriver", "cgroupfs"))
        return 0, "", ""

    def _checkpoint_fits(self, policy: str) -> bool:
        path = Path(self.host.path(CHECKPOINT))
        return not path.exists() or json.loads(path.read_text())["policyName"] == policy

    def _start_pods(self, driver: str) -> None:
        directory = Path(self.host.path(POD_DIRECTORY[driver]))
        directory.mkdir(parents=True, exist_ok=True)
        running = "systemd" if self._runtime_driver() else "cgroupfs"
        for name in ("etcd", "proxy"):
            if name in self.pods():
                continue
            self.next_pid += 1
            ident = f"{self.next_pid:064x}"
            self.runtime.sandboxes.append(Sandbox("s" + ident, name))
            self.runtime.containers.append(Container(ident, "s" + ident, name, 1, self.next_pid))
            self.write(f"/proc/{self.next_pid}/cgroup", "0::" + _cgroup(driver, running, ident) + "\n")

    def _runtime_driver(self) -> bool:
        config: Any = self.runtime.config
        return bool(config["containerd"]["runtimes"]["runc"]["options"]["SystemdCgroup"])


def _cgroup(kubelet: str, runtime: str, ident: str) -> str:
    """As kubelet names the parent and containerd its container: internal/cri/server/helpers.go getCgroupsPath."""
    if kubelet == "cgroupfs":
        return f"/kubepods/besteffort/podabc/{ident}"
    if runtime == "cgroupfs":
        return f"/system.slice/containerd.service/kubepods-besteffort-podabc.slice:cri-containerd:{ident}"
    return f"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podabc.slice/cri-containerd-{ident}.scope"


class Healthz:
    """kubelet's health endpoint, as healthy as the unit is."""

    def __init__(self, simulation: Simulation) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                up = simulation.healthy and simulation.units[KUBELET].active == "active"
                up = up and "silent" not in simulation.settings()
                self.send_response(200 if up else 500)
                self.end_headers()
                self.wfile.write(b"ok" if up else b"not yet")

            def log_message(self, *unused: object) -> None:
                return

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/healthz"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def misaligned(simulation: Simulation) -> None:
    """Fill the directory: kubelet and containerd run with the cgroupfs driver, CPU manager none, two pods."""
    simulation.write("/proc/1/comm", "systemd\n")
    simulation.write("/proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    Path(simulation.host.path("/run/systemd/system")).mkdir(parents=True)
    simulation.write(
        KUBELET_CONFIG, "kind: KubeletConfiguration\ncgroupDriver: cgroupfs\ncpuManagerPolicy: none\n", 0o600
    )
    simulation.write(RUNTIME_CONFIG, f"version = 2\n# SystemdCgroup\npassword = '{SECRET}'\n", 0o640)
    simulation.units = {CONTAINERD: Unit("inactive", "dead", 0), KUBELET: Unit("inactive", "dead", 0)}
    # kubelet does not write this content again.
    simulation.write(CHECKPOINT, json.dumps({"policyName": "none", "checksum": 1353318690}), 0o600)
    for name in (CONTAINERD, KUBELET):
        simulation._job("start", name)


def document(simulation: Simulation, transaction: str = "t-1", **changes: Any) -> dict[str, Any]:
    """The plan that takes the misaligned node to the systemd driver, the static policy and NRI."""

    def before(path: str) -> str:
        return hashlib.sha256(simulation.read(path).encode()).hexdigest()

    plan: dict[str, Any] = {
        "schema": 1,
        "id": transaction,
        "summary": ["kubelet cgroupDriver: cgroupfs -> systemd"],
        "files": [
            {
                "path": KUBELET_CONFIG,
                "before_sha256": before(KUBELET_CONFIG),
                "after": f"kind: Kubelet\ncgroupDriver: systemd\ncpuManagerPolicy: static\nkey: {SECRET}\n",
            },
            {
                "path": RUNTIME_CONFIG,
                "before_sha256": before(RUNTIME_CONFIG),
                "after": f"version = 2\nSystemdCgroup = true\npassword = '{SECRET}'\n",
            },
            {"path": "/etc/containerd/extra/nri.toml", "before_sha256": None, "after": "nri = true\n", "mode": "0600"},
        ],
        "validate": [
            {
                "name": "containerd config dump",
                "argv": ["containerd", "--config", "{file}", "config", "dump"],
                "file": RUNTIME_CONFIG,
                "expect": [
                    {
                        "table": ["plugins", "cri", "containerd", "runtimes", "runc", "options"],
                        "key": "SystemdCgroup",
                        "value": "true",
                    }
                ],
            }
        ],
        "services": {
            "kubelet": {"unit": KUBELET, "action": "restart"},
            "runtime": {"unit": CONTAINERD, "action": "restart"},
        },
        "checkpoints": [CHECKPOINT, "/var/lib/kubelet/memory_manager_state"],
        "sandboxes": {"endpoint": "unix://" + ENDPOINT, "action": "stop", "cgroups": ["kubepods", "kubepods.slice"]},
        "stale_cgroups": ["kubepods"],
        "fresh_cgroups": ["kubepods.slice"],
        "gate": {
            "timeout": 60,
            "kubelet_healthz": simulation.healthz_url,
            "cri_endpoint": "unix://" + ENDPOINT,
            "runtime_handlers": {"runc": True},
            "cpu_manager": {"path": CHECKPOINT, "policy": "static"},
            "cgroup_driver": "systemd",
            "nri_socket": NRI,
            "pods": "return",
        },
    }
    plan.update(changes)
    return plan
