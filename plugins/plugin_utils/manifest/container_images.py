# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images of containers: where they are pulled from, whether they are pinned, which Volcano they hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..kube.objects import Object, Ref
from ..profile.validators import ProfileError
from ..scheduler.installed_volcano import FIRST_AGENT, is_known_release, release_of

DOCKER_HUB = "docker.io"
VOLCANO_IMAGES = ("vc-scheduler", "vc-controller-manager", "vc-webhook-manager", "vc-agent")
"""Names of upstream's images: volcano installer/helm/chart/volcano/values.yaml, basic."""
_TEMPLATES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("", "Pod"): (),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
    **{("apps", kind): ("spec", "template") for kind in ("Deployment", "DaemonSet", "StatefulSet", "ReplicaSet")},
    ("batch", "Job"): ("spec", "template"),
}
_REGISTRY = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]{1,5})?(?:/[a-z0-9][a-z0-9._-]*)*")


@dataclass(frozen=True)
class Image:
    """A reference as distribution/reference (normalize.go) reads it: what names no registry is Docker Hub's."""

    registry: str
    repository: str
    tag: str
    digest: str

    @classmethod
    def parse(cls, text: str) -> Image:
        named, _at, digest = text.partition("@")
        first, slash, rest = named.partition("/")
        is_registry = slash and ("." in first or ":" in first or first == "localhost")
        registry, path = (first, rest) if is_registry else (DOCKER_HUB, named)
        head, colon, tag = path.rpartition(":")
        repository = head if colon else path
        if registry == DOCKER_HUB and "/" not in repository:
            repository = f"library/{repository}"
        return cls(registry, repository, tag if colon else "", digest)

    @property
    def is_pinned(self) -> bool:
        """By a digest, or by a tag with a number in it: latest, master and stable are another image tomorrow."""
        return bool(self.digest) or any(each.isdigit() for each in self.tag)

    def __str__(self) -> str:
        tag, digest = (f":{self.tag}" if self.tag else ""), (f"@{self.digest}" if self.digest else "")
        return f"{self.registry}/{self.repository}{tag}{digest}"


def check_registry(registry: str) -> None:
    """ProfileError for what is no HOST[:PORT][/PATH]."""
    if registry and not _REGISTRY.fullmatch(registry):
        raise ProfileError("registry", f"{registry!r} is no registry such as mirror.example:5000, without a scheme")


def mirror_images(manifest: Object, registry: str) -> dict[str, Any]:
    """The manifest with the images of its containers taken from a registry; repository, tag and digest stay."""

    def moved(image: str) -> str:
        found = Image.parse(image)
        return str(Image(registry, found.repository, found.tag, found.digest))

    return _map_images(manifest, template_path(Ref.of(manifest)), moved) if registry else dict(manifest)


def template_path(ref: Ref) -> tuple[str, ...] | None:
    """Where a workload keeps its pod; None for what is no workload."""
    return _TEMPLATES.get((ref.group, ref.kind))


def pod_spec(manifest: Object) -> Object:
    """Of a workload; empty for anything else."""
    path = template_path(Ref.of(manifest))
    if path is None:
        return {}
    found: Any = manifest
    for key in (*path, "spec"):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def list_images(manifest: Object) -> Iterator[str]:
    """Those of its containers, in their order."""
    spec = pod_spec(manifest)
    for key in ("initContainers", "containers"):
        for each in spec.get(key) or ():
            if isinstance(each, Mapping) and isinstance(each.get("image"), str):
                yield each["image"]


def unpinned_images(manifest: Object) -> Iterator[str]:
    yield from (each for each in list_images(manifest) if not Image.parse(each).is_pinned)


def outdated_images(manifest: Object) -> Iterator[str]:
    """Images of releases of Volcano that this collection does not know; a digest does not tell."""
    for each in list_images(manifest):
        release = release_of(each)
        name = Image.parse(each).repository.rpartition("/")[2]
        if name in VOLCANO_IMAGES and release is not None and not is_known_release(release):
            yield f"{each} is older than {'.'.join(map(str, FIRST_AGENT))}, the first release with an agent"


def _map_images(value: Any, path: tuple[str, ...] | None, moved: Callable[[str], str]) -> dict[str, Any]:
    found = dict(value)
    if path is None:
        return found
    if path:
        if isinstance(found.get(path[0]), Mapping):
            found[path[0]] = _map_images(found[path[0]], path[1:], moved)
        return found
    spec = found.get("spec")
    if isinstance(spec, Mapping):
        found["spec"] = {
            key: _map_containers(each, moved) if _is_container_list(key) else each for key, each in spec.items()
        }
    return found


def _is_container_list(key: str) -> bool:
    return key in ("containers", "initContainers")


def _map_containers(found: Any, moved: Callable[[str], str]) -> Any:
    if not isinstance(found, list):
        return found
    return [
        {**each, "image": moved(each["image"])}
        if isinstance(each, Mapping) and isinstance(each.get("image"), str)
        else each
        for each in found
    ]
