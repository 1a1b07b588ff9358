# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the health gate that look at kubelet."""

from __future__ import annotations

import json
from typing import Any

from ..cri.node_access import Node
from ..state.plan_document import Checkpoint
from ..systemd.service_units import ServiceError, UnitState, show
from .finding import Finding, Verdict

HEALTHZ = "kubelet healthz"
HTTP_TIMEOUT = 5.0
STABLE_SECONDS = 10.0
"""A kubelet that refuses its checkpoint or its cgroups dies some seconds after its start."""


def healthz(node: Node, url: str) -> Finding:
    """kubelet's own health endpoint answers "ok"."""
    # Here, because they take a third of the time of all imports, and most of what imports this module asks no kubelet.
    import urllib.error
    import urllib.request
    from http.client import HTTPException

    name = HEALTHZ
    # No proxy: the address is the node's own.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=HTTP_TIMEOUT) as answer:
            body = answer.read(1024).decode("utf-8", "replace").strip()
    except urllib.error.HTTPError as error:
        return Finding(name, Verdict.WAITING, f"{url} answers HTTP status {error.code}")
    except (OSError, ValueError) as error:
        return Finding(name, Verdict.WAITING, f"{url} does not answer: {getattr(error, 'reason', error)}")
    except HTTPException as error:
        return Finding(name, Verdict.WAITING, f"{url} answers something else than HTTP ({type(error).__name__})")
    if body != "ok":
        return Finding(name, Verdict.WAITING, f"{url} answers something else than ok")
    return Finding(name, Verdict.PASSED, f"{url} answers ok")


def healthz_requirement(found: Finding, unit: UnitState, *, node_worked: bool) -> dict[str, Any]:
    """``{demanded, reason}`` from what was found before anything is touched; one that did not run told nothing."""
    if found.verdict is Verdict.PASSED or unit.active != "active" or not node_worked:
        return {"demanded": True, "reason": ""}
    return {"demanded": False, "reason": f"before the change, {found.detail}, although kubelet ran"}


def optional_healthz(node: Node, url: str, reason: str) -> Finding:
    """The same of a kubelet that did not answer before, although it ran: not demanded, but said."""
    found = healthz(node, url)
    return found if found.verdict is Verdict.PASSED else Finding(HEALTHZ, Verdict.NOT_PROVEN, reason)


def disabled_healthz() -> Finding:
    """kubernetes cmd/kubelet/app/server.go: with healthzPort 0 nobody listens."""
    return Finding(HEALTHZ, Verdict.NOT_PROVEN, "kubelet's health endpoint is switched off (healthzPort 0)")


class KubeletStableCheck:
    """The unit stays up with the same main process for a while. Keeps what it saw first."""

    name = "kubelet stays up"

    def __init__(self, node: Node, unit: str) -> None:
        self._node = node
        self._unit = unit
        self._pid = 0
        self._restarts = 0
        self._since = 0.0

    def __call__(self) -> Finding:
        try:
            state = show(self._node, self._unit)
        except ServiceError as error:
            return Finding(self.name, Verdict.WAITING, str(error))
        if state.active in ("failed", "inactive") or state.sub == "auto-restart":
            return self._died(f"is {state.active} ({state.sub})")
        if state.active != "active" or not state.main_pid:
            return Finding(self.name, Verdict.WAITING, f"{self._unit} is {state.active}")
        if not self._pid:
            self._pid, self._restarts = state.main_pid, state.restarts
            self._since = self._node.clock.monotonic()
        if state.main_pid != self._pid or state.restarts > self._restarts:
            return self._died("was restarted")
        up = self._node.clock.monotonic() - self._since
        if up < STABLE_SECONDS:
            return Finding(self.name, Verdict.WAITING, f"{self._unit} is up for {up:.0f} s only")
        return Finding(self.name, Verdict.PASSED, f"{self._unit}, pid {self._pid} for {up:.0f} s")

    def _died(self, what: str) -> Finding:
        return Finding(self.name, Verdict.FAILED, f"{self._unit} ended after its start and {what}")


def checkpoint(node: Node, name: str, wanted: Checkpoint) -> Finding:
    """The checkpoint that kubelet writes at its start names the policy."""
    try:
        policy = json.loads(node.host.read(wanted.path)).get("policyName")
    except FileNotFoundError:
        return Finding(name, Verdict.WAITING, f"{wanted.path} is not there yet")
    except (OSError, ValueError, AttributeError, RecursionError):
        return Finding(name, Verdict.WAITING, f"{wanted.path} cannot be read")
    if policy != wanted.policy:
        return Finding(name, Verdict.WAITING, f"{wanted.path} says {policy}, not {wanted.policy}")
    return Finding(name, Verdict.PASSED, f"{wanted.path} says {policy}")
