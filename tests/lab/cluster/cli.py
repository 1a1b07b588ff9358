# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The actions of ``lab cluster``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from . import control_plane, join


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command ``cluster``; parsed arguments have the action's name in ``action``."""
    cluster = commands.add_parser("cluster", help="manage a control plane on this machine and its nodes")
    actions = cluster.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("build", help="build the control plane's programs into the cache")

    up = actions.add_parser("up", help="start the control plane, or its processes that have ended")
    up.add_argument("--nodes", nargs="+", default=[], metavar="NAME", help="running nodes that join it")
    _json(up)

    joining = actions.add_parser("join", help="join running nodes to the control plane")
    joining.add_argument("names", nargs="+", metavar="NAME")

    _json(actions.add_parser("status", help="show its processes and nodes; exit status 1 if not all of it is up"))

    kubectl = actions.add_parser("kubectl", help="run kubectl of the control plane's version as administrator")
    kubectl.add_argument("words", nargs=argparse.REMAINDER, metavar="-- WORDS")

    actions.add_parser("down", help="stop and remove the control plane; nodes stay up without an API server")


def run(options: argparse.Namespace) -> int:
    """Run one action; its exit status."""
    return ACTIONS[options.action](options)


def _build(_options: argparse.Namespace) -> int:
    control_plane.build()
    return 0


def _up(options: argparse.Namespace) -> int:
    plane = control_plane.up()
    join.join(plane, options.nodes)
    return _report(control_plane.facts(plane), options)


def _join(options: argparse.Namespace) -> int:
    join.join(control_plane.store().load(), options.names)
    return 0


def _status(options: argparse.Namespace) -> int:
    facts = control_plane.facts(control_plane.store().load())
    _report(facts, options)
    return 0 if all(facts["running"].values()) and all(facts["nodes"].values()) else 1


def _kubectl(options: argparse.Namespace) -> int:
    words = options.words[1:] if options.words[:1] == ["--"] else options.words
    argv = [*control_plane.kubectl_argv(control_plane.store().load()), *words]
    os.execv(argv[0], argv)


def _down(_options: argparse.Namespace) -> int:
    control_plane.down()
    print("the control plane is down", file=sys.stderr)
    return 0


def _report(facts: dict[str, Any], options: argparse.Namespace) -> int:
    print(json.dumps(facts) if options.json else "\n".join(lines(facts)))
    return 0


def lines(facts: dict[str, Any]) -> list[str]:
    """The facts as lines of text."""
    rows = [f"{name}: {f'pid {pid}' if pid else 'ended'}" for name, pid in facts["running"].items()]
    rows += [f"node {name}: {'ready' if ready else 'not ready'}" for name, ready in facts["nodes"].items()]
    return [*rows, f"server {facts['server']}, Kubernetes {facts['version']}", f"kubeconfig {facts['kubeconfig']}"]


def _json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print facts as one line of JSON")


ACTIONS: dict[str, Callable[[argparse.Namespace], int]] = {
    "build": _build,
    "down": _down,
    "join": _join,
    "kubectl": _kubectl,
    "status": _status,
    "up": _up,
}
