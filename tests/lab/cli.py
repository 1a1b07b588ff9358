# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's command line."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from . import console, images, inventory, nodes, requirements, vm
from .cache import Cache
from .errors import LabError
from .image import busybox, obtain, obtain_root
from .kubernetes import obtain_kubelet, obtain_pause
from .paths import cache_root
from .spec import DEBIAN_KUBELET, CgroupMode, CpuManager, Driver, NodeSpec, Nri, Suite
from .store import Node

JOURNAL = "journalctl --no-pager --lines={lines} --unit=kubelet --unit=containerd --unit='volcano-colocation*'"


def main(argv: Sequence[str]) -> int:
    """Run one command; errors of the lab are a line on standard error and exit status 1."""
    arguments = _parser().parse_args(argv)
    try:
        status: int = arguments.command(arguments)
        return status
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _requirements(_arguments: argparse.Namespace) -> int:
    packages = requirements.missing()
    if packages:
        print(" ".join(packages))
    return 1 if packages else 0


def _build(arguments: argparse.Namespace) -> int:
    """Kubelet takes the CPUs and the images the network: they are built at the same time."""
    cache = Cache(cache_root())
    suites = arguments.suite or list(Suite)
    with ThreadPoolExecutor() as pool:
        kubelet = pool.submit(obtain_kubelet, cache, arguments.kubelet)
        pause = pool.submit(obtain_pause, cache)
        for root in [pool.submit(obtain_root, cache, suite) for suite in {*suites, Suite.BOOKWORM}]:
            root.result()
        archive = images.archive(pause.result(), busybox(cache))
        for suite in suites:
            obtain(cache, suite, suite, kubelet.result(), archive)
    return 0


def _up(arguments: argparse.Namespace) -> int:
    spec = NodeSpec(
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
    return _report(nodes.up(spec, arguments.wait), arguments)


def _reboot(arguments: argparse.Namespace) -> int:
    return _report(nodes.reboot(arguments.name, arguments.wait), arguments)


def _reset(arguments: argparse.Namespace) -> int:
    return _report(nodes.reset(arguments.name, arguments.wait), arguments)


def _report(node: Node, arguments: argparse.Namespace) -> int:
    print(json.dumps(node.facts()) if arguments.json else _line(node))
    return 0


def _list(arguments: argparse.Namespace) -> int:
    known = nodes.store()
    found = [known.load(name) for name in known.names()]
    print(json.dumps([node.facts() for node in found]) if arguments.json else "\n".join(_line(node) for node in found))
    return 0


def _line(node: Node) -> str:
    spec = node.spec
    state = f"pid {node.pid}" if node.pid else "ended"
    drivers = f"kubelet {spec.kubelet_driver.value}, containerd {spec.runtime_driver.value}"
    return f"{node.name}: {state}, {spec.suite.value}, cgroup {spec.cgroup.value}, {drivers}, ssh 127.0.0.1:{node.port}"


def _ssh(arguments: argparse.Namespace) -> int:
    remote = arguments.remote[1:] if arguments.remote[:1] == ["--"] else arguments.remote
    argv = [*nodes.running(arguments.name).connection.argv, *remote]
    os.execv(argv[0], argv)


def _inventory(arguments: argparse.Namespace) -> int:
    known = nodes.store()
    names = arguments.names or known.names()
    file = f"inventory{'-' + '+'.join(names) if arguments.names else ''}.yml"
    print(inventory.write([nodes.running(name) for name in names], known.root / file))
    return 0


def _journal(arguments: argparse.Namespace) -> int:
    node = nodes.store().load(arguments.name)
    try:
        print(node.connection.run(JOURNAL.format(lines=arguments.lines), timeout=90), end="")
    except LabError as error:
        print(f"lab: {error}; its serial console instead:", file=sys.stderr)
        print(nodes.tail(node.folder / vm.SERIAL_LOG, arguments.lines), end="")
    return 0


def _down(arguments: argparse.Namespace) -> int:
    if bool(arguments.names) == arguments.all:
        raise LabError("down takes names of nodes, or --all")
    known = nodes.store().names()
    for name in arguments.names or known:
        if name in known:
            nodes.down(name)
        print(f"{name} is down", file=sys.stderr)
    return 0


def _console(arguments: argparse.Namespace) -> int:
    node = nodes.running(arguments.name)
    if sys.stdin.isatty():
        console.attach(node.folder / vm.SERIAL)
    else:
        print(nodes.tail(node.folder / vm.SERIAL_LOG, 1000), end="")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lab", description="Real, throwaway Kubernetes nodes: QEMU virtual machines.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    command = commands.add_parser("requirements", help="print the Debian packages that are missing")
    command.set_defaults(command=_requirements)

    command = commands.add_parser("build", help="build images and kubelet into the cache")
    command.add_argument("--suite", type=Suite, action="append", help="bookworm or trixie; both when not given")
    _add_kubelet(command)
    command.set_defaults(command=_build)

    _add_up(commands.add_parser("up", help="start a node and wait until its pods run"))

    for name, function, text in (
        ("reboot", _reboot, "restart a node in order"),
        ("reset", _reset, "restart a node as a power cut does"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("name")
        _add_wait(command)
        command.set_defaults(command=function)

    command = commands.add_parser("list", help="show the nodes")
    command.add_argument("--json", action="store_true", help="print facts as JSON")
    command.set_defaults(command=_list)

    command = commands.add_parser("ssh", help="a shell or a command on a node")
    command.add_argument("name")
    command.add_argument("remote", nargs=argparse.REMAINDER, metavar="-- COMMAND")
    command.set_defaults(command=_ssh)

    command = commands.add_parser("inventory", help="write an Ansible inventory and print its path")
    command.add_argument("names", nargs="*", metavar="NAME")
    command.set_defaults(command=_inventory)

    command = commands.add_parser(
        "journal", help="print what a node's services logged, or its console when ssh is dead"
    )
    command.add_argument("name")
    command.add_argument("--lines", type=int, default=200)
    command.set_defaults(command=_journal)

    command = commands.add_parser(
        "console", help="a terminal on a node's serial port, or its log when there is no terminal"
    )
    command.add_argument("name")
    command.set_defaults(command=_console)

    command = commands.add_parser("down", help="stop and remove nodes")
    command.add_argument("names", nargs="*", metavar="NAME")
    command.add_argument("--all", action="store_true")
    command.set_defaults(command=_down)
    return parser


def _add_up(command: argparse.ArgumentParser) -> None:
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
    _add_kubelet(command)
    _add_wait(command)
    command.set_defaults(command=_up)


def _add_kubelet(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--kubelet",
        default=DEBIAN_KUBELET,
        metavar="PATH|VERSION",
        help="a binary, or a version of Debian's source package",
    )


def _add_wait(command: argparse.ArgumentParser) -> None:
    command.add_argument("--wait", type=nodes.Wait, default=nodes.Wait.PODS, help="none, ssh or pods (default)")
    command.add_argument("--json", action="store_true", help="print the node's facts as one line of JSON")
