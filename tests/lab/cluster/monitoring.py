# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Debian's Prometheus, which scrapes Debian's node_exporter once for each Node; their data begin in the past.

Volcano's scheduler asks for averages over ten minutes. The samples of these minutes come from the node_exporters, which
read the simulated hosts at the past times one after the other, and Prometheus gets them as blocks. From then on it
scrapes the node_exporters itself.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .. import command
from ..cache import Cache, Recipe
from ..debian import fetch_programs
from ..errors import LabError
from ..ports import free_ports
from ..progress import Progress
from . import daemons
from .components import HOST, Component
from .simulated_host import Load, Sample, SimulatedHost, openmetrics

KIND = "monitoring"
SUITE = "bookworm"
"""The oldest release of the hosts of the lab: its programs run on newer ones too."""

PROMETHEUS, NODE_EXPORTER = "prometheus", "prometheus-node-exporter"
PROMTOOL = "promtool"
MEMBERS = {
    PROMETHEUS: ("usr/bin/prometheus", "usr/bin/promtool"),
    NODE_EXPORTER: ("usr/bin/prometheus-node-exporter",),
}
"""Debian packages and the programs of each that are used."""

SCRAPE_SECONDS, STEP_SECONDS = 5, 15
"""Seconds between two samples: of Prometheus, and of the time before it."""
EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "volcano" / "relabel_configs.yml"
INSTANCE_IS_NODE: tuple[Mapping[str, Any], ...] = tuple(yaml.safe_load(EXAMPLE.read_text())["relabel_configs"])
"""The relabel_configs that Volcano needs."""
NODE_LABEL = str(INSTANCE_IS_NODE[0]["source_labels"][0])
"""Prometheus' service discovery of Kubernetes sets this label."""
START_SECONDS = 60.0


def recipe() -> Recipe:
    """The programs of Debian's current versions in ``SUITE``."""
    return Recipe(
        KIND, "debian", (SUITE, *(f"{package}/{file}" for package, files in MEMBERS.items() for file in files))
    )


def obtain(cache: Cache) -> Path:
    """The directory with the programs, downloaded unless the cache has them."""

    def fetch(directory: Path, log: Path) -> None:
        with tempfile.TemporaryDirectory(dir=directory) as work:
            for path in fetch_programs(MEMBERS, SUITE, Path(work), log):
                path.rename(directory / path.name)

    return cache.obtain(recipe(), fetch, Progress(KIND))


@dataclass(frozen=True)
class Target:
    """A node_exporter: the load of its host, since how many seconds it is scraped, and its relabel_configs.

    ``node``: the name of its Node, if that is not the name of the target. ``ended``: seconds since the last sample, if
    it is not scraped any more.
    """

    load: Load
    age: float = 1200.0
    relabel: tuple[Mapping[str, Any], ...] = INSTANCE_IS_NODE
    node: str = ""
    ended: float = 0.0


class Monitoring:
    """One Prometheus. Its processes have the mark ``uuid``, and its files are below ``directory``."""

    def __init__(self, programs: Path, directory: Path, uuid: str, host: str = HOST) -> None:
        self.programs, self.uuid, self.host = programs, uuid, host
        self.directory = directory / KIND
        (self.port,) = free_ports(1)
        self._hosts: dict[str, SimulatedHost] = {}
        self._over = threading.Event()
        self._clock: threading.Thread | None = None

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def versions(self) -> dict[str, str]:
        """The version of each program, as it reports it."""
        first = {name: command.output([str(self.programs / name), "--version"]) for name in (PROMETHEUS, NODE_EXPORTER)}
        return {name: text.split("version ")[1].split()[0] for name, text in first.items()}

    def set(self, targets: Mapping[str, Target], *, log_queries: bool = False) -> None:
        """Start Prometheus with these targets, by the names of their Nodes, and with no other data."""
        self.stop()
        shutil.rmtree(self.directory / "data", ignore_errors=True)
        self.directory.mkdir(exist_ok=True)
        self._start_hosts(targets)
        samples = [sample for name, target in targets.items() for sample in self._history(name, target)]
        if samples:
            self._write_blocks(samples)
        general = {"query_log_file": str(self._query_log)} if log_queries else {}
        self._query_log.unlink(missing_ok=True)
        configuration = {"global": general, "scrape_configs": self._scrape_configs(targets)}
        (self.directory / "prometheus.yml").write_text(yaml.safe_dump(configuration))
        self._start_prometheus()
        self._over.clear()
        self._clock = threading.Thread(target=self._run_hosts, daemon=True)
        self._clock.start()

    def stop(self) -> None:
        """End Prometheus and the node_exporters; does nothing unless they run."""
        self._over.set()
        if self._clock:
            self._clock.join()
        for name in (PROMETHEUS, *(host.program for host in self._hosts.values())):
            daemons.end(self.uuid, name)
        self._hosts = {}

    def get(self, path: str) -> str:
        """What Prometheus answers to a request."""
        url = f"http://{self.host}:{self.port}{path}"
        with urllib.request.urlopen(url, timeout=60) as response:
            return str(response.read().decode())

    def answered_queries(self) -> int:
        """How many instant queries Prometheus has answered since its start."""
        name = 'prometheus_http_requests_total{code="200",handler="/api/v1/query"} '
        lines = [line for line in self.get("/metrics").splitlines() if line.startswith(name)]
        return sum(int(line.removeprefix(name)) for line in lines)

    def logged_queries(self) -> list[str]:
        """The queries since the start, if they are logged."""
        return [str(json.loads(line)["params"]["query"]) for line in self._query_log.read_text().splitlines()]

    @property
    def _query_log(self) -> Path:
        return self.directory / "queries.log"

    def _start_hosts(self, targets: Mapping[str, Target]) -> None:
        program = self.programs / NODE_EXPORTER
        ports = free_ports(len(targets))
        for (name, target), port in zip(targets.items(), ports, strict=True):
            host = SimulatedHost(name, target.load, self.directory / "hosts" / name, port)
            self._hosts[name] = host
            component = host.component(program)
            daemons.start(component, self.uuid, host.directory, self.directory / f"{component.name}.log")
        for host in self._hosts.values():
            _wait(f"{host.address}/metrics", self.directory)

    def _history(self, name: str, target: Target) -> Iterable[Sample]:
        """The samples that Prometheus would have if it had scraped the target for its age."""
        host, now = self._hosts[name], time.time() - target.ended
        steps = int((target.age - target.ended) // STEP_SECONDS)
        instance = target.node or name if target.relabel == INSTANCE_IS_NODE else host.address
        for number in range(steps, 0, -1):
            host.advance_to(now - number * STEP_SECONDS)
            yield from host.samples({"instance": instance, "job": name})

    def _write_blocks(self, samples: Iterable[Sample]) -> None:
        history = self.directory / "history.txt"
        history.write_text(openmetrics(samples))
        argv = [str(self.programs / PROMTOOL), "tsdb", "create-blocks-from", "openmetrics", str(history)]
        command.logged([*argv, str(self.directory / "data")], self.directory / "promtool.log")

    def _scrape_configs(self, targets: Mapping[str, Target]) -> list[dict[str, Any]]:
        return [
            {
                "job_name": name,
                "scrape_interval": f"{SCRAPE_SECONDS}s",
                "scrape_timeout": f"{SCRAPE_SECONDS}s",
                "static_configs": [
                    {"targets": [self._hosts[name].address], "labels": {NODE_LABEL: target.node or name}}
                ],
                "relabel_configs": [dict(relabel) for relabel in target.relabel],
            }
            for name, target in targets.items()
            if not target.ended
        ]

    def _start_prometheus(self) -> None:
        options = {
            "config.file": self.directory / "prometheus.yml",
            "storage.tsdb.path": self.directory / "data",
            "web.listen-address": f"{self.host}:{self.port}",
        }
        argv = (str(self.programs / PROMETHEUS), *(f"--{name}={value}" for name, value in options.items()))
        component = Component(PROMETHEUS, argv, self.port)
        daemons.start(component, self.uuid, self.directory, self.directory / f"{PROMETHEUS}.log")
        _wait(f"{self.host}:{self.port}/-/ready", self.directory)

    def _run_hosts(self) -> None:
        """The simulated hosts use their CPUs in the time that passes."""
        while not self._over.wait(1):
            for host in self._hosts.values():
                host.advance_to(time.time())


def _wait(page: str, directory: Path) -> None:
    """Wait until a server answers; LabError after ``START_SECONDS``."""
    url = f"http://{page}"
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with suppress(OSError), urllib.request.urlopen(url, timeout=60):
            return
        time.sleep(0.05)
    raise LabError(f"{url} does not answer after {START_SECONDS:.0f} s; the logs are in {directory}")
