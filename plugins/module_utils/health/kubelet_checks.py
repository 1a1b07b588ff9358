# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the health gate for kubelet."""

from __future__ import annotations

import json
from typing import Any

from ..cri.node_access import Node
from ..errors import reason_of
from ..state.plan_document import Checkpoint
from ..systemd.service_units import ServiceError, UnitState, show
from .finding import Finding, Verdict

HEALTHZ = "kubelet healthz"
HTTP_TIMEOUT = 5.0
STABLE_SECONDS = 10.0
"""A kubelet that rejects its checkpoint or cgroups exits some seconds after its start."""


def healthz(node: Node, url: str) -> Finding:
    """Whether kubelet's health endpoint returns "ok"."""
    # Imported here: they take a third of all import time, and most importers of this module do not call kubelet.
    import urllib.error
    import urllib.request
    from http.client import HTTPException

    name = HEALTHZ
    # No proxy, because the address is on this node.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=HTTP_TIMEOUT) as response:
            body = response.read(1024).decode("utf-8", "replace").strip()
    except urllib.error.HTTPError as error:
        return Finding(name, Verdict.WAITING, f"{url} returns HTTP status {error.code}")
    except (OSError, ValueError) as error:
        return Finding(name, Verdict.WAITING, f"{url} does not respond: {reason_of(error)}")
    except HTTPException:
        return Finding(name, Verdict.WAITING, f"{url} does not return HTTP")
    if body != "ok":
        return Finding(name, Verdict.WAITING, f"{url} does not return ok")
    return Finding(name, Verdict.PASSED, f"{url} returns ok")


def healthz_requirement(finding: Finding, unit: UnitState, *, node_worked: bool) -> dict[str, Any]:
    """``{demanded, reason}`` from the finding before any change; a kubelet that was not running is demanded later."""
    if finding.verdict is Verdict.PASSED or unit.active != "active" or not node_worked:
        return {"demanded": True, "reason": ""}
    return {"demanded": False, "reason": f"before the change, {finding.detail}, although kubelet was running"}


def optional_healthz(node: Node, url: str, reason: str) -> Finding:
    """The check for a kubelet that was running but did not respond before: it cannot fail, only be not proven."""
    finding = healthz(node, url)
    return finding if finding.verdict is Verdict.PASSED else Finding(HEALTHZ, Verdict.NOT_PROVEN, reason)


def disabled_healthz() -> Finding:
    """kubelet does not listen with healthzPort 0: kubernetes cmd/kubelet/app/server.go."""
    return Finding(HEALTHZ, Verdict.NOT_PROVEN, "kubelet's health endpoint is disabled (healthzPort 0)")


class KubeletStableCheck:
    """Whether the unit keeps the main process of the first call for STABLE_SECONDS."""

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
            return Finding(self.name, Verdict.WAITING, f"{self._unit} has been running for only {up:.0f} s")
        return Finding(self.name, Verdict.PASSED, f"{self._unit}, pid {self._pid} for {up:.0f} s")

    def _died(self, state: str) -> Finding:
        return Finding(self.name, Verdict.FAILED, f"{self._unit} ended after its start and {state}")


def checkpoint(node: Node, name: str, expected: Checkpoint) -> Finding:
    """Whether the checkpoint that kubelet writes at its start contains the policy."""
    try:
        policy = json.loads(node.host.read(expected.path)).get("policyName")
    except FileNotFoundError:
        return Finding(name, Verdict.WAITING, f"{expected.path} does not exist yet")
    except (OSError, ValueError, AttributeError, RecursionError):
        return Finding(name, Verdict.WAITING, f"{expected.path} cannot be read")
    if policy != expected.policy:
        return Finding(name, Verdict.WAITING, f"{expected.path} has {policy}, not {expected.policy}")
    return Finding(name, Verdict.PASSED, f"{expected.path} has {policy}")
