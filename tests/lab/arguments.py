# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's command-line arguments."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import program_report
from .cluster import cli as cluster
from .readiness import Wait
from .spec import (
    DEBIAN_CONTAINERD,
    DEFAULT_KUBELET,
    CgroupMode,
    CpuManager,
    Driver,
    Engine,
    Layout,
    NodeSpec,
    Nri,
    Suite,
    default_nri,
    is_path,
)


def parser() -> argparse.ArgumentParser:
    """The argument parser; parsed arguments have the command's name in ``command``."""
    top = argparse.ArgumentParser(
        prog="lab", description="Real, throwaway Kubernetes nodes: virtual machines and user-mode Linux."
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)

    commands.add_parser("requirements", help="print the Debian packages that are missing; exit status 1 if any is")

    program_report.add_to(commands)

    build = commands.add_parser("build", help="build images, kubelet and the kernel of user-mode Linux into the cache")
    build.add_argument(
        "--suite", type=Suite, action="append", help="bookworm, trixie or forky (default: those of the tests)"
    )
    parts = build.add_mutually_exclusive_group()
    parts.add_argument(
        "--no-kernel",
        dest="kernel",
        action="store_false",
        help="do not build the kernel of user-mode Linux; nodes still use it when it is built",
    )
    parts.add_argument(
        "--systems", action="store_true", help="build only root file systems and the kernel of user-mode Linux"
    )
    _kubelet(build)

    up = commands.add_parser("up", help="start a node and wait until its pods run")
    up.add_argument("name")
    _specification(up)
    up.add_argument("--root", default="", metavar="DIRECTORY", help="boot this root file system, made by `image`")
    _wait(up)

    image = commands.add_parser("image", help="write a node's root file system into a new directory")
    image.add_argument("directory")
    _specification(image)

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
    inventory.add_argument("names", nargs="*", metavar="NAME", help="nodes (default: all)")

    journal = commands.add_parser("journal", help="show a node's journal, or its console when ssh does not answer")
    journal.add_argument("name")
    journal.add_argument("--lines", type=int, default=200)

    console = commands.add_parser(
        "console", help="open a virtual machine's serial port; without one, show the console log"
    )
    console.add_argument("name")

    cluster.add_to(commands)

    down = commands.add_parser("down", help="stop and remove nodes; nodes that do not exist count as stopped")
    which = down.add_mutually_exclusive_group(required=True)
    which.add_argument("names", nargs="*", default=[], metavar="NAME")
    which.add_argument("--all", action="store_true")
    return top


def specification(arguments: argparse.Namespace) -> NodeSpec:
    """The node specification from the arguments of ``up`` or ``image``."""
    return NodeSpec(
        name=getattr(arguments, "name", "image"),
        suite=arguments.suite,
        cgroup=arguments.cgroup,
        kubelet_driver=arguments.driver_kubelet,
        runtime_driver=arguments.driver_runtime,
        nri=arguments.nri or default_nri(arguments.suite, arguments.containerd),
        cpu_manager=arguments.cpu_manager,
        cpus=arguments.cpus,
        memory=arguments.memory,
        numa=arguments.numa,
        kubelet=_resolve(arguments.kubelet),
        kernel_args=tuple(arguments.kernel_arg),
        layout=arguments.layout,
        kubelet_flags=tuple(arguments.kubelet_flag),
        root=str(Path(arguments.root).resolve()) if getattr(arguments, "root", "") else "",
        engine=arguments.engine,
        containerd=_resolve(arguments.containerd),
    )


def _specification(command: argparse.ArgumentParser) -> None:
    suites = "bookworm (containerd 1.6), trixie (1.7) or forky (2)"
    command.add_argument("--suite", type=Suite, required=True, help=suites)
    command.add_argument("--cgroup", type=CgroupMode, required=True, help="v1, v2 or hybrid")
    command.add_argument("--driver-kubelet", type=Driver, required=True, help="systemd or cgroupfs")
    command.add_argument("--driver-runtime", type=Driver, required=True, help="systemd or cgroupfs")
    command.add_argument("--nri", type=Nri, help="on (default of containerd 2) or off (default before)")
    command.add_argument("--cpu-manager", type=CpuManager, default=CpuManager.NONE, help="none (default) or static")
    layouts = "file locations of kubelet: standalone (default), kubeadm or kubespray"
    command.add_argument("--layout", type=Layout, default=Layout.STANDALONE, help=layouts)
    flag = "an additional flag, --kubelet-flag=--name=value, for kubelet's environment file; may be repeated"
    command.add_argument("--kubelet-flag", action="append", default=[], metavar="FLAG", help=flag)
    engines = "kvm, uml (user-mode Linux), qemu (emulation) or auto (default): the first of them that works here"
    command.add_argument("--engine", type=Engine, default=Engine.AUTO, help=engines)
    command.add_argument("--cpus", type=int, default=2)
    command.add_argument("--memory", type=int, default=2048, help="MiB")
    command.add_argument("--numa", type=int, default=1, help="NUMA nodes")
    command.add_argument(
        "--kernel-arg", action="append", default=[], help="an additional kernel parameter; may be repeated"
    )
    _kubelet(command)


def _kubelet(command: argparse.ArgumentParser) -> None:
    text = f"a release (default {DEFAULT_KUBELET}), a binary, debian (1.20) or none; `programs` lists the releases"
    command.add_argument("--kubelet", default=DEFAULT_KUBELET, metavar="RELEASE|PATH|debian|none", help=text)
    text = "a release or a directory with its programs (default: the suite's); `programs` lists the releases"
    command.add_argument("--containerd", default=DEBIAN_CONTAINERD, metavar="RELEASE|DIRECTORY", help=text)


def _resolve(choice: str) -> str:
    return str(Path(choice).resolve()) if is_path(choice) else choice


def _wait(command: argparse.ArgumentParser) -> None:
    command.add_argument("--wait", type=Wait, default=Wait.PODS, help="none, ssh or pods (default)")
    command.add_argument("--json", action="store_true", help="print the node's facts as one line of JSON")
