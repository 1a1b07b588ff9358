# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node of a row: fresh from the lab, held at a moment, looked at, and thrown away."""

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
from .judge import settled
from .picture import Picture, parse_picture
from .places import GUEST, LOGS

LAB = ROOT / "tests" / "lab"
PATH = "export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; "
PATIENCE = 900.0
"""Seconds until a moment comes; a step of an emulated node takes up to a minute."""

SETTLES = 600.0
PAUSE = 5.0
PROFILE: dict[str, Any] = {"colocation_nri_unsupported": "skip"}
"""What is wished beside the profile of the system tests: containerd 1.6 has no NRI."""


class NotInjected(Exception):
    """The fault was not made: that says nothing about the collection."""


@dataclass(frozen=True)
class Held:
    """The engine as it was held: transaction, process, and the step and state its journal said then."""

    id: str
    pid: int
    step: str
    state: str
    hit: bool


@dataclass(frozen=True)
class FaultNode:
    """One lab node. Whatever ssh fails with is an AssertionError, as in the system tests; NodeSilent ends a wait."""

    node: Node
    silence: Silence

    @classmethod
    def boot(cls, name: str, spec: tuple[str, ...], folder: Path) -> FaultNode:
        """A new node whose pods run; NotInjected when the lab cannot."""
        try:
            lab("down", name)
            lab("up", name, *spec)
            inventory = Path(lab("inventory", name).strip())
            return cls(Node(name, str(inventory), folder), Silence(partial(ssh.answers, _port(inventory, name))))
        except subprocess.CalledProcessError as error:
            raise NotInjected(f"the lab gave no node: {error}") from error

    def shell(self, command: str) -> str:
        return self.node.shell(PATH + command) if command else ""

    def provision(self, name: str, timeout: int | None = None) -> Run:
        """Run the playbook; what it says is kept under that name."""
        wished = {**PROFILE, **({} if timeout is None else {"colocation_health_timeout": timeout})}
        run = self.node.ansible("provision", look=self.silence.look, **wished)
        LOGS.mkdir(parents=True, exist_ok=True)
        (LOGS / f"{name}.log").write_text(run.output, encoding="utf-8")
        return run

    def picture(self) -> Picture:
        return parse_picture(self._program("picture.py"))

    def settled_picture(self, before: Picture, patience: float = SETTLES) -> Picture:
        """A picture once nothing is at work and the pods run; the last one, when that does not come."""
        deadline = time.monotonic() + patience
        found: Picture | None = None
        while True:
            try:
                found = self.picture()
            except AssertionError:
                # It boots, or its port is closed.
                self.silence.look()
                if found is None and time.monotonic() > deadline:
                    raise
            if time.monotonic() > deadline or (found is not None and settled(before, found)):
                assert found is not None
                return found
            time.sleep(PAUSE)

    def hold(self, moment: str, is_over: Callable[[], bool]) -> Held:
        """Hold the engine at a moment; NotInjected when the run is over without it, or the moment is past."""
        argv = [sys.executable, str(LAB), "ssh", self.node.name, "--", self._command("hold.py", moment, str(PATIENCE))]
        with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as watch:
            try:
                while watch.poll() is None and not is_over():
                    time.sleep(0.05)
            finally:
                watch.kill()
            said = watch.stdout.read() if watch.stdout else ""
        if not said.strip():
            raise NotInjected(f"the run ended, or {PATIENCE:.0f} s passed, before the moment {moment!r}")
        held = Held(**json.loads(said))
        if not held.hit:
            raise NotInjected(f"the engine was at {held.step!r} ({held.state}) when it was held for {moment!r}")
        return held

    def reset(self) -> None:
        self._restart("reset")

    def reboot(self) -> None:
        self._restart("reboot")

    def down(self) -> None:
        lab("down", self.node.name)

    def _restart(self, verb: str) -> None:
        """NodeSilent when the node does not come back within the lab's patience."""
        try:
            lab(verb, self.node.name, "--wait", "ssh")
        except subprocess.CalledProcessError as error:
            if self.silence.answers():
                raise
            raise NodeSilent(f"the node went silent: it did not come back ({verb})") from error

    def _program(self, name: str) -> str:
        return self.shell(self._command(name))

    def _command(self, name: str, *arguments: str) -> str:
        """A program of ours, to be run on the node without being put there."""
        return shlex.join(["python3", "-c", (GUEST / name).read_text(encoding="utf-8"), *arguments])


def _port(inventory: Path, name: str) -> int:
    """Where the node's ssh is, by the lab's inventory."""
    hosts = json.loads(inventory.read_text(encoding="utf-8"))["all"]["children"]["lab"]["hosts"]
    return int(hosts[name]["ansible_port"])
