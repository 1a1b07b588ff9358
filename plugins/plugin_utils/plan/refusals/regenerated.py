# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""k3s and RKE2 render containerd's file anew at each start: what has to be written by hand, and where.

Rendering is Go's text/template, so that their own templates are no TOML to edit; and a template that extends the base
one cannot say another word on runc, whose tables the base has already (k3s-io/docs#566).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ...facts.model import NodeFacts
from ...profile import Profile
from ..model import Change, Refusal
from ..runtimes import runtime_changes
from .model import Rule

NAME = "99-volcano-colocation"
NRI = "io.containerd.nri.v1.nri"


def _regenerated(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    for path, template in facts.layout.regenerated.items():
        changes = runtime_changes(facts, profile)
        lines = tuple(change for change in changes if NRI in change.keys)
        driver = tuple(change for change in changes if change not in lines)
        if driver:
            yield _refusal(facts, path, driver, _driver_remedy(facts, template))
        if lines:
            yield _refusal(facts, path, lines, _lines_remedy(facts, template, lines))


def _refusal(facts: NodeFacts, path: str, changes: tuple[Change, ...], remedy: str) -> Refusal:
    wanted = "; ".join(map(str, changes))
    restart = f"Then drain the node and restart {facts.layout.name}."
    message = f"{facts.layout.name} makes this file anew at each start; wanted is {wanted}"
    return Refusal("config-regenerated", message, f"{remedy} {restart}", file=path)


def _driver_remedy(facts: NodeFacts, template: str) -> str:
    """k3s pkg/agent/containerd/config_linux.go: ``Systemd = cpuset && INVOCATION_ID``, for containerd and kubelet."""
    name = facts.layout.name
    remedy = (
        f"{name} gives containerd and kubelet one driver: systemd when systemd started {name} as a service and the"
        " cpuset controller is there, else cgroupfs. Start it so"
    )
    if template in facts.layout.templates:
        remedy += f", and let {template} say SystemdCgroup = {{{{ .SystemdCgroup }}}} for every handler"
    return remedy + "."


def _lines_remedy(facts: NodeFacts, template: str, changes: tuple[Change, ...]) -> str:
    table = f"[plugins.'{NRI}']"
    lines = " / ".join([table, *(f"{change.keys[-1]} = {_literal(change.after)}" for change in changes)])
    imported = [each for each in facts.runtime.imports if each.startswith(template.removesuffix(".tmpl"))]
    if imported:
        # k3s#13680: the base templates import a folder beside them.
        place = imported[0].replace("*", NAME)
    elif template in facts.layout.templates:
        place = f"the end of {template}"
    else:
        # k3s#7991, from v1.24.17, v1.25.13, v1.26.8, v1.27.5 and v1.28.1 on.
        place, lines = template, '{{ template "base" . }} / ' + lines
    return f"Write these lines (parted by /) into {place}: {lines}."


def _literal(value: Any) -> str:
    return json.dumps(value)


RULES: tuple[Rule, ...] = (_regenerated,)
