# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How objects are looked at and written: by their kind, which the API server says the place of.

The options are those that playbooks know of kubernetes.core, whose modules would take a process for each request.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from .rest import GONE, Answer, Query, Rest

LOOK, WRITE = "look", "write"
"""What can be asked: for ``api_version``, ``kind`` and perhaps ``name``, ``namespace``, ``label_selectors``; to
bring a ``definition`` into a ``state``: present, patched or absent."""

Requests = Callable[[str, dict[str, Any]], dict[str, Any]]
REVIEW = "SelfSubjectAccessReview"
POLL = 2.0


class Objects:
    """Carries out requests. With ``dry_run`` the server changes nothing, and says what it would."""

    def __init__(self, rest: Rest, *, dry_run: bool, sleep: Callable[[float], None] = time.sleep) -> None:
        self._rest, self._dry_run, self._sleep = rest, dry_run, sleep
        self._kinds: dict[str, dict[str, tuple[str, bool]]] = {}

    def __call__(self, asked: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The objects, or the one that was written; ``failed`` with ``msg`` and ``status`` where the server refuses.

        ``verb``: it already refused to let the object be looked at that was to be written.
        """
        return self._look(arguments) if asked == LOOK else self._write(**arguments)

    def _look(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        where = asked.get("namespace") or ("default" if asked.get("name") else None)
        place = self._place(asked["api_version"], asked["kind"], where)
        if isinstance(place, Answer):
            missing = {"api_found": False, "resources": [], "msg": place.message}
            return missing if place.status == GONE else _failed("read its API", place)
        name = asked.get("name")
        selectors = ",".join(asked.get("label_selectors") or ())
        query = (("labelSelector", selectors),) if selectors else ()
        found = self._rest.request("GET", f"{place}/{name}" if name else place, query=query)
        if found.status == GONE and name:
            return {"api_found": True, "resources": []}
        if not found.good:
            return _failed("read", found)
        # Members of a list come without what they are.
        header = {"apiVersion": asked["api_version"], "kind": asked["kind"]}
        members = [found.body] if name else found.body["items"] or ()
        return {"api_found": True, "resources": [{**header, **each} for each in members]}

    def _write(self, definition: Mapping[str, Any], state: str = "present", **options: Any) -> dict[str, Any]:
        metadata = definition["metadata"]
        where = metadata.get("namespace") or "default"
        place = self._place(definition["apiVersion"], definition["kind"], where)
        if isinstance(place, Answer):
            return _failed("find its API", place)
        name = metadata.get("name")
        if state == "absent":
            return self._delete(f"{place}/{name}", **options)
        if state == "patched":
            below = options.get("subresource")
            return self._sent("PATCH", "/".join([place, name, *([below] if below else [])]), definition)
        if name is None:
            return self._sent("POST", place, definition)
        live = self._rest.request("GET", f"{place}/{name}")
        if live.status == GONE:
            return self._sent("POST", place, definition)
        if not live.good:
            return {**_failed("read", live), "verb": "get"}
        if options.get("force"):
            version = {"resourceVersion": live.body["metadata"]["resourceVersion"], **metadata}
            return self._sent("PUT", f"{place}/{name}", {**definition, "metadata": version})
        return self._sent("PATCH", f"{place}/{name}", definition)

    def _sent(self, method: str, path: str, definition: Mapping[str, Any]) -> dict[str, Any]:
        query = () if definition["kind"] == REVIEW else self._query
        found = self._rest.request(method, path, query=query, body=definition)
        return {"result": dict(found.body)} if found.good else _failed(method.lower(), found)

    def _delete(
        self,
        path: str,
        *,
        delete_options: Mapping[str, Any] | None = None,
        wait: bool = False,
        wait_timeout: float = 120,
        **_others: Any,
    ) -> dict[str, Any]:
        # With a body the API server does not look for options anywhere else.
        dry = {"dryRun": ["All"]} if self._dry_run else {}
        body = {"apiVersion": "v1", "kind": "DeleteOptions", **(delete_options or {}), **dry}
        found = self._rest.request("DELETE", path, body=body)
        if found.status == GONE:
            return {"result": {}}
        if not found.good:
            return _failed("delete", found)
        left = wait_timeout if wait and not self._dry_run else 0
        while left > 0 and self._rest.request("GET", path).status != GONE:
            self._sleep(POLL)
            left -= POLL
            if left <= 0:
                return {
                    "failed": True,
                    "status": 0,
                    "msg": f"it is still there {wait_timeout:g} s after it was deleted",
                }
        return {"result": {}}

    @property
    def _query(self) -> Query:
        return (("dryRun", "All"),) if self._dry_run else ()

    def _place(self, api_version: str, kind: str, namespace: str | None) -> str | Answer:
        """The path of a kind; what the server said where it does not know the kind, or nothing."""
        root = f"/api/{api_version}" if "/" not in api_version else f"/apis/{api_version}"
        kinds = self._kinds.get(api_version) or self._kinds_of(root)
        if isinstance(kinds, Answer):
            return kinds
        # What is not there may be made in this run, so that it is asked for anew.
        self._kinds[api_version] = kinds
        if kind not in kinds:
            del self._kinds[api_version]
            return Answer(GONE, {"message": f"the API server knows no {kind} in {api_version}"})
        resource, namespaced = kinds[kind]
        return f"{root}/namespaces/{namespace}/{resource}" if namespaced and namespace else f"{root}/{resource}"

    def _kinds_of(self, root: str) -> dict[str, tuple[str, bool]] | Answer:
        found = self._rest.request("GET", root)
        if not found.good:
            return found
        listed = found.body.get("resources") or ()
        return {each["kind"]: (each["name"], each["namespaced"]) for each in listed if "/" not in each["name"]}


def _failed(what: str, answer: Answer) -> dict[str, Any]:
    return {"failed": True, "status": answer.status, "msg": f"Failed to {what}: {answer.message}"}
