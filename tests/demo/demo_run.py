# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""make demo: run docs/tutorial.md on a misaligned throwaway node, and show the kernel's view of its pods.

The output of each command is compared with its screen on the page. ``--record`` writes the screens into the pages.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from ansible_collections.volcano.colocation.tests.demo import tutorial
from ansible_collections.volcano.colocation.tests.demo.tutorial import CommandStep, FileStep, WrongScreen

ROOT = tutorial.ROOT
DIRECTORY = Path(__file__).resolve().parent
WORK = ROOT / ".cache" / "demo"
NODE, HOST = "demo", "node1"
"""The node's name in the lab, and in the tutorial."""
MISALIGNED = ("--suite", "trixie", "--cgroup", "v2", "--driver-kubelet", "systemd", "--driver-runtime", "cgroupfs")
INSTALL = "ansible_collections.volcano.colocation.tests.run.install"

INTRODUCTION = """\
This demo builds a Debian 13 node image and a kubelet (cached for later), boots a virtual machine from it and follows
docs/tutorial.md on it. The node begins as many do: kubelet uses the systemd driver, containerd uses cgroupfs, NRI is
off, the CPU manager is none. Nothing outside this directory, ~/.cache and ~/.local/state is written.
With empty caches it takes about 5 minutes."""


class StepFailed(Exception):
    """A command of a step failed and has printed the reason."""


class Demo:
    """The steps, numbered and timed."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.step = 0
        self.began = time.monotonic()

    def announce(self, title: str) -> None:
        self.step += 1
        passed = time.monotonic() - self.began
        print(f"\n=== {self.step}/{self.steps} {title} [{passed:.0f} s so far]", flush=True)

    def run(self, argv: Sequence[str], command_line: str | None = None) -> str:
        """Run a command, print its output as it comes, and return it."""
        print(f"$ {command_line or shlex.join(argv)}", flush=True)
        lines = []
        with subprocess.Popen(
            argv, env=environment(), cwd=WORK, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            for line in process.stdout or ():
                print(line, end="", flush=True)
                lines.append(line)
        if process.returncode:
            raise StepFailed(shlex.join(argv))
        return "".join(lines)


def environment() -> dict[str, str]:
    """The demo's own collections, programs and Ansible settings, without the user's Ansible configuration."""
    return {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".cache" / "collections"),
        "ANSIBLE_HOME": str(ROOT / ".cache" / "ansible"),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_NOCOWS": "1",
        "ANSIBLE_PIPELINING": "true",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / ".cache" / "dev"),
    }


def lab(*arguments: str) -> list[str]:
    return [sys.executable, str(ROOT / "tests" / "lab"), *arguments]


def connection(node: str) -> Mapping[str, object]:
    """The variables with which Ansible reaches the node of the lab."""
    listed = subprocess.run(lab("inventory", node), check=True, stdout=subprocess.PIPE, text=True)
    inventory = json.loads(Path(listed.stdout.strip()).read_text(encoding="utf-8"))
    variables = inventory["all"]["children"]["lab"]["hosts"][node]
    return {name: value for name, value in variables.items() if name.startswith("ansible_")}


def write_file(path: str, content: str) -> None:
    target = WORK / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(content, encoding="utf-8")


def follow_tutorial(demo: Demo) -> dict[int, str]:
    """Run the steps of the page; the output of each command by its number."""
    outputs: dict[int, str] = {}
    # Variables of a host override those in the inventory's file: the page's address is not that of the lab's node.
    write_file(f"host_vars/{HOST}.yml", json.dumps(connection(NODE)))
    for step in tutorial.steps(tutorial.TUTORIAL.read_text(encoding="utf-8")):
        if isinstance(step, FileStep):
            write_file(step.path, step.content)
        else:
            demo.announce(step.title)
            outputs[len(outputs) + 1] = demo.run(shlex.split(step.command), step.command)
    return outputs


def compare_screens(outputs: Mapping[int, str], record: bool) -> None:
    """Compare the screens of the pages with the output, or write them."""
    for path in tutorial.PAGES:
        page = path.read_text(encoding="utf-8")
        if record:
            path.write_text(tutorial.record(page, outputs), encoding="utf-8")
        else:
            tutorial.check(str(path.relative_to(ROOT)), page, outputs)


def render_closing() -> str:
    return f"""
The node is aligned, and it stays up:
  a shell on it        python3 tests/lab ssh {NODE}
  its inventory        {WORK / "inventory.yml"}
  its JSON report      {WORK / "colocation-reports" / (HOST + ".json")}
  stop and remove it   python3 tests/lab down {NODE}

The same on your own nodes:
  ansible-galaxy collection install {ROOT / ".cache" / "dist"}/volcano-colocation-*.tar.gz
and docs/tutorial.md with your own inventory."""


def run_demo(record: bool) -> None:
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    print(INTRODUCTION, flush=True)
    commands = [step for step in tutorial.steps(tutorial.TUTORIAL.read_text("utf-8")) if isinstance(step, CommandStep)]
    demo = Demo(steps=4 + len(commands))
    demo.announce("Build the collection and install it")
    demo.run([sys.executable, "-m", INSTALL], "ansible-galaxy collection build, install")
    demo.announce("Build the node's image and a kubelet, unless cached")
    demo.run(lab("build", "--suite", "trixie", "--no-kernel"), "python3 tests/lab build --suite trixie --no-kernel")
    demo.announce("Boot the misaligned node and wait for its pods")
    demo.run(lab("down", NODE), f"python3 tests/lab down {NODE}")
    demo.run(lab("up", NODE, *MISALIGNED), shlex.join(["python3", "tests/lab", "up", NODE, *MISALIGNED]))
    outputs = follow_tutorial(demo)
    compare_screens(outputs, record)
    demo.announce("Show the kernel's view of the running pods")
    proof = (DIRECTORY / "proof.py").read_text(encoding="utf-8")
    demo.run(lab("ssh", NODE, "--", "python3", "-c", shlex.quote(proof)), "(on the node) python3 tests/demo/proof.py")
    print(render_closing())
    print(f"\nThe demo took {(time.monotonic() - demo.began) / 60:.1f} minutes.")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests/demo", description=__doc__)
    parser.add_argument("--record", action="store_true", help="write the screens of docs/tutorial.md and README.md")
    options = parser.parse_args(arguments)
    try:
        run_demo(options.record)
    except StepFailed as failure:
        print(f"\nThe demo stopped: {failure} failed; its output is above.", file=sys.stderr)
        print(f"The node's log: python3 tests/lab journal {NODE}", file=sys.stderr)
        return 1
    except WrongScreen as wrong:
        print(f"\n{wrong}", file=sys.stderr)
        return 1
    return 0
