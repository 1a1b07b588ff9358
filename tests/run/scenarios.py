# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs Molecule scenarios: those that are named, else all that have one node. As many at a time as make two nodes.

Emulated nodes come first and one after the other, others beside them: the kubelet of an emulated node takes a fifth of
a CPU while the node does nothing, and two of them wait for each other most of the time.

The nodes of a scenario that failed are left up, for the runner to read their journals. Where a node itself went silent,
which an emulated one may do for reasons of the machine it runs on, that is shown and the scenario gets new nodes once.
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
"""Of both lanes together."""

PATIENCE = 2000.0
"""Seconds for a scenario; beside another one it takes 500 to 900 on two CPUs, and 1400 were seen on a busy machine."""

TRIES = 2
"""How often a scenario may begin."""

TAIL = 60

Silence = Callable[[str], str]
"""What a node that went silent is at; '' for one that answers."""


@dataclass(frozen=True)
class Result:
    """How a scenario went. ``tail``: the end of its output if it failed; ``lost``: runs in which a node went silent."""

    name: str
    passed: bool
    seconds: float
    tail: str
    lost: int = 0


def main(arguments: Sequence[str]) -> int:
    """The name of the stage, then those of scenarios."""
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
    lost = " (a node went silent before; see above)" if result.lost else ""
    return f"{result.name}: {'passed' if result.passed else 'FAILED'} in {result.seconds:.0f} s{lost}"


def scenarios(checkout: Path) -> dict[str, list[str]]:
    """The nodes of each scenario, by its name."""
    return {path.parent.name: _nodes(path) for path in sorted((checkout / "molecule").glob("*/molecule.yml"))}


def _nodes(scenario: Path) -> list[str]:
    return [each["name"] for each in _platforms(scenario)]


def lanes(checkout: Path, names: Iterable[str]) -> list[list[str]]:
    """What runs one after the other, and beside the other lane: emulated nodes, and the others.

    A scenario with several nodes runs alone: all of them are one lane then.
    """
    scenarios = {name: _platforms(checkout / "molecule" / name / "molecule.yml") for name in names}
    emulated = [name for name, nodes in scenarios.items() if any("qemu" in node["lab"] for node in nodes)]
    others = [name for name in scenarios if name not in emulated]
    if any(len(nodes) >= NODES_AT_A_TIME for nodes in scenarios.values()):
        return [emulated + others]
    if not emulated:
        return [others[0::NODES_AT_A_TIME], others[1::NODES_AT_A_TIME]]
    return [emulated, others]


def run_lanes(run: Callable[[str], Result], lanes: Sequence[Sequence[str]]) -> list[Result]:
    with ThreadPoolExecutor(len(lanes)) as pool:
        return [result for lane in pool.map(lambda names: [run(name) for name in names], lanes) for result in lane]


def _platforms(scenario: Path) -> list[dict[str, Any]]:
    platforms: list[dict[str, Any]] = yaml.safe_load(scenario.read_text(encoding="utf-8"))["platforms"]
    return platforms


def run_scenario(checkout: Path, environment: Mapping[str, str], silence: Silence, name: str) -> Result:
    """The whole sequence of a scenario, once more when a node went silent; its nodes go only when it passed."""
    began = time.monotonic()
    nodes = scenarios(checkout)[name]
    for lost in range(TRIES):
        tail: deque[str] = deque(maxlen=TAIL)
        passed = _sequence(name, checkout, environment, tail)
        said = "" if passed or lost == TRIES - 1 else "\n".join(filter(None, map(silence, nodes)))
        if not said:
            break
        print(f"{name}: a node went silent; once more with new ones. What it was at:\n{said}", flush=True)
    return Result(name, passed, time.monotonic() - began, "\n".join(tail), lost)


def _sequence(name: str, checkout: Path, environment: Mapping[str, str], tail: deque[str]) -> bool:
    folder = checkout / ".cache" / "molecule" / name
    own = {**environment, "MOLECULE_EPHEMERAL_DIRECTORY": str(folder)}
    # "--destroy never" leaves out the first destroy as well, and "create" then takes the node of an earlier failure.
    earlier = (("destroy",),) if folder.exists() else ()
    commands = (*earlier, ("test", "--destroy", "never"), ("destroy",))
    passed = all(_molecule(command, name, checkout, own, tail) for command in commands)
    if passed:
        shutil.rmtree(folder, ignore_errors=True)
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
        # A group of its own, so that the watch ends all of it; the session stays the stage's.
        preexec_fn=os.setpgrp,
    ) as process:
        assert process.stdout is not None
        watch = threading.Timer(PATIENCE, os.killpg, (process.pid, signal.SIGKILL))
        watch.start()
        for line in process.stdout:
            tail.append(line.rstrip())
            print(f"{name}: {line.rstrip()}", flush=True)
        watch.cancel()
    return process.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
