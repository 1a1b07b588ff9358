# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks whether this Node is Ready, with a request from the node to the API server as kubelet's user."""

from __future__ import annotations

import calendar
import json
import math
import re
import time
from dataclasses import dataclass
from typing import Any

from ..cri.node_access import Node
from ..kube_api import https_get
from ..kube_api.https_get import RequestFailed
from ..kube_api.kubeconfig import Access, read_access
from ..kube_api.yaml_subset import UnsupportedSyntax
from ..state.plan_document import ApiNodeRef
from ..systemd.service_units import ServiceError, mask_secrets, show
from .finding import Finding, Verdict

NAME = "node ready"
STAMP = "%Y-%m-%dT%H:%M:%SZ"
"""metav1.Time in JSON: whole seconds of kubelet's clock, in UTC."""
FORBIDDEN = re.compile(r'User "([^"\s]{1,253})" cannot (\w+) resource "(\w+)"')
WIDTH = 200
NOT_ASKED = "it was not checked whether the Node was Ready before"


class ApiUnavailable(Exception):
    """The API server did not report the condition; the message is the reason, without untrusted text."""


@dataclass(frozen=True)
class Condition:
    """The condition Ready of a Node. ``heartbeat``: kubelet's report time in seconds since 1970, None if missing."""

    ready: bool
    heartbeat: float | None
    reason: str


def baseline(node: Node, node_ref: ApiNodeRef, *, kubelet_runs: bool) -> dict[str, Any]:
    """``{ready, reason}`` before any change; if not ready, the reason is why it is not demanded later."""
    if not kubelet_runs:
        return {"ready": False, "reason": "kubelet was not running before, so the Node was not expected to be Ready"}
    try:
        condition = _read_condition(node, node_ref)
    except ApiUnavailable as error:
        return {"ready": False, "reason": f"before the change, {error}"}
    reason = "" if condition.ready else f"Node {node_ref.name} was not Ready before the change: {condition.reason}"
    return {"ready": condition.ready, "reason": reason}


def not_required(before: dict[str, Any]) -> Finding:
    """The finding for a Node that was not known to be Ready before."""
    reason = before["node"]["reason"] if before.get("node") else NOT_ASKED
    return Finding(NAME, Verdict.NOT_PROVEN, reason)


def ready(node: Node, node_ref: ApiNodeRef, unit: str, started: float | None) -> Finding:
    """Whether the Node is Ready, as reported by the current kubelet process.

    ``started``: start time of kubelet in seconds since 1970 (``next_second``); None reads it from systemd.
    """
    try:
        condition = _read_condition(node, node_ref)
        since = _running_since(node, unit) if started is None else started
    except ApiUnavailable as error:
        return Finding(NAME, Verdict.SILENT, str(error))
    except ServiceError as error:
        return Finding(NAME, Verdict.WAITING, str(error))
    if not condition.ready:
        return Finding(NAME, Verdict.WAITING, f"Node {node_ref.name} is not Ready: {condition.reason}")
    if since is None:
        return Finding(NAME, Verdict.WAITING, f"systemd does not report the start time of {unit}")
    if condition.heartbeat is None or condition.heartbeat < math.floor(since):
        heartbeat = _render_time(condition.heartbeat)
        detail = f"Node {node_ref.name} is Ready as of {heartbeat}, reported before kubelet's restart"
        return Finding(NAME, Verdict.WAITING, detail)
    return Finding(NAME, Verdict.PASSED, f"Node {node_ref.name} is Ready, as of {_render_time(condition.heartbeat)}")


def next_second(node: Node) -> None:
    """Wait for the next full second, in which the old kubelet did not run: heartbeats have whole seconds.

    The first heartbeat of a kubelet may be its only one for five minutes (nodeStatusReportFrequency) if nothing
    changes: pkg/kubelet/kubelet_node_status.go tryUpdateNodeStatus. It must differ from the old kubelet's last one.
    """
    now = node.clock.wall()
    node.clock.sleep(math.floor(now) + 1 - now)


def _running_since(node: Node, unit: str) -> float | None:
    """Start time in seconds since 1970."""
    started = show(node, unit).started
    return None if started is None else node.clock.wall() - (node.clock.monotonic() - started)


def _render_time(heartbeat: float | None) -> str:
    return "no time" if heartbeat is None else time.strftime(STAMP, time.gmtime(heartbeat))


def _read_condition(node: Node, node_ref: ApiNodeRef) -> Condition:
    try:
        access = read_access(node.host, node_ref.kubeconfig)
    except UnsupportedSyntax as error:
        raise ApiUnavailable(f"kubelet's kubeconfig cannot be interpreted ({error})") from None
    try:
        status, body = https_get.get(node.host, access, f"/api/v1/nodes/{node_ref.name}")
    except RequestFailed as error:
        raise ApiUnavailable(f"the API server in {node_ref.kubeconfig} {error}") from None
    if status != 200:
        raise ApiUnavailable(_refusal(node_ref, access, status, body))
    return _condition(node_ref, access, _document(body))


def _refusal(node_ref: ApiNodeRef, access: Access, status: int, body: bytes) -> str:
    if status == 401:
        return "the API server does not accept kubelet's certificate or token (401); it may have expired"
    if status == 404:
        return f"the API server has no Node {node_ref.name} (404)"
    if status == 403:
        denied = FORBIDDEN.search(str(_document(body).get("message", "")))
        user, verb, resource = denied.groups() if denied else ("kubelet", "get", "nodes")
        return _safe_text(
            access, f"the API server does not allow {user} to {verb} {resource}, here Node {node_ref.name} (403)"
        )
    return f"the API server returns HTTP status {status} for Node {node_ref.name}"


def _document(body: bytes) -> dict[str, Any]:
    """The JSON object in a response; empty if it is invalid."""
    try:
        document = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _condition(node_ref: ApiNodeRef, access: Access, document: dict[str, Any]) -> Condition:
    metadata, status = document.get("metadata"), document.get("status")
    if not isinstance(metadata, dict) or metadata.get("name") != node_ref.name:
        raise ApiUnavailable("the API server does not return the Node")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    for condition in conditions if isinstance(conditions, list) else ():
        if isinstance(condition, dict) and condition.get("type") == "Ready":
            reasons = [str(condition[key]) for key in ("reason", "message") if condition.get(key)]
            reason = _safe_text(access, ": ".join(reasons) or "no reason is given")
            return Condition(condition.get("status") == "True", _time(condition.get("lastHeartbeatTime")), reason)
    return Condition(False, None, "kubelet has not reported a condition yet")


def _time(value: Any) -> float | None:
    try:
        return float(calendar.timegm(time.strptime(str(value), STAMP)))
    except ValueError:
        return None


def _safe_text(access: Access, text: str) -> str:
    """Untrusted text in one short line with credentials masked; a fixed text if it contains kubelet's token."""
    if access.token and access.token in text:
        return "its message is omitted because it contains kubelet's token"
    return mask_secrets("".join(character if character.isprintable() else " " for character in text))[:WIDTH]
