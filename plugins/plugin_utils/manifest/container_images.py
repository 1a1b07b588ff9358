# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Container images: their registry, whether they are pinned, their pull policy, and their release of Volcano."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..kube.objects import Object, Ref
from ..profile.validators import ProfileError
from ..releases.minimum_versions import NODE_EXPORTER, PROMETHEUS, VOLCANO, VOLCANO_SCHEDULER, Minimum
from ..scheduler.installed_volcano import release_of

DOCKER_HUB = "docker.io"
AGENT_IMAGE = "vc-agent"
VOLCANO_IMAGES = ("vc-scheduler", "vc-controller-manager", "vc-webhook-manager", AGENT_IMAGE)
"""Names of upstream's images: volcano installer/helm/chart/volcano/values.yaml, basic."""
_MINIMUMS: Mapping[str, Minimum] = {
    **dict.fromkeys(VOLCANO_IMAGES, VOLCANO_SCHEDULER),
    AGENT_IMAGE: VOLCANO,
    "prometheus": PROMETHEUS,
    "node-exporter": NODE_EXPORTER,
}
"""By the last part of an image's name: docker.io/prom/prometheus, quay.io/prometheus/node-exporter."""
_TEMPLATES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("", "Pod"): (),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
    **{("apps", kind): ("spec", "template") for kind in ("Deployment", "DaemonSet", "StatefulSet", "ReplicaSet")},
    ("batch", "Job"): ("spec", "template"),
}
_REGISTRY = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]{1,5})?(?:/[a-z0-9][a-z0-9._-]*)*")


@dataclass(frozen=True)
class Image:
    """An image reference, parsed as by distribution/reference (normalize.go): the default registry is Docker Hub."""

    registry: str
    repository: str
    tag: str
    digest: str

    @classmethod
    def parse(cls, text: str) -> Image:
        named, _at, digest = text.partition("@")
        first, slash, remainder = named.partition("/")
        is_registry = slash and ("." in first or ":" in first or first == "localhost")
        registry, path = (first, remainder) if is_registry else (DOCKER_HUB, named)
        head, colon, tag = path.rpartition(":")
        repository = head if colon else path
        if registry == DOCKER_HUB and "/" not in repository:
            repository = f"library/{repository}"
        return cls(registry, repository, tag if colon else "", digest)

    @property
    def is_pinned(self) -> bool:
        """By a digest, or by a tag with a digit: the images of latest, master and stable change."""
        return bool(self.digest) or any(character.isdigit() for character in self.tag)

    def __str__(self) -> str:
        tag, digest = (f":{self.tag}" if self.tag else ""), (f"@{self.digest}" if self.digest else "")
        return f"{self.registry}/{self.repository}{tag}{digest}"


def check_registry(registry: str) -> None:
    """Raise ProfileError unless the registry is HOST[:PORT][/PATH]."""
    if registry and not _REGISTRY.fullmatch(registry):
        raise ProfileError(
            "registry", f"{registry!r} is not a registry without a scheme, for example mirror.example:5000"
        )


def mirror_images(manifest: Object, registry: str) -> dict[str, Any]:
    """The manifest with another registry for its container images; repository, tag and digest stay."""

    def mirror(container: Object) -> dict[str, Any]:
        reference = Image.parse(container["image"])
        return {
            **container,
            "image": str(Image(registry, reference.repository, reference.tag, reference.digest)),
        }

    return _map_containers(manifest, template_path(Ref.of(manifest)), mirror) if registry else dict(manifest)


def without_pulls(manifest: Object) -> dict[str, Any]:
    """The manifest with the pull policy Never for all containers."""
    return _map_containers(
        manifest, template_path(Ref.of(manifest)), lambda container: {**container, "imagePullPolicy": "Never"}
    )


def missing_images(manifest: Object, available: Collection[str]) -> Iterator[str]:
    """The images that are not available under their full name."""
    names = {str(Image.parse(image)) for image in available}
    yield from (image for image in list_images(manifest) if str(Image.parse(image)) not in names)


def template_path(ref: Ref) -> tuple[str, ...] | None:
    """The path of a workload's pod template; None for other kinds."""
    return _TEMPLATES.get((ref.group, ref.kind))


def pod_spec(manifest: Object) -> Object:
    """The pod spec of a workload; empty for other kinds."""
    path = template_path(Ref.of(manifest))
    if path is None:
        return {}
    value: Any = manifest
    for key in (*path, "spec"):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def list_images(manifest: Object) -> Iterator[str]:
    """The images of a workload's containers, in their order."""
    spec = pod_spec(manifest)
    for key in ("initContainers", "containers"):
        for container in spec.get(key) or ():
            if isinstance(container, Mapping) and isinstance(container.get("image"), str):
                yield container["image"]


def unpinned_images(manifest: Object) -> Iterator[str]:
    yield from (image for image in list_images(manifest) if not Image.parse(image).is_pinned)


def outdated_images(manifest: Object) -> Iterator[str]:
    """Images of releases below the minimum; a digest alone does not show the release."""
    for image in list_images(manifest):
        release = release_of(image)
        minimum = _MINIMUMS.get(Image.parse(image).repository.rpartition("/")[2])
        if minimum is not None and release is not None and release < minimum.minor:
            yield f"{image} is older than {minimum.text}, the minimum version of {minimum.program}"


def _map_containers(
    value: Any, path: tuple[str, ...] | None, change: Callable[[Object], dict[str, Any]]
) -> dict[str, Any]:
    result = dict(value)
    if path is None:
        return result
    if path:
        if isinstance(result.get(path[0]), Mapping):
            result[path[0]] = _map_containers(result[path[0]], path[1:], change)
        return result
    spec = result.get("spec")
    if isinstance(spec, Mapping):
        result["spec"] = {
            key: _map_list(field_value, change) if _is_container_list(key) else field_value
            for key, field_value in spec.items()
        }
    return result


def _is_container_list(key: str) -> bool:
    return key in ("containers", "initContainers")


def _map_list(containers: Any, change: Callable[[Object], dict[str, Any]]) -> Any:
    if not isinstance(containers, list):
        return containers
    return [
        change(container) if isinstance(container, Mapping) and isinstance(container.get("image"), str) else container
        for container in containers
    ]
