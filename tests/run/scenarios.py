# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the named Molecule scenarios, or all with one node. At most two nodes run at the same time.

Scenarios with emulated nodes run one after the other, in parallel with the others: the kubelet of an idle emulated node
takes a fifth of a CPU, and two of them wait for each other most of the time.

Nodes of a failed scenario stay up, so that the runner can read their journals. If a node stopped responding, which may
happen to an emulated one because of its machine, its state is printed and the scenario runs once more with new nodes.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from .nodes import Lab
from .places import CHECKOUT, stage_environment
from .watch import Watch

NODES_AT_A_TIME = 2
"""Nodes of both lanes together."""

TIMEOUT = 2000.0
"""Seconds for a scenario; in parallel it takes 500 to 900 on two CPUs, and took 1400 on a busy machine."""

ATTEMPTS = 2
"""How often a scenario may start."""

TAIL = 60

Silence = Callable[[str], str]
"""The state of a node that stopped responding; '' for one that responds."""


@dataclass(frozen=True)
class Result:
    """The result of a scenario. ``tail``: end of its output on failure; ``silent_runs``: runs with a silent node."""

    name: str
    passed: bool
    seconds: float
    tail: str
    silent_runs: int = 0


def main(arguments: Sequence[str]) -> int:
    """Run scenarios; the arguments are the name of the stage, then names of scenarios."""
    stage, *names = arguments
    nodes = scenarios(CHECKOUT)
    chosen = names or [name for name in nodes if len(nodes[name]) == 1]
    if unknown := set(chosen) - set(nodes):
        print(f"no scenario is called {', '.join(sorted(unknown))}; there are: {' '.join(nodes)}")
        return 1
    environment = stage_environment(os.environ, stage)
    with Watch(Lab(CHECKOUT, environment)) as watch:
        run = partial(run_scenario, CHECKOUT, environment, watch.silence)
        results = run_lanes(run, lanes(CHECKOUT, chosen))
    for result in results:
        if not result.passed:
            print(f"--- {result.name}\n{result.tail}")
    for result in results:
        print(summary(result))
    return 0 if all(result.passed for result in results) else 1


def summary(result: Result) -> str:
    note = " (a node went silent before; see above)" if result.silent_runs else ""
    return f"{result.name}: {'passed' if result.passed else 'FAILED'} in {result.seconds:.0f} s{note}"


def scenarios(checkout: Path) -> dict[str, list[str]]:
    """The names of the nodes of each scenario, by its name."""
    return {path.parent.name: _nodes(path) for path in sorted((checkout / "molecule").glob("*/molecule.yml"))}


def _nodes(scenario: Path) -> list[str]:
    return [platform["name"] for platform in _platforms(scenario)]


def lanes(checkout: Path, names: Iterable[str]) -> list[list[str]]:
    """The scenarios of each lane, which run one after the other; the lanes run in parallel.

    Emulated nodes have one lane. A scenario with several nodes must run alone, so then all scenarios are one lane.
    """
    scenarios = {name: _platforms(checkout / "molecule" / name / "molecule.yml") for name in names}
    emulated = [name for name, nodes in scenarios.items() if any("qemu" in node["lab"] for node in nodes)]
    quick = [name for name in scenarios if name not in emulated]
    if any(len(nodes) >= NODES_AT_A_TIME for nodes in scenarios.values()):
        return [emulated + quick]
    if not emulated:
        return [quick[0::NODES_AT_A_TIME], quick[1::NODES_AT_A_TIME]]
    return [emulated, quick]


def run_lanes(run: Callable[[str], Result], lanes: Sequence[Sequence[str]]) -> list[Result]:
    with ThreadPoolExecutor(len(lanes)) as pool:
        return [result for lane in pool.map(lambda names: [run(name) for name in names], lanes) for result in lane]


def _platforms(scenario: Path) -> list[dict[str, Any]]:
    platforms: list[dict[str, Any]] = yaml.safe_load(scenario.read_text(encoding="utf-8"))["platforms"]
    return platforms


def run_scenario(checkout: Path, environment: Mapping[str, str], silence: Silence, name: str) -> Result:
    """Run a scenario, once more if a node went silent; its nodes are destroyed only if it passed."""
    began = time.monotonic()
    nodes = scenarios(checkout)[name]
    for attempt in range(ATTEMPTS):
        tail: deque[str] = deque(maxlen=TAIL)
        passed = _sequence(name, checkout, environment, tail)
        silent_nodes = "" if passed or attempt == ATTEMPTS - 1 else "\n".join(filter(None, map(silence, nodes)))
        if not silent_nodes:
            break
        print(
            f"{name}: a node went silent; running it once more with new nodes. State of the node:\n{silent_nodes}",
            flush=True,
        )
    return Result(name, passed, time.monotonic() - began, "\n".join(tail), attempt)


def _sequence(name: str, checkout: Path, environment: Mapping[str, str], tail: deque[str]) -> bool:
    directory = checkout / ".cache" / "molecule" / name
    own = {**environment, "MOLECULE_EPHEMERAL_DIRECTORY": str(directory)}
    # "--destroy never" also skips the first destroy, and "create" would then use the node of an earlier failure.
    earlier = (("destroy",),) if directory.exists() else ()
    commands = (*earlier, ("test", "--destroy", "never"), ("destroy",))
    passed = all(_molecule(command, name, checkout, own, tail) for command in commands)
    if passed:
        shutil.rmtree(directory, ignore_errors=True)
    return passed


def _molecule(
    command: tuple[str, ...], name: str, checkout: Path, environment: dict[str, str], tail: deque[str]
) -> bool:
    subcommand, *options = command
    with subprocess.Popen(
        ["molecule", subcommand, "--scenario-name", name, *options],
        cwd=checkout,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        # A separate process group, so that the timer ends all of it; the session remains the stage's.
        preexec_fn=os.setpgrp,
    ) as process:
        assert process.stdout is not None
        watch = threading.Timer(TIMEOUT, os.killpg, (process.pid, signal.SIGKILL))
        watch.start()
        for line in process.stdout:
            tail.append(line.rstrip())
            print(f"{name}: {line.rstrip()}", flush=True)
        watch.cancel()
    return process.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
