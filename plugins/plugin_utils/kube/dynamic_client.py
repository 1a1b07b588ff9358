# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests to an API server, by the dynamic client of the Python library ``kubernetes``.

The library is imported by the first request: what is wrong before it is reported without the library and a cluster.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import yaml

from .api_errors import NO_ANSWER, NOT_FOUND, TOO_MANY, ApiError, ClusterError, ErrorContext
from .objects import Object, Ref

TIMEOUT, RETRY_SECONDS = 30, 30.0
"""Seconds to connect and for a response; and how long a request that only reads is repeated."""
MERGE_PATCH = "application/merge-patch+json"
NOT_AN_API_SERVER = "it does not answer as an API server of Kubernetes does"
_ALL = "All"
_RAW_RESPONSE: Mapping[str, Any] = {"serializer": lambda _client, response: response}
"""The option by which the library gives a response as it is."""


class Client:
    """One API server. With ``dry_run`` each request that writes is a dry run. Every method raises ApiError.

    Objects are plain mappings as the API server has them, always with their apiVersion and kind.
    """

    def __init__(self, context: ErrorContext, *, dry_run: bool = False) -> None:
        self.context, self.dry_run = context, dry_run
        self._connected: Any = None
        self._kinds: dict[str, Mapping[str, Any]] = {}

    def find(self, ref: Ref) -> dict[str, Any] | None:
        """An object; None where it, or its kind, does not exist."""
        request = ref.describe("get")
        resource = self._resource(ref.api_version, ref.kind, request)
        if resource is None:
            return None
        place = {"name": ref.name, "namespace": _namespace(resource, ref.namespace)}
        try:
            return _with_type(ref.api_version, ref.kind, self._read(request, resource.get, **place, **_RAW_RESPONSE))
        except ApiError as error:
            if error.status == NOT_FOUND:
                return None
            raise

    def serves(self, api_version: str, kind: str) -> bool:
        """Whether the API server has a kind in this version."""
        return self._resource(api_version, kind, Ref(api_version, kind, "").describe("list")) is not None

    def list_objects(
        self, api_version: str, kind: str, *, namespace: str = "", labels: str = "", fields: str = ""
    ) -> tuple[dict[str, Any], ...] | None:
        """The objects of one namespace or of all, by selectors; None where the kind does not exist."""
        request = Ref(api_version, kind, "", namespace or None).describe("list")
        resource = self._resource(api_version, kind, request)
        if resource is None:
            return None
        selectors = {"label_selector": labels or None, "field_selector": fields or None}
        found = self._read(request, resource.get, namespace=namespace or None, **selectors, **_RAW_RESPONSE)
        # Members of a list come without their kind.
        return tuple(_with_type(api_version, kind, item) for item in found["items"] or ())

    def list_all(self, api_version: str, kind: str, **selectors: str) -> tuple[dict[str, Any], ...]:
        """The same of a kind that every cluster has; ClusterError where it does not exist."""
        found = self.list_objects(api_version, kind, **selectors)
        if found is None:
            state = f"{self.context.untouched}. " if self.context.untouched else ""
            raise ClusterError(
                f"The API server of {self.context.kubeconfig} has no {kind} in {api_version}",
                f"{state}Look at whether the kubeconfig leads to a cluster.",
            )
        return found

    def create(self, body: Object) -> Object:
        """The object as the API server has it then."""
        return self._write("create", body)

    def patch(self, body: Object, *, subresource: str = "") -> Object:
        """A merge patch (RFC 7386), also of a subresource. A resourceVersion in it has to be the present one."""
        return self._write("patch", body, subresource, name=body["metadata"]["name"], content_type=MERGE_PATCH)

    def delete(self, ref: Ref, *, propagation: str = "") -> None:
        """``propagation``: Foreground keeps the object until what it owns is deleted. A missing object is no error."""
        request = ref.describe("delete")
        resource = self._known(ref, request)
        # An API server takes options from the body if there is one, and then from nowhere else.
        options = {"apiVersion": "v1", "kind": "DeleteOptions"}
        body = {
            **options,
            **({"propagationPolicy": propagation} if propagation else {}),
            **({"dryRun": [_ALL]} if self.dry_run else {}),
        }
        place = {"name": ref.name, "namespace": _namespace(resource, ref.namespace)}
        try:
            self._call(request, resource.delete, body=body, **place, **_RAW_RESPONSE)
        except ApiError as error:
            if error.status != NOT_FOUND:
                raise

    def evict(self, ref: Ref, uid: str) -> None:
        """Evict the pod of this uid; TOO_MANY in the error where a PodDisruptionBudget forbids it now."""
        request = ref.describe("create", "eviction")
        resource = self._known(ref, request).subresources["eviction"]
        # Its group and version are not those of pods: policy/v1beta1 before Kubernetes 1.22.
        body = {
            "apiVersion": f"{resource.extra_args['group']}/{resource.extra_args['version']}",
            "kind": "Eviction",
            "metadata": {"name": ref.name, "namespace": ref.namespace},
            "deleteOptions": {"preconditions": {"uid": uid}, **({"dryRun": [_ALL]} if self.dry_run else {})},
        }
        self._call(request, resource.create, body=body, name=ref.name, namespace=ref.namespace, **_RAW_RESPONSE)

    def review(self, attributes: Mapping[str, str]) -> bool:
        """Whether the user may do something, in the terms of ResourceAttributes. A dry run asks it as well."""
        ref = Ref("authorization.k8s.io/v1", "SelfSubjectAccessReview", "")
        spec = {"resourceAttributes": dict(attributes)}
        body = {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": {}, "spec": spec}
        request = ref.describe("create")
        found = self._call(request, self._known(ref, request).create, body=body, **_RAW_RESPONSE)
        return bool((found.get("status") or {}).get("allowed"))

    def _write(self, method: str, body: Object, subresource: str = "", **options: Any) -> Object:
        ref = Ref.of(body)
        request = ref.describe(method, subresource)
        resource = self._known(ref, request)
        options["namespace"] = _namespace(resource, ref.namespace)
        target = resource.subresources[subresource] if subresource else resource
        dry = {"dry_run": _ALL} if self.dry_run else {}
        found: Object = self._call(request, getattr(target, method), body=dict(body), **options, **dry, **_RAW_RESPONSE)
        return found

    def _known(self, ref: Ref, request: str) -> Any:
        """The resource of a kind; ApiError where the API server does not have it."""
        resource = self._resource(ref.api_version, ref.kind, request)
        if resource is None:
            reason = f"the API server has no {ref.kind} in {ref.api_version}"
            raise ApiError(request, NOT_FOUND, reason, self.context)
        return resource

    def _resource(self, api_version: str, kind: str, request: str) -> Any:
        """What the API server says of a kind; None where it does not have it. It may have it later."""
        if kind not in self._kinds.get(api_version, {}):
            self._kinds[api_version] = self._discover(api_version, request)
        return next(iter(self._kinds[api_version].get(kind, ())), None)

    def _discover(self, api_version: str, request: str) -> Mapping[str, Any]:
        """Resources of one version of a group by kind. While API servers differ the list of groups may lack it."""
        group, _slash, version = api_version.rpartition("/")
        prefix = "apis" if group else "api"
        dynamic = self._dynamic()
        try:
            find = dynamic.resources.get_resources_for_api_version
            found: Mapping[str, Any] = self._read(request, find, prefix, group, version, True)
            # The library takes a group that answers with 503 for an empty one.
            answer = found or self._read(request, dynamic.request, "get", f"/{prefix}/{api_version}", **_RAW_RESPONSE)
        except ApiError as error:
            if error.status == NOT_FOUND:
                return {}
            raise
        if not found and answer.get("kind") != "APIResourceList":
            raise ApiError(request, NO_ANSWER, NOT_AN_API_SERVER, self.context)
        return found

    def _dynamic(self) -> Any:
        """The library's client."""
        if self._connected is None:
            self._connected = _dynamic_client(_api_client(self.context.kubeconfig))
        return self._connected

    def _read(self, request: str, send: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """What only reads is repeated as long as the server asks for it, and not longer than REPEAT.

        So Kubernetes 1.34 and newer answer for a moment after a CustomResourceDefinition was created ("storage is
        (re)initializing"). An eviction that a budget forbids has this status too, and is the caller's to repeat.
        """
        deadline = time.monotonic() + RETRY_SECONDS
        while True:
            try:
                return self._call(request, send, *arguments, **options)
            except ApiError as error:
                if error.status != TOO_MANY or time.monotonic() + error.pause >= deadline:
                    raise
                time.sleep(error.pause)

    def _call(self, request: str, send: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        from kubernetes.client.rest import ApiException
        from urllib3.exceptions import HTTPError

        try:
            return send(*arguments, **options)
        except ApiException as error:
            pause = _pause((error.headers or {}).get("Retry-After"))
            raise ApiError(request, error.status or NO_ANSWER, _reason(error), self.context, pause) from error
        except (HTTPError, OSError) as error:
            raise ApiError(request, NO_ANSWER, _first_line(str(error)), self.context) from error
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            # The library looks into responses without a check of what they are.
            raise ApiError(request, NO_ANSWER, NOT_AN_API_SERVER, self.context) from error


def _api_client(kubeconfig: str) -> Any:
    """The library's client for a kubeconfig; ClusterError where one of both is missing."""
    try:
        from kubernetes import client, config
    except ImportError as error:
        raise ClusterError(
            "The Python library kubernetes is needed on the controller to ask an API server",
            "Nothing was changed. Install it for the Python that runs ansible:"
            f" {sys.executable} -m pip install kubernetes",
        ) from error
    settings = client.Configuration()
    # urllib3 would repeat requests that write, and wait as long as a server asks for.
    settings.retries = False
    try:
        config.load_kube_config(kubeconfig, client_configuration=settings)
    except (config.ConfigException, OSError, TypeError, ValueError, AttributeError, yaml.YAMLError) as error:
        raise ClusterError(
            f"{kubeconfig} is not a kubeconfig: {_first_line(str(error))}",
            "Nothing was changed. Give the path of one.",
        ) from error
    return client.ApiClient(settings)


def _dynamic_client(api_client: Any) -> Any:
    """A dynamic client none of whose requests, those of its discovery included, waits longer than TIMEOUT."""
    from kubernetes.dynamic import DynamicClient, LazyDiscoverer

    class Bounded(DynamicClient):
        def request(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
            # Only a pair is a limit for the response too; in older releases no other float is a limit at all.
            return super().request(method, path, body, _request_timeout=(TIMEOUT, TIMEOUT), **options)

    class OnDemand(LazyDiscoverer):
        def __init__(self, client: Any, _cache_file: Any) -> None:
            # Nothing beforehand, and not from a file: the library's is in /tmp, where any user can write it.
            self.client = client

    return Bounded(api_client, discoverer=OnDemand)


def _namespace(resource: Any, namespace: str | None) -> str | None:
    return (namespace or "default") if resource.namespaced else None


def _with_type(api_version: str, kind: str, found: Mapping[str, Any]) -> dict[str, Any]:
    return {**found, "apiVersion": api_version, "kind": kind}


def _pause(retry_after: str | None) -> float:
    """Retry-After (RFC 9110, 10.2.3) as Kubernetes uses it: seconds."""
    return float(retry_after) if retry_after and retry_after.isdecimal() else 1.0


def _reason(error: Any) -> str:
    """What the API server says: a Status, or a text of something between here and there."""
    text = error.body.decode(errors="replace") if isinstance(error.body, bytes) else str(error.body or "")
    try:
        status = json.loads(text)
    except ValueError:
        status = {"message": text}
    known = status if isinstance(status, dict) else {"message": text}
    return _first_line(str(known.get("message") or known.get("reason") or error.reason or ""))


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "no reason given")
