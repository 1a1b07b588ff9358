# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests to an API server; answers are plain JSON.

The Python client of Kubernetes reads the kubeconfig, has the certificates and tokens, and the pool of connections. Its
own call_api is not used: its arguments are others since release 36.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from ..kubeadm.model import ClusterError

Object = Mapping[str, Any]
Query = Sequence[tuple[str, str]]
SILENT = 0
"""The status of a request that nobody answered."""
GONE, CONFLICT, TOO_MANY = 404, 409, 429
REFUSED = (401, 403)
TIMEOUT = 30.0
"""Seconds to connect, and for an answer."""
MERGE = "application/merge-patch+json"


@dataclass(frozen=True)
class Answer:
    """``body`` is the object, or what the server says of the request."""

    status: int
    body: Object

    @property
    def good(self) -> bool:
        return 200 <= self.status < 300

    @property
    def message(self) -> str:
        return str(self.body.get("message") or self.body.get("reason") or "no reason given").strip()


class Rest:
    """One API server."""

    def __init__(self, kubeconfig: str) -> None:
        self._kubeconfig = kubeconfig

    @cached_property
    def _client(self) -> Any:
        """Made by the first request: what else is wrong is said without a cluster."""
        try:
            from kubernetes import config
        except ImportError as error:
            raise ClusterError(
                "The Python library kubernetes is needed on the controller to ask an API server",
                "Nothing was changed. Install it for the Python that runs ansible:"
                f" {sys.executable} -m pip install kubernetes",
            ) from error
        try:
            return config.new_client_from_config(self._kubeconfig)
        except config.ConfigException as error:
            raise ClusterError(
                f"{self._kubeconfig} is no kubeconfig: {error}", "Nothing was changed. Give the path of one."
            ) from error

    def request(self, method: str, path: str, *, query: Query = (), body: Object | None = None) -> Answer:
        """A patch is a JSON merge patch (RFC 7386). What is only read is read again while the server asks for it."""
        answer, pause = self._ask(method, path, query, body)
        deadline = time.monotonic() + TIMEOUT
        # So answers Kubernetes 1.34 and newer for a moment after a CustomResourceDefinition came ("storage is
        # (re)initializing"). An eviction that a budget forbids has this status too, and is the caller's to repeat.
        while method == "GET" and answer.status == TOO_MANY and time.monotonic() + pause < deadline:
            time.sleep(pause)
            answer, pause = self._ask(method, path, query, body)
        return answer

    def _ask(self, method: str, path: str, query: Query, body: Object | None) -> tuple[Answer, float]:
        """The answer, and the seconds after which the server wants to be asked again."""
        settings = self._client.configuration
        place = f"{settings.host}{path}" + (f"?{urlencode(query)}" if query else "")
        kind = MERGE if method == "PATCH" else "application/json"
        # With a plugin of the kubeconfig this is where a token is renewed.
        tokens = {each["key"]: each["value"] for each in settings.auth_settings().values() if each["value"]}
        try:
            found = self._client.rest_client.pool_manager.request(
                method,
                place,
                body=None if body is None else json.dumps(body),
                headers={"Accept": "application/json", "Content-Type": kind, **tokens},
                timeout=TIMEOUT,
                retries=False,
                redirect=False,
            )
        except Exception as error:  # urllib3 has several families of them, and is not imported here.
            return Answer(SILENT, {"message": next(iter(str(error).splitlines()), "no answer")}), 0
        return Answer(int(found.status), _parsed(found.data)), _pause(found.headers.get("Retry-After"))


def _pause(text: str | None) -> float:
    """Retry-After (RFC 9110, 10.2.3) as Kubernetes uses it: seconds."""
    return float(text) if text and text.isdecimal() else 1.0


def _parsed(text: bytes) -> Object:
    try:
        found = json.loads(text)
    except ValueError:
        return {"message": text.decode(errors="replace")}
    return found if isinstance(found, dict) else {"message": str(found)}
