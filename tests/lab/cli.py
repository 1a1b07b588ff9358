# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's commands."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from . import (
    arguments,
    console,
    diagnosis,
    inventory,
    nodes,
    prebuilt,
    program_report,
    qemu,
    requirements,
)
from .cache import Cache
from .cluster import cli as cluster
from .errors import LabError, UnavailableError
from .machine import SERIAL_LOG
from .paths import cache_root
from .spec import Engine
from .store import Node

JOURNAL = (
    "journalctl --no-pager --lines={lines} "
    "--unit=kubelet --unit=containerd --unit=lab-images --unit='volcano-colocation*'"
)


UNAVAILABLE = os.EX_UNAVAILABLE
"""Exit status when this machine lacks something; the last line of standard error names it."""

NO_ANSWER = 3
"""Exit status for an existing node that does not answer by ssh."""


def main(argv: Sequence[str]) -> int:
    """Run one command; a LabError prints a line on standard error and exits with 1 or ``UNAVAILABLE``."""
    options = arguments.parser().parse_args(argv)
    try:
        return COMMANDS[options.command](options)
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return UNAVAILABLE if isinstance(error, UnavailableError) else 1
    except KeyboardInterrupt:
        return 130


def _requirements(_options: argparse.Namespace) -> int:
    packages = requirements.missing()
    if packages:
        print(" ".join(packages))
    return 1 if packages else 0


def _build(options: argparse.Namespace) -> int:
    with_images = prebuilt.build if options.kernel else prebuilt.build_without_kernel
    build = prebuilt.build_systems if options.systems else with_images
    build(Cache(cache_root()), prebuilt.specifications(options.suite or (), options.kubelet, options.containerd))
    return 0


def _image(options: argparse.Namespace) -> int:
    nodes.unpack(arguments.specification(options), Path(options.directory))
    return 0


def _up(options: argparse.Namespace) -> int:
    return _report(nodes.up(arguments.specification(options), options.wait), options)


def _reboot(options: argparse.Namespace) -> int:
    return _report(nodes.reboot(options.name, options.wait), options)


def _reset(options: argparse.Namespace) -> int:
    return _report(nodes.reset(options.name, options.wait), options)


def _report(node: Node, options: argparse.Namespace) -> int:
    print(json.dumps(node.facts()) if options.json else _line(node))
    return 0


def _list(options: argparse.Namespace) -> int:
    known = nodes.store()
    listed = [known.load(name) for name in known.names()]
    if options.json:
        print(json.dumps([node.facts() for node in listed]))
    else:
        for node in listed:
            print(_line(node))
    return 0


def _line(node: Node) -> str:
    spec = node.spec
    state = f"pid {node.pid}" if node.pid else "ended"
    drivers = f"kubelet {spec.kubelet_driver.value}, containerd {spec.runtime_driver.value}"
    return f"{node.name}: {state}, {spec.suite.value}, cgroup {spec.cgroup.value}, {drivers}, ssh 127.0.0.1:{node.port}"


def _ssh(options: argparse.Namespace) -> int:
    remote = options.remote[1:] if options.remote[:1] == ["--"] else options.remote
    argv = [*nodes.running(options.name).connection.argv, *remote]
    os.execv(argv[0], argv)


def _inventory(options: argparse.Namespace) -> int:
    known = nodes.store()
    file = f"inventory-{'+'.join(options.names)}.yml" if options.names else "inventory.yml"
    print(inventory.write([nodes.running(name) for name in options.names or known.names()], known.root / file))
    return 0


def _journal(options: argparse.Namespace) -> int:
    node = nodes.store().load(options.name)
    try:
        print(nodes.running(node.name).connection.run(JOURNAL.format(lines=options.lines), timeout=90), end="")
    except LabError as error:
        print(f"lab: {error}; this is the serial console:", file=sys.stderr)
        print(_tail(node.directory / SERIAL_LOG, options.lines))
        print(diagnosis.diagnose(node) if node.pid else "its machine has ended")
        return NO_ANSWER
    return 0


def _console(options: argparse.Namespace) -> int:
    node = nodes.store().load(options.name)
    if sys.stdin.isatty() and node.engine is not Engine.UML:
        console.attach(nodes.running(node.name).directory / qemu.SERIAL)
    else:
        print((node.directory / SERIAL_LOG).read_text(errors="replace"), end="")
    return 0


def _down(options: argparse.Namespace) -> int:
    known = nodes.store().names()
    for name in known if options.all else options.names:
        if name in known:
            nodes.down(name)
        print(f"{name} is down", file=sys.stderr)
    return 0


def _tail(path: Path, lines: int) -> str:
    return "".join(path.read_text(errors="replace").splitlines(keepends=True)[-lines:])


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "build": _build,
    "cluster": cluster.run,
    "console": _console,
    "down": _down,
    "image": _image,
    "inventory": _inventory,
    "journal": _journal,
    "list": _list,
    "programs": program_report.run,
    "reboot": _reboot,
    "requirements": _requirements,
    "reset": _reset,
    "ssh": _ssh,
    "up": _up,
}
