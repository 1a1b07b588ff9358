# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was read of a cluster, all before anything is planned, and what of it has to be there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..kube.errors import ClusterError
from ..kube.objects import ConfigMap, Object, Ref
from ..releases.versions import minor
from .journal import Journal

CRDS = ("queues.scheduling.volcano.sh", "podgroups.scheduling.volcano.sh")
SERVED = "v1beta1"
FIRST_AGENT = (1, 11)
"""The first release of Volcano that has an agent, and with it colocation."""


@dataclass(frozen=True)
class Seen:
    """``uid`` is that of the namespace kube-system, which is the cluster's. None: not there, or not looked for.

    ``served`` has the versions of each kind of admission policy that the server has. ``source`` says why the source of
    metrics is not there; '' where it is, None where nobody could tell from here.
    """

    uid: str
    journal: Journal = field(default_factory=Journal)
    journal_version: str | None = None
    conf: ConfigMap | None = None
    deployment: Object | None = None
    crds: Mapping[str, Object] = field(default_factory=dict)
    classes: tuple[Object, ...] = ()
    queues: tuple[Object, ...] = ()
    others: tuple[Object, ...] = ()
    served: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    source: str | None = None

    def found(self, ref: Ref) -> Object | None:
        """The object of the cluster that this names."""
        return next((each for each in (*self.classes, *self.queues, *self.others) if Ref.of(each).same(ref)), None)

    @property
    def image(self) -> str:
        """The scheduler's image."""
        spec = ((self.deployment or {}).get("spec") or {}).get("template", {}).get("spec", {})
        return str(next((each.get("image") for each in spec.get("containers", ())), None) or "none")

    @property
    def release(self) -> tuple[int, int] | None:
        """Volcano's, by the image's tag."""
        return release_of(self.image)


def release_of(image: str) -> tuple[int, int] | None:
    """What an image's tag says; None where that is no version, such as latest or a digest."""
    name = image.rpartition("/")[2].partition("@")[0]
    return minor(name.partition(":")[2])


def is_known(release: tuple[int, int] | None) -> bool:
    """Whether what this collection says of Volcano holds for a release."""
    return release is not None and release >= FIRST_AGENT


def check_release(seen: Seen) -> None:
    """ClusterError for a scheduler that is known to be too old for a configuration of colocation.

    Before 1.11 nothing of Volcano offers what BE pods ask for: cmd/agent comes with it. Early plugins usage read other
    thresholds, CPUUsageAvg.5m (pkg/scheduler/plugins/usage/usage.go). A release that nobody can tell is a finding.
    """
    if seen.release is not None and not is_known(seen.release):
        found, first = (".".join(map(str, each)) for each in (seen.release, FIRST_AGENT))
        raise ClusterError(
            f"The scheduler is of Volcano {found} (image {seen.image}); a configuration for colocation needs {first},"
            " the first release with the agent whose resources BE pods are scheduled by",
            "Nothing was changed. Install a newer Volcano (colocation_volcano_manifest does), or leave its"
            " configuration alone with colocation_scheduler_edit_configmap: false.",
        )


def check_volcano(seen: Seen, namespace: str, deployment: str, conf: str | None) -> None:
    """ClusterError with all that is missing of Volcano; ``conf``: the ConfigMap that is to be edited."""
    lacks = [f"CustomResourceDefinition {name}" for name in CRDS if name not in seen.crds]
    lacks += [f"{name} in version {SERVED}" for name, crd in seen.crds.items() if SERVED not in served_versions(crd)]
    if seen.deployment is None:
        lacks.append(f"Deployment {namespace}/{deployment}")
    if conf and seen.conf is None:
        lacks.append(f"ConfigMap {namespace}/{conf}")
    if lacks:
        raise ClusterError(
            f"Volcano is not there as expected, it lacks: {', '.join(lacks)}",
            "Nothing was changed. Install Volcano first, or say where it is with colocation_volcano_namespace,"
            " colocation_scheduler_deployment and colocation_scheduler_configmap.",
        )


def served_versions(crd: Object) -> tuple[str, ...]:
    return tuple(each["name"] for each in crd["spec"].get("versions", ()) if each.get("served"))


def spec_fields(crd: Object) -> frozenset[str] | None:
    """The fields of spec that a CRD keeps; None where its schema does not say, and keeps all."""
    for each in crd["spec"].get("versions", ()):
        if each["name"] == SERVED:
            schema: Any = (each.get("schema") or {}).get("openAPIV3Schema") or {}
            fields = ((schema.get("properties") or {}).get("spec") or {}).get("properties")
            return frozenset(fields) if fields else None
    return None
