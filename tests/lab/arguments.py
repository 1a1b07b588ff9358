# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of the lab's command line."""

from __future__ import annotations

import argparse

from .readiness import Wait
from .spec import DEBIAN_KUBELET, CgroupMode, CpuManager, Driver, NodeSpec, Nri, Suite


def parser() -> argparse.ArgumentParser:
    """Parsed arguments have the command's name in ``command``."""
    top = argparse.ArgumentParser(prog="lab", description="Real, throwaway Kubernetes nodes: QEMU virtual machines.")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)

    commands.add_parser("requirements", help="print the Debian packages that are missing; exit status 1 if any is")

    build = commands.add_parser("build", help="build images and kubelet into the cache")
    build.add_argument("--suite", type=Suite, action="append", help="bookworm or trixie; both when not given")
    _kubelet(build)

    up = commands.add_parser("up", help="start a node and wait until its pods run")
    _specification(up)
    _wait(up)

    for name, text in (
        ("reboot", "restart a node in order"),
        ("reset", "restart a node as a power cut does"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("name")
        _wait(command)

    listing = commands.add_parser("list", help="show the nodes")
    listing.add_argument("--json", action="store_true", help="print facts as JSON")

    ssh = commands.add_parser("ssh", help="a shell or a command on a node")
    ssh.add_argument("name")
    ssh.add_argument("remote", nargs=argparse.REMAINDER, metavar="-- COMMAND")

    inventory = commands.add_parser("inventory", help="write an Ansible inventory and print its path")
    inventory.add_argument("names", nargs="*", metavar="NAME", help="nodes; all when none is given")

    journal = commands.add_parser("journal", help="what a node's services logged, or its console when ssh is dead")
    journal.add_argument("name")
    journal.add_argument("--lines", type=int, default=200)

    console = commands.add_parser(
        "console", help="a terminal on a node's serial port; its log where there is no terminal"
    )
    console.add_argument("name")

    down = commands.add_parser("down", help="stop and remove nodes; those that are not there are down already")
    which = down.add_mutually_exclusive_group(required=True)
    which.add_argument("names", nargs="*", default=[], metavar="NAME")
    which.add_argument("--all", action="store_true")
    return top


def specification(arguments: argparse.Namespace) -> NodeSpec:
    """The node that ``up`` was asked for."""
    return NodeSpec(
        name=arguments.name,
        suite=arguments.suite,
        cgroup=arguments.cgroup,
        kubelet_driver=arguments.driver_kubelet,
        runtime_driver=arguments.driver_runtime,
        nri=arguments.nri,
        cpu_manager=arguments.cpu_manager,
        cpus=arguments.cpus,
        memory=arguments.memory,
        numa=arguments.numa,
        kubelet=arguments.kubelet,
        kernel_args=tuple(arguments.kernel_arg),
    )


def _specification(command: argparse.ArgumentParser) -> None:
    command.add_argument("name")
    command.add_argument(
        "--suite", type=Suite, required=True, help="bookworm (containerd 1.6) or trixie (containerd 1.7)"
    )
    command.add_argument("--cgroup", type=CgroupMode, required=True, help="v1 or v2")
    command.add_argument("--driver-kubelet", type=Driver, required=True, help="systemd or cgroupfs")
    command.add_argument("--driver-runtime", type=Driver, required=True, help="systemd or cgroupfs")
    command.add_argument("--nri", type=Nri, default=Nri.OFF, help="on or off (default)")
    command.add_argument("--cpu-manager", type=CpuManager, default=CpuManager.NONE, help="none (default) or static")
    command.add_argument("--cpus", type=int, default=2)
    command.add_argument("--memory", type=int, default=2048, help="MiB")
    command.add_argument("--numa", type=int, default=1, help="NUMA nodes")
    command.add_argument("--kernel-arg", action="append", default=[], help="one more kernel parameter; may be repeated")
    _kubelet(command)


def _kubelet(command: argparse.ArgumentParser) -> None:
    text = "a binary, or a version of Debian's source package"
    command.add_argument("--kubelet", default=DEBIAN_KUBELET, metavar="PATH|VERSION", help=text)


def _wait(command: argparse.ArgumentParser) -> None:
    command.add_argument("--wait", type=Wait, default=Wait.PODS, help="none, ssh or pods (default)")
    command.add_argument("--json", action="store_true", help="print the node's facts as one line of JSON")
