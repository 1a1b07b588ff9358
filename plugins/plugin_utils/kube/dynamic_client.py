# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests to an API server, by the dynamic client of the Python library ``kubernetes``.

The first request imports the library, so that earlier errors are reported without the library and a cluster.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import yaml

from .api_errors import NO_ANSWER, NOT_FOUND, TOO_MANY, ApiError, ClusterError, ErrorContext
from .connection_errors import describe_connection, describe_kubeconfig, first_line
from .objects import Object, Ref

TIMEOUT, RETRY_SECONDS = 30, 30.0
"""Seconds to connect and for a response; and how long a request that only reads is repeated."""
MERGE_PATCH = "application/merge-patch+json"
NOT_AN_API_SERVER = "it does not answer as an API server of Kubernetes does"
_ALL = "All"
_RAW_RESPONSE: Mapping[str, Any] = {"serializer": lambda _client, response: response}
"""The option that makes the library return a response unparsed."""


class Client:
    """A client of one API server. With ``dry_run`` each request that writes is a dry run. Every method raises ApiError.

    Objects are plain mappings as the API server returns them, always with their apiVersion and kind.
    """

    def __init__(self, context: ErrorContext, *, dry_run: bool = False) -> None:
        self.context, self.dry_run = context, dry_run
        self._connected: Any = None
        self._kinds: dict[str, Mapping[str, Any]] = {}

    def find(self, ref: Ref) -> dict[str, Any] | None:
        """Return an object; None where it, or its kind, does not exist."""
        request = ref.describe("get")
        resource = self._resource(ref.api_version, ref.kind, request)
        if resource is None:
            return None
        identity = {"name": ref.name, "namespace": _namespace(resource, ref.namespace)}
        try:
            return _with_type(ref.api_version, ref.kind, self._read(request, resource.get, **identity, **_RAW_RESPONSE))
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
        response = self._read(request, resource.get, namespace=namespace or None, **selectors, **_RAW_RESPONSE)
        # Items of a list have no kind.
        return tuple(_with_type(api_version, kind, item) for item in response["items"] or ())

    def list_all(self, api_version: str, kind: str, **selectors: str) -> tuple[dict[str, Any], ...]:
        """The same for a kind that every cluster has; ClusterError where it does not exist."""
        objects = self.list_objects(api_version, kind, **selectors)
        if objects is None:
            state = f"{self.context.untouched}. " if self.context.untouched else ""
            raise ClusterError(
                f"The API server of {self.context.kubeconfig} has no {kind} in {api_version}",
                f"{state}Check that the kubeconfig leads to a cluster.",
            )
        return objects

    def get_from_service(self, ref: Ref, scheme: str, port: int, path: str, **parameters: str) -> Any:
        """The JSON document, or the text, that a Service returns; the API server sends it the request."""
        location = f"/api/v1/namespaces/{ref.namespace}/services/{scheme}:{ref.name}:{port}/proxy{path}"
        return self._read(
            ref.describe("get", "proxy"),
            self._dynamic().request,
            "get",
            location,
            query_params=list(parameters.items()),
            **_RAW_RESPONSE,
        )

    def create(self, body: Object) -> Object:
        """Create an object and return it as the API server stores it."""
        return self._write("create", body)

    def patch(self, body: Object, *, subresource: str = "") -> Object:
        """Send a merge patch (RFC 7386), also to a subresource. A resourceVersion in it must be the current one."""
        return self._write("patch", body, subresource, name=body["metadata"]["name"], content_type=MERGE_PATCH)

    def delete(self, ref: Ref, *, propagation: str = "") -> None:
        """Delete an object, if it exists. ``propagation``: Foreground keeps it until its dependents are deleted."""
        request = ref.describe("delete")
        resource = self._known(ref, request)
        # If a request has a body, the API server reads the options only from the body.
        options = {"apiVersion": "v1", "kind": "DeleteOptions"}
        body = {
            **options,
            **({"propagationPolicy": propagation} if propagation else {}),
            **({"dryRun": [_ALL]} if self.dry_run else {}),
        }
        identity = {"name": ref.name, "namespace": _namespace(resource, ref.namespace)}
        try:
            self._call(request, resource.delete, body=body, **identity, **_RAW_RESPONSE)
        except ApiError as error:
            if error.status != NOT_FOUND:
                raise

    def evict(self, ref: Ref, uid: str) -> None:
        """Evict the pod with this uid; the error has TOO_MANY where a PodDisruptionBudget forbids it now."""
        request = ref.describe("create", "eviction")
        resource = self._known(ref, request).subresources["eviction"]
        # Its group and version differ from those of pods: policy/v1beta1 before Kubernetes 1.22.
        body = {
            "apiVersion": f"{resource.extra_args['group']}/{resource.extra_args['version']}",
            "kind": "Eviction",
            "metadata": {"name": ref.name, "namespace": ref.namespace},
            "deleteOptions": {"preconditions": {"uid": uid}, **({"dryRun": [_ALL]} if self.dry_run else {})},
        }
        self._call(request, resource.create, body=body, name=ref.name, namespace=ref.namespace, **_RAW_RESPONSE)

    def review(self, attributes: Mapping[str, str]) -> bool:
        """Whether the user has a permission, described as ResourceAttributes. A dry run sends this request too."""
        ref = Ref("authorization.k8s.io/v1", "SelfSubjectAccessReview", "")
        spec = {"resourceAttributes": dict(attributes)}
        body = {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": {}, "spec": spec}
        request = ref.describe("create")
        response = self._call(request, self._known(ref, request).create, body=body, **_RAW_RESPONSE)
        return bool((response.get("status") or {}).get("allowed"))

    def _write(self, method: str, body: Object, subresource: str = "", **options: Any) -> Object:
        ref = Ref.of(body)
        request = ref.describe(method, subresource)
        resource = self._known(ref, request)
        options["namespace"] = _namespace(resource, ref.namespace)
        target = resource.subresources[subresource] if subresource else resource
        dry = {"dry_run": _ALL} if self.dry_run else {}
        response: Object = self._call(
            request, getattr(target, method), body=dict(body), **options, **dry, **_RAW_RESPONSE
        )
        return response

    def _known(self, ref: Ref, request: str) -> Any:
        """The resource of a kind; ApiError where the API server does not serve it."""
        resource = self._resource(ref.api_version, ref.kind, request)
        if resource is None:
            reason = f"the API server has no {ref.kind} in {ref.api_version}"
            raise ApiError(request, NOT_FOUND, reason, self.context)
        return resource

    def _resource(self, api_version: str, kind: str, request: str) -> Any:
        """The discovered resource of a kind; None where the API server does not serve it (yet)."""
        if kind not in self._kinds.get(api_version, {}):
            self._kinds[api_version] = self._discover(api_version, request)
        return next(iter(self._kinds[api_version].get(kind, ())), None)

    def _discover(self, api_version: str, request: str) -> Mapping[str, Any]:
        """Resources of one group version, by kind.

        It is requested directly: while API servers of two releases run, the list of groups may lack it.
        """
        group, _slash, version = api_version.rpartition("/")
        prefix = "apis" if group else "api"
        dynamic = self._dynamic()
        try:
            find = dynamic.resources.get_resources_for_api_version
            resources: Mapping[str, Any] = self._read(request, find, prefix, group, version, True)
            # The library treats a group that answers with 503 as an empty one.
            response = resources or self._read(
                request, dynamic.request, "get", f"/{prefix}/{api_version}", **_RAW_RESPONSE
            )
        except ApiError as error:
            if error.status == NOT_FOUND:
                return {}
            raise
        if not resources and response.get("kind") != "APIResourceList":
            raise ApiError(request, NO_ANSWER, NOT_AN_API_SERVER, self.context)
        return resources

    def _dynamic(self) -> Any:
        """The library's client."""
        if self._connected is None:
            self._connected = _dynamic_client(_api_client(self.context.kubeconfig))
        return self._connected

    def _read(self, request: str, send: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Send a request that only reads; repeat it while the server asks for that, at most for RETRY_SECONDS.

        Kubernetes 1.34 and newer ask for it for a moment after a CustomResourceDefinition is created ("storage is
        (re)initializing"). An eviction that a budget forbids has this status too; the caller repeats it.
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
            # The library has an exception without a status for an error of TLS.
            reason = _reason(error) if error.status else describe_connection(error)
            raise ApiError(request, error.status or NO_ANSWER, reason, self.context, pause) from error
        except (HTTPError, OSError) as error:
            raise ApiError(request, NO_ANSWER, describe_connection(error), self.context) from error
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            # The library reads fields of responses without a check of their types.
            raise ApiError(request, NO_ANSWER, NOT_AN_API_SERVER, self.context) from error


def _api_client(kubeconfig: str) -> Any:
    """The library's client for a kubeconfig; ClusterError where the library or a valid kubeconfig is missing."""
    try:
        from kubernetes import client, config
    except ImportError as error:
        raise ClusterError(
            "The Python library kubernetes is needed on the controller for requests to an API server",
            "Nothing was changed. Install it for the Python that runs ansible:"
            f" {sys.executable} -m pip install kubernetes",
        ) from error
    settings = client.Configuration()
    # By default urllib3 repeats requests that write, and waits as long as the server asks for.
    settings.retries = False
    try:
        config.load_kube_config(kubeconfig, client_configuration=settings)
    except (config.ConfigException, OSError, TypeError, ValueError, AttributeError, yaml.YAMLError) as error:
        raise ClusterError(
            f"{kubeconfig} is not a kubeconfig: {describe_kubeconfig(error)}",
            "Nothing was changed. Give the path of a valid kubeconfig.",
        ) from error
    return client.ApiClient(settings)


def _dynamic_client(api_client: Any) -> Any:
    """A dynamic client whose requests, including those of its discovery, wait at most TIMEOUT."""
    from kubernetes.dynamic import DynamicClient, LazyDiscoverer

    class Bounded(DynamicClient):
        def request(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
            # Only a pair limits the response too; older releases ignore a single float.
            return super().request(method, path, body, _request_timeout=(TIMEOUT, TIMEOUT), **options)

    class OnDemand(LazyDiscoverer):
        def __init__(self, client: Any, _cache_file: Any) -> None:
            # No discovery in advance, and no cache file: the library's is in /tmp, where any user can write it.
            self.client = client

    return Bounded(api_client, discoverer=OnDemand)


def _namespace(resource: Any, namespace: str | None) -> str | None:
    return (namespace or "default") if resource.namespaced else None


def _with_type(api_version: str, kind: str, item: Mapping[str, Any]) -> dict[str, Any]:
    return {**item, "apiVersion": api_version, "kind": kind}


def _pause(retry_after: str | None) -> float:
    """Retry-After (RFC 9110, 10.2.3) as Kubernetes uses it: seconds."""
    return float(retry_after) if retry_after and retry_after.isdecimal() else 1.0


def _reason(error: Any) -> str:
    """The API server's reason: from a Status, or the first line of any other text, for example of a proxy."""
    text = error.body.decode(errors="replace") if isinstance(error.body, bytes) else str(error.body or "")
    try:
        status = json.loads(text)
    except ValueError:
        status = {"message": text}
    known = status if isinstance(status, dict) else {"message": text}
    return first_line(str(known.get("message") or known.get("reason") or error.reason or ""))
