# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The verdict of kubelet's own functions on a configuration, for one release."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .process import JudgeProcess

FILES = "{files}"
"""Stands for the directory of a request's files, in flags and in messages."""
MAIN_FILE = "config.yaml"
DROPIN_DIRECTORY = "kubelet.conf.d"


@dataclass(frozen=True)
class Case:
    """A kubelet configuration: its main file, its drop-ins by name, and flags. Texts are as in a snapshot."""

    name: str
    main: str | None = ""
    dropins: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()
    cgroup_v1: bool = False


@dataclass(frozen=True)
class Verdict:
    """``error`` is None where kubelet starts; then ``config`` has its values in effect, as /configz returns them."""

    error: str | None
    step: str | None = None
    config: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Machine:
    """CPUs and bytes of memory, spread evenly over its NUMA nodes."""

    cpus: int
    memory: int
    numa_nodes: int = 1


class KubeletJudge:
    """kubelet of one release."""

    def __init__(self, process: JudgeProcess, version: tuple[int, int]) -> None:
        self.process = process
        self.version = version

    def load(self, cases: Sequence[Case], machine: Machine) -> list[Verdict]:
        return [_verdict(response) for response in self.process.ask_all([_request(case, machine) for case in cases])]

    def table(self, operation: str) -> Any:
        """``gates``, ``flags``, ``options``, ``types`` or ``release``."""
        return self.process.ask({"operation": operation})["table"]


def _request(case: Case, machine: Machine) -> dict[str, Any]:
    files = {} if case.main is None else {MAIN_FILE: case.main}
    files.update({f"{DROPIN_DIRECTORY}/{name}": text for name, text in case.dropins})
    places = [] if case.main is None else [f"--config={FILES}/{MAIN_FILE}"]
    places += [f"--config-dir={FILES}/{DROPIN_DIRECTORY}"] if case.dropins else []
    return {
        "operation": "load",
        "files": {name: _encoded(text) for name, text in files.items()},
        "args": [*places, *case.flags],
        "cgroup_v1": case.cgroup_v1,
        "cpus": machine.cpus,
        "memory": machine.memory,
        "numa_nodes": machine.numa_nodes,
    }


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "surrogateescape")).decode()


def _verdict(response: Mapping[str, Any]) -> Verdict:
    failure = response.get("failure")
    if failure:
        return Verdict(failure["message"], failure["step"])
    return Verdict(None, None, response["config"])
