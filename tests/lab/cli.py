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
"""Exit status when this machine lacks something; the last line of standard error says what."""

NO_ANSWER = 3
"""Exit status for a node that is known and does not answer by ssh."""


def main(argv: Sequence[str]) -> int:
    """Run one command; errors of the lab are a line on standard error and exit status 1 or ``UNAVAILABLE``."""
    given = arguments.parser().parse_args(argv)
    try:
        return COMMANDS[given.command](given)
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return UNAVAILABLE if isinstance(error, UnavailableError) else 1
    except KeyboardInterrupt:
        return 130


def _requirements(_given: argparse.Namespace) -> int:
    packages = requirements.missing()
    if packages:
        print(" ".join(packages))
    return 1 if packages else 0


def _build(given: argparse.Namespace) -> int:
    build = prebuilt.build if given.kernel else prebuilt.build_without_kernel
    build(Cache(cache_root()), prebuilt.specifications(given.suite or (), given.kubelet, given.containerd))
    return 0


def _image(given: argparse.Namespace) -> int:
    nodes.unpack(arguments.specification(given), Path(given.folder))
    return 0


def _up(given: argparse.Namespace) -> int:
    return _report(nodes.up(arguments.specification(given), given.wait), given)


def _reboot(given: argparse.Namespace) -> int:
    return _report(nodes.reboot(given.name, given.wait), given)


def _reset(given: argparse.Namespace) -> int:
    return _report(nodes.reset(given.name, given.wait), given)


def _report(node: Node, given: argparse.Namespace) -> int:
    print(json.dumps(node.facts()) if given.json else _line(node))
    return 0


def _list(given: argparse.Namespace) -> int:
    known = nodes.store()
    found = [known.load(name) for name in known.names()]
    if given.json:
        print(json.dumps([node.facts() for node in found]))
    else:
        for node in found:
            print(_line(node))
    return 0


def _line(node: Node) -> str:
    spec = node.spec
    state = f"pid {node.pid}" if node.pid else "ended"
    drivers = f"kubelet {spec.kubelet_driver.value}, containerd {spec.runtime_driver.value}"
    return f"{node.name}: {state}, {spec.suite.value}, cgroup {spec.cgroup.value}, {drivers}, ssh 127.0.0.1:{node.port}"


def _ssh(given: argparse.Namespace) -> int:
    remote = given.remote[1:] if given.remote[:1] == ["--"] else given.remote
    argv = [*nodes.running(given.name).connection.argv, *remote]
    os.execv(argv[0], argv)


def _inventory(given: argparse.Namespace) -> int:
    known = nodes.store()
    file = f"inventory-{'+'.join(given.names)}.yml" if given.names else "inventory.yml"
    print(inventory.write([nodes.running(name) for name in given.names or known.names()], known.root / file))
    return 0


def _journal(given: argparse.Namespace) -> int:
    node = nodes.store().load(given.name)
    try:
        print(nodes.running(node.name).connection.run(JOURNAL.format(lines=given.lines), timeout=90), end="")
    except LabError as error:
        print(f"lab: {error}; this is the serial console:", file=sys.stderr)
        print(_tail(node.folder / SERIAL_LOG, given.lines))
        print(diagnosis.diagnose(node) if node.pid else "its machine has ended")
        return NO_ANSWER
    return 0


def _console(given: argparse.Namespace) -> int:
    node = nodes.store().load(given.name)
    if sys.stdin.isatty() and node.engine is not Engine.UML:
        console.attach(nodes.running(node.name).folder / qemu.SERIAL)
    else:
        print((node.folder / SERIAL_LOG).read_text(errors="replace"), end="")
    return 0


def _down(given: argparse.Namespace) -> int:
    known = nodes.store().names()
    for name in known if given.all else given.names:
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
