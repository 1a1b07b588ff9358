# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a pod is made of its DaemonSet's template as it is now, or waits to be replaced by one that is.

While a rolling update goes on the pods of before it are Ready too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..kube.objects import Object

CHANGED_BY_ADMISSION = "imagePullPolicy"
"""Of containers: AlwaysPullImages writes it in pods, and in no template (plugin/pkg/admission/alwayspullimages)."""
TEMPLATE, POD = "deprecated.daemonset.template.generation", "pod-template-generation"
"""Annotation of a DaemonSet and label of its pods (pkg/controller/daemon/util/daemonset_util.go)."""


def former(found: Object, pod: Object) -> str:
    """What of the pod is not as its DaemonSet has it now; empty for a pod of the present template.

    The DaemonSet's own count comes first: it knows what admission has made of its pods.
    """
    status = found.get("status") or {}
    desired = status.get("desiredNumberScheduled", 0)
    if desired and status.get("updatedNumberScheduled", 0) >= desired:
        return ""
    told = tuple(_differences(found["spec"]["template"]["spec"], pod["spec"]))
    return ", ".join(told) or _generation(found, pod)


def _generation(found: Object, pod: Object) -> str:
    """What a template says no more shows nowhere else: a pod may have it from somebody else."""
    wanted = (found["metadata"].get("annotations") or {}).get(TEMPLATE)
    made = (pod["metadata"].get("labels") or {}).get(POD)
    return f"template {made} of {wanted}" if wanted and made and wanted != made else ""


def _differences(wanted: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[str]:
    for part in ("initContainers", "containers"):
        there = {each["name"]: each for each in live.get(part) or ()}
        for one in wanted.get(part) or ():
            has = there.get(one["name"], {})
            keys = [key for key in one if key != CHANGED_BY_ADMISSION and not _says(has.get(key), one[key])]
            if keys:
                yield f"{', '.join(keys)} of {one['name']}"
    yield from (key for key in ("securityContext", "volumes") if not _says(live.get(key), wanted.get(key)))


def _says(live: Any, wanted: Any) -> bool:
    """Whether a pod's value says what a template's does. It may say more: the mount of a token, a limit, a variable."""
    if wanted in (None, {}, []):
        return True
    if isinstance(wanted, Mapping):
        return isinstance(live, Mapping) and all(_says(live.get(key), each) for key, each in wanted.items())
    if isinstance(wanted, list) and isinstance(wanted[0], Mapping):
        return isinstance(live, list) and all(any(_says(one, each) for one in live) for each in wanted)
    return bool(live == wanted)
