# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Instant queries to Prometheus: through the API server if it is a Service of the cluster, otherwise from here."""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit

from ansible.module_utils.urls import open_url

from ..kube.api_errors import FORBIDDEN, NO_ANSWER, ApiError, ClusterError
from ..kube.connection_errors import describe_connection
from ..kube.dynamic_client import Client
from ..scheduler.usage_data import NoUsageData, parse_response
from ..scheduler.volcano_conf import Metrics, required_object

QUERY_PATH, TIMEOUT = "/api/v1/query", 10
PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Source:
    """The address of Prometheus, and whether its certificate is not checked."""

    address: str
    insecure: bool = False

    @property
    def public_address(self) -> str:
        """The address without a password."""
        url = urlsplit(self.address)
        return url._replace(netloc=url.netloc.rpartition("@")[2]).geturl()


def find_source(desired: Mapping[str, Any] | None, document: Mapping[str, Any]) -> Source:
    """The source that the scheduler uses: the desired one, or the one of its configuration."""
    metrics = document.get("metrics")
    current: Mapping[str, Any] = metrics if isinstance(metrics, Mapping) else {}
    kind = str((desired or current).get("type") or "")
    address = str((desired or {}).get("address") or current.get("address") or "")
    if kind != "prometheus":
        problem = f"its type is {kind}" if kind else "the scheduler's configuration has none"
        raise ClusterError(
            f"The source of metrics cannot be checked: {problem}",
            "Set colocation_scheduler_metrics to a Prometheus; other sources are not checked.",
        )
    # The scheduler reads the text; YAML's true is the same text.
    source = Source(address, current.get("tls.insecureSkipVerify") in (True, "true"))
    if not urlsplit(address).hostname or urlsplit(address).scheme not in PORTS:
        problem = f"{source.public_address} is not an http:// or https:// address" if address else "is empty"
        raise ClusterError(
            f"metrics.address {problem}",
            "Set the address in colocation_scheduler_metrics, such as http://prometheus.monitoring.svc:9090.",
        )
    return source


@dataclass(frozen=True)
class PrometheusClient:
    """Asks as the scheduler does. NoUsageData where it would get no data."""

    source: Source
    client: Client

    def ask(self, query: str) -> Any:
        """The ``data`` of the response to an instant query."""
        service = required_object(Metrics(address=self.source.address))
        if service is None:
            return parse_response(self._get(query))
        url = urlsplit(self.source.address)
        path = url.path.rstrip("/") + QUERY_PATH
        try:
            return parse_response(
                self.client.get_from_service(service.ref, url.scheme, url.port or PORTS[url.scheme], path, query=query)
            )
        except ApiError as error:
            if error.status in (NO_ANSWER, *FORBIDDEN):
                raise
            raise NoUsageData(f"{error.status}, {error.reason}") from error

    def _get(self, query: str) -> Any:
        url = f"{self.source.address.rstrip('/')}{QUERY_PATH}?{urlencode({'query': query})}"
        try:
            # The scheduler uses neither a proxy nor a netrc: its http.Transport has none.
            options = {"use_proxy": False, "use_netrc": False, "validate_certs": not self.source.insecure}
            with open_url(url, timeout=TIMEOUT, **options) as response:
                text = response.read()
        except HTTPError as error:
            text = error.read()
            if not text.startswith(b"{"):
                raise NoUsageData(f"it answers with {error.code} {error.reason}") from error
        except (OSError, ValueError) as error:
            raise NoUsageData(_reason(error)) from error
        try:
            return json.loads(text)
        except ValueError:
            raise NoUsageData("it does not answer as Prometheus does") from None


def _reason(error: Exception) -> str:
    cause = getattr(error, "reason", error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted here ({cause.verify_message.rstrip('.')})"
    if isinstance(cause, ssl.SSLError):
        return "it does not use TLS, or refuses it"
    return describe_connection(error)
