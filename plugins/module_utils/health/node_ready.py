# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the API server says that this node is Ready, asked from the node with kubelet's own rights."""

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
NOT_ASKED = "whether the Node was Ready before was not asked"


class ApiUnavailable(Exception):
    """The API server did not tell; the text says why, in words of ours."""


@dataclass(frozen=True)
class Condition:
    """The condition Ready of a Node. ``heartbeat``: when kubelet said so, in seconds since 1970; None if never."""

    ready: bool
    heartbeat: float | None
    reason: str


def baseline(node: Node, member: ApiNodeRef, *, kubelet_runs: bool) -> dict[str, Any]:
    """``{ready, reason}`` before anything is touched; without ready the reason is why it is not demanded later."""
    if not kubelet_runs:
        return {"ready": False, "reason": "kubelet did not run before, so the Node was not to be Ready"}
    try:
        found = _read_condition(node, member)
    except ApiUnavailable as error:
        return {"ready": False, "reason": f"before the change, {error}"}
    reason = "" if found.ready else f"Node {member.name} was not Ready before the change: {found.reason}"
    return {"ready": found.ready, "reason": reason}


def not_required(before: dict[str, Any]) -> Finding:
    """The finding for a node that was not seen to be Ready before."""
    reason = before["node"]["reason"] if before.get("node") else NOT_ASKED
    return Finding(NAME, Verdict.NOT_PROVEN, reason)


def ready(node: Node, member: ApiNodeRef, unit: str, started: float | None) -> Finding:
    """Ready=True, and said by the kubelet that runs now.

    ``started``: when it was, in seconds since 1970 (``next_second``); None asks systemd since when it runs.
    """
    try:
        found = _read_condition(node, member)
        since = _running_since(node, unit) if started is None else started
    except ApiUnavailable as error:
        return Finding(NAME, Verdict.SILENT, str(error))
    except ServiceError as error:
        return Finding(NAME, Verdict.WAITING, str(error))
    if not found.ready:
        return Finding(NAME, Verdict.WAITING, f"Node {member.name} is not Ready: {found.reason}")
    if since is None:
        return Finding(NAME, Verdict.WAITING, f"systemd does not tell since when {unit} runs")
    if found.heartbeat is None or found.heartbeat < math.floor(since):
        detail = (
            f"Node {member.name} is Ready as of {_render_time(found.heartbeat)}, which kubelet said before its restart"
        )
        return Finding(NAME, Verdict.WAITING, detail)
    return Finding(NAME, Verdict.PASSED, f"Node {member.name} is Ready, as of {_render_time(found.heartbeat)}")


def next_second(node: Node) -> None:
    """Wait until a second has begun in which no kubelet has run: heartbeats are told in whole seconds.

    The first one of a kubelet may be its only one for five minutes (nodeStatusReportFrequency), as long as nothing
    changes: pkg/kubelet/kubelet_node_status.go tryUpdateNodeStatus. It has to be told from the last one before it.
    """
    now = node.clock.wall()
    node.clock.sleep(math.floor(now) + 1 - now)


def _running_since(node: Node, unit: str) -> float | None:
    """Seconds since 1970."""
    started = show(node, unit).started
    return None if started is None else node.clock.wall() - (node.clock.monotonic() - started)


def _render_time(heartbeat: float | None) -> str:
    return "no time" if heartbeat is None else time.strftime(STAMP, time.gmtime(heartbeat))


def _read_condition(node: Node, member: ApiNodeRef) -> Condition:
    try:
        access = read_access(node.host, member.kubeconfig)
    except UnsupportedSyntax as error:
        raise ApiUnavailable(f"kubelet's kubeconfig is not understood ({error})") from None
    try:
        status, body = https_get.get(node.host, access, f"/api/v1/nodes/{member.name}")
    except RequestFailed as error:
        raise ApiUnavailable(f"the API server in {member.kubeconfig} {error}") from None
    if status != 200:
        raise ApiUnavailable(_refusal(member, access, status, body))
    return _condition(member, access, _document(body))


def _refusal(member: ApiNodeRef, access: Access, status: int, body: bytes) -> str:
    if status == 401:
        return "the API server does not accept kubelet's certificate or token (401); it may have expired"
    if status == 404:
        return f"the API server has no Node {member.name} (404)"
    if status == 403:
        said = FORBIDDEN.search(str(_document(body).get("message", "")))
        who, verb, what = said.groups() if said else ("kubelet", "get", "nodes")
        return _safe_text(access, f"the API server does not let {who} {verb} {what}, here Node {member.name} (403)")
    return f"the API server answers HTTP status {status} when it is asked for Node {member.name}"


def _document(body: bytes) -> dict[str, Any]:
    """The JSON object in an answer; empty when there is none."""
    try:
        found = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _condition(member: ApiNodeRef, access: Access, document: dict[str, Any]) -> Condition:
    metadata, status = document.get("metadata"), document.get("status")
    if not isinstance(metadata, dict) or metadata.get("name") != member.name:
        raise ApiUnavailable("the API server answers something else than the Node")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    for each in conditions if isinstance(conditions, list) else ():
        if isinstance(each, dict) and each.get("type") == "Ready":
            told = [str(each[key]) for key in ("reason", "message") if each.get(key)]
            reason = _safe_text(access, ": ".join(told) or "no reason is given")
            return Condition(each.get("status") == "True", _time(each.get("lastHeartbeatTime")), reason)
    return Condition(False, None, "kubelet has not said anything yet")


def _time(value: Any) -> float | None:
    try:
        return float(calendar.timegm(time.strptime(str(value), STAMP)))
    except ValueError:
        return None


def _safe_text(access: Access, text: str) -> str:
    """Foreign words in one line, short and without what looks like a credential; none where the token is in them."""
    if access.token and access.token in text:
        return "its words are left out, since kubelet's token is in them"
    return mask_secrets("".join(each if each.isprintable() else " " for each in text))[:WIDTH]
