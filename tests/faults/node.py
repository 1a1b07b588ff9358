# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node of a row: started by the lab, stopped at a moment, recorded and deleted."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..lab import ssh
from ..lab.silence import NodeSilent, Silence
from ..system.node import ROOT, Node, Run, lab
from .judge import is_stable
from .picture import Picture, parse_picture
from .places import GUEST, LOGS

LAB = ROOT / "tests" / "lab"
PATH = "export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; "
MOMENT_TIMEOUT = 900.0
"""Seconds to wait for a moment; a step of an emulated node takes up to a minute."""

STABLE_TIMEOUT = 600.0
PAUSE = 5.0
PROFILE: dict[str, Any] = {"colocation_nri_unsupported": "skip"}
"""Added to the profile of the system tests: containerd 1.6 has no NRI."""


class NotInjected(Exception):
    """The fault was not caused; this says nothing about the collection."""


@dataclass(frozen=True)
class StoppedEngine:
    """The stopped engine: transaction, process, and the step and state in its journal."""

    id: str
    pid: int
    step: str
    state: str
    hit: bool


@dataclass(frozen=True)
class FaultNode:
    """One lab node. An error of ssh is an AssertionError, as in the system tests; NodeSilent ends a wait."""

    node: Node
    silence: Silence

    @classmethod
    def boot(cls, name: str, spec: tuple[str, ...], directory: Path) -> FaultNode:
        """Start a node whose pods run; NotInjected if the lab fails."""
        try:
            lab("down", name)
            lab("up", name, *spec)
            inventory = Path(lab("inventory", name).strip())
            return cls(Node(name, str(inventory), directory), Silence(partial(ssh.answers, _port(inventory, name))))
        except subprocess.CalledProcessError as error:
            raise NotInjected(f"the lab did not start the node: {error}") from error

    def shell(self, command: str) -> str:
        return self.node.shell(PATH + command) if command else ""

    def provision(self, name: str, timeout: int | None = None) -> Run:
        """Run the playbook; its output is logged under that name."""
        variables = {**PROFILE, **({} if timeout is None else {"colocation_health_timeout": timeout})}
        run = self.node.ansible("provision", look=self.silence.look, **variables)
        LOGS.mkdir(parents=True, exist_ok=True)
        (LOGS / f"{name}.log").write_text(run.output, encoding="utf-8")
        return run

    def picture(self) -> Picture:
        return parse_picture(self._program("picture.py"))

    def stable_picture(self, before: Picture, timeout: float = STABLE_TIMEOUT) -> Picture:
        """Return a picture once the node is stable, or the last one at the time limit."""
        deadline = time.monotonic() + timeout
        picture: Picture | None = None
        while True:
            try:
                picture = self.picture()
            except AssertionError:
                # The node boots, or its port is closed.
                self.silence.look()
                if picture is None and time.monotonic() > deadline:
                    raise
            if time.monotonic() > deadline or (picture is not None and is_stable(before, picture)):
                assert picture is not None
                return picture
            time.sleep(PAUSE)

    def hold(self, moment: str, is_over: Callable[[], bool]) -> StoppedEngine:
        """Stop the engine at a moment; NotInjected if the run ends without it, or the moment has passed."""
        argv = [
            sys.executable,
            str(LAB),
            "ssh",
            self.node.name,
            "--",
            self._command("hold.py", moment, str(MOMENT_TIMEOUT)),
        ]
        with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as watch:
            try:
                while watch.poll() is None and not is_over():
                    time.sleep(0.05)
            finally:
                watch.kill()
            output = watch.stdout.read() if watch.stdout else ""
        if not output.strip():
            raise NotInjected(f"the run ended, or {MOMENT_TIMEOUT:.0f} s passed, before the moment {moment!r}")
        engine = StoppedEngine(**json.loads(output))
        if not engine.hit:
            raise NotInjected(f"the engine was at {engine.step!r} ({engine.state}) when it was stopped for {moment!r}")
        return engine

    def reset(self) -> None:
        self._restart("reset")

    def reboot(self) -> None:
        self._restart("reboot")

    def down(self) -> None:
        lab("down", self.node.name)

    def _restart(self, verb: str) -> None:
        """Restart the node; NodeSilent if it does not come back within the lab's time limit."""
        try:
            lab(verb, self.node.name, "--wait", "ssh")
        except subprocess.CalledProcessError as error:
            if self.silence.answers():
                raise
            raise NodeSilent(f"the node does not respond: it did not come back ({verb})") from error

    def _program(self, name: str) -> str:
        return self.shell(self._command(name))

    def _command(self, name: str, *arguments: str) -> str:
        """Return a command that runs a guest program on the node without a copy there."""
        return shlex.join(["python3", "-c", (GUEST / name).read_text(encoding="utf-8"), *arguments])


def _port(inventory: Path, name: str) -> int:
    """Return the node's ssh port from the lab's inventory."""
    hosts = json.loads(inventory.read_text(encoding="utf-8"))["all"]["children"]["lab"]["hosts"]
    return int(hosts[name]["ansible_port"])
