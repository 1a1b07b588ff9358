# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""make demo: assess a misaligned throwaway node, provision it, verify it, and show the kernel's view of its pods."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIRECTORY = Path(__file__).resolve().parent
REPORTS = ROOT / ".cache" / "demo"
NODE = "demo"
MISALIGNED = ("--suite", "trixie", "--cgroup", "v2", "--driver-kubelet", "systemd", "--driver-runtime", "cgroupfs")
INSTALL = "ansible_collections.volcano.colocation.tests.run.install"

INTRODUCTION = """\
This demo builds a Debian 13 node image and a kubelet (cached for later), boots a virtual machine from it and aligns it.
The node begins as many do: kubelet uses the systemd driver, containerd uses cgroupfs, NRI is off, the CPU manager is
none. Nothing outside this directory, ~/.cache and ~/.local/state is written.
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

    def run(self, argv: Sequence[str], command_line: str | None = None) -> None:
        print(f"$ {command_line or shlex.join(argv)}", flush=True)
        if subprocess.run(argv, env=environment(), cwd=REPORTS, check=False).returncode:
            raise StepFailed(shlex.join(argv))


def environment() -> dict[str, str]:
    """The demo's own collections and Ansible settings, without the user's Ansible configuration."""
    return {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".cache" / "collections"),
        "ANSIBLE_HOME": str(ROOT / ".cache" / "ansible"),
        "ANSIBLE_NOCOWS": "1",
        "ANSIBLE_PIPELINING": "true",
        "PYTHONPATH": str(ROOT / ".cache" / "dev"),
    }


def lab(*arguments: str) -> list[str]:
    return [sys.executable, str(ROOT / "tests" / "lab"), *arguments]


def playbook(inventory: str, name: str, *arguments: str) -> list[str]:
    program = str(Path(sys.executable).with_name("ansible-playbook"))
    return [program, "-i", inventory, "-e", f"@{DIRECTORY / 'profile.yml'}", *arguments, f"volcano.colocation.{name}"]


def render_command(name: str, *arguments: str) -> str:
    words = ["ansible-playbook -i INVENTORY -e @tests/demo/profile.yml", *arguments, f"volcano.colocation.{name}"]
    return " ".join(words)


def write_inventory(node: str) -> str:
    listed = subprocess.run(lab("inventory", node), check=True, stdout=subprocess.PIPE, text=True)
    return listed.stdout.strip()


def render_closing(inventory: str) -> str:
    return f"""
The node is aligned, and it stays up:
  a shell on it        python3 tests/lab ssh {NODE}
  its inventory        {inventory}
  its JSON report      {REPORTS / "colocation-reports" / (NODE + ".json")}
  stop and remove it   python3 tests/lab down {NODE}

The same on your own nodes:
  ansible-galaxy collection install {ROOT / ".cache" / "dist"}/volcano-colocation-*.tar.gz
  ansible-playbook -i your-inventory volcano.colocation.assess        # changes nothing
  ansible-playbook -i your-inventory -e @your-profile.yml --check --diff volcano.colocation.provision
  ansible-playbook -i your-inventory -e @your-profile.yml volcano.colocation.provision
{(DIRECTORY / "profile.yml").relative_to(ROOT)} is a profile to begin with."""


def main() -> int:
    REPORTS.mkdir(parents=True, exist_ok=True)
    print(INTRODUCTION, flush=True)
    demo = Demo(steps=8)
    demo.announce("Build the collection and install it")
    demo.run([sys.executable, "-m", INSTALL], "ansible-galaxy collection build, install")
    demo.announce("Build the node's image and a kubelet, unless cached")
    demo.run(lab("build", "--suite", "trixie", "--no-kernel"), "python3 tests/lab build --suite trixie --no-kernel")
    demo.announce("Boot the misaligned node and wait for its pods")
    demo.run(lab("down", NODE), f"python3 tests/lab down {NODE}")
    demo.run(lab("up", NODE, *MISALIGNED), shlex.join(["python3", "tests/lab", "up", NODE, *MISALIGNED]))
    inventory = write_inventory(NODE)
    demo.announce("Assess: show the state of the node")
    demo.run(playbook(inventory, "assess"), render_command("assess"))
    demo.announce("Provision: align the node in one transaction, or roll it back")
    demo.run(playbook(inventory, "provision", "--diff"), render_command("provision", "--diff"))
    demo.announce("Provision again: no changes")
    demo.run(playbook(inventory, "provision"), render_command("provision"))
    demo.announce("Verify: fails on drift")
    demo.run(playbook(inventory, "verify"), render_command("verify"))
    demo.announce("Show the kernel's view of the running pods")
    proof = (DIRECTORY / "proof.py").read_text(encoding="utf-8")
    demo.run(lab("ssh", NODE, "--", "python3", "-c", shlex.quote(proof)), "(on the node) python3 tests/demo/proof.py")
    print(render_closing(inventory))
    print(f"\nThe demo took {(time.monotonic() - demo.began) / 60:.1f} minutes.")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except StepFailed as failure:
        print(f"\nThe demo stopped: {failure} failed; its output is above.", file=sys.stderr)
        print(f"The node's log: python3 tests/lab journal {NODE}", file=sys.stderr)
        sys.exit(1)
