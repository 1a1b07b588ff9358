# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Import an image from an archive on a node, and remove images that the collection imported.

The CRI of kubelet's runtime reports whether an image exists. Its id is the digest of the image's configuration, which
names the content of every layer: an image with the expected name and id has the content of the archive.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import asdict, dataclass
from typing import Any, Sequence

from ..cri.runtime_client import Image, ImageClient, ImageUse, socket_path, with_digest_type
from ..errors import ColocationError
from ..host import Clock, CommandResult, Host
from ..snapshot.file_evidence import describe
from ..snapshot.immutable_systems import IMAGES, require_changeable
from ..snapshot.process_evidence import scan_processes
from ..snapshot.runtime_evidence import kubelets_endpoint
from ..snapshot.runtime_files import CONTAINERD_PROGRAMS, containerd_program, sort_by_endpoint
from ..state import image_record
from ..state.image_record import AGENT, ImportedImage
from ..state.node_lock import hold, require_node_lock
from ..state.store import Store

CONTAINERD = "containerd"
MANUAL_COMMANDS = {
    "cri-o": "skopeo copy oci-archive:FILE containers-storage:{name}",
    "docker": "docker load --input FILE",
}
"""Commands that load an archive into runtimes other than containerd. The project does not test them."""

ARCHITECTURES = {
    "x86_64": "amd64",
    "aarch64": "arm64",
    "armv7l": "arm",
    "armv6l": "arm",
    "i686": "386",
    "loongarch64": "loong64",
}
"""Architecture of images (GOARCH) by machine of uname(2), where they differ: containerd/platforms normalizeArch."""


@dataclass(frozen=True)
class Runtime:
    """``socket`` is the path in kubelet's configuration; ``ctr`` the program's path, empty if it is not installed."""

    socket: str
    name: str
    ctr: str

    def client(self, host: Host) -> ImageClient:
        return ImageClient(host.real_path(self.socket))

    def importer(self, image: str) -> str:
        """The program that imports archives; ColocationError for a runtime other than containerd, or without ctr."""
        if self.name != CONTAINERD:
            command = MANUAL_COMMANDS.get(self.name, "its own program").format(name=image)
            raise ColocationError(
                f"kubelet uses {self.name}, and archives can be imported only into containerd",
                f"Nothing was changed. Load the archive on this node yourself ({command}) and run again: an existing"
                " image with the expected name and id is not changed",
                self.socket,
            )
        if not self.ctr:
            raise ColocationError(
                "the program ctr is not in the directory of containerd, /usr/bin or /usr/local/bin",
                "Nothing was changed. Install ctr, which is part of every release of containerd",
                self.socket,
            )
        return self.ctr


def find_runtime(host: Host) -> Runtime:
    """The runtime at kubelet's endpoint; CriFailure if it does not respond."""
    agents = scan_processes(host, None)["agents"]
    endpoint = kubelets_endpoint(host, agents)
    socket = socket_path(endpoint)
    with ImageClient(host.real_path(socket)) as client:
        name = client.version().runtime_name
    processes = sort_by_endpoint(host, agents.get(CONTAINERD, []), endpoint)
    program = containerd_program(host, processes[0]["argv"] if processes else [])
    beside = [program] if program else []
    candidates = (os.path.join(os.path.dirname(program), "ctr") for program in (*beside, *CONTAINERD_PROGRAMS[:2]))
    ctr = next(
        (candidate for candidate in candidates if describe(host, candidate)["kind"] in ("regular", "symlink")), ""
    )
    return Runtime(socket, name, ctr)


def image_architecture(machine: str) -> str:
    """The architecture that images have for a machine of uname(2)."""
    return ARCHITECTURES.get(machine, machine)


NAMESPACE = "k8s.io"
"""Where containerd's CRI keeps images: internal/cri/constants K8sContainerdNamespace."""
IMPORT_SECONDS = 900.0
EVENT_SECONDS = 30.0
"""containerd's CRI receives an event for a new image: internal/cri/server/events.go."""
PAUSE = 0.5
IN_USE_PAUSE = 5.0
CHUNK = 1 << 20
HOLDER = "an imported image"


@dataclass(frozen=True)
class DesiredImage:
    """An image name, the ids that are allowed for this node's architecture, and the role that it is for."""

    name: str
    ids: tuple[str, ...]
    owner: str = AGENT

    def fits(self, current: Image | None) -> bool:
        return current is not None and current.id in self.ids and self.name in current.tags


@dataclass(frozen=True)
class RemainingImage:
    """An imported image that is not removed yet; ``container`` is the id of a container that uses it, or empty."""

    name: str
    id: str
    reason: str
    container: str = ""


def desired_image(name: str, images: Sequence[dict[str, str]], architecture: str, owner: str = AGENT) -> DesiredImage:
    """The image for a node of this architecture; ColocationError if the archive does not contain one."""
    ids = tuple(image["id"] for image in images if image["architecture"] == architecture)
    if not ids:
        has = ", ".join(sorted({image["architecture"] for image in images})) or "none"
        raise ColocationError(
            f"this node is {architecture}, and the archive contains {name} for {has}",
            "Nothing was changed. Save the image for all architectures (skopeo copy --all), or exclude this node",
        )
    return DesiredImage(name, ids, owner)


def find_image(host: Host, runtime: Runtime, image: DesiredImage) -> Image | None:
    """The current image with the name, or None. ColocationError if an import is needed and is not possible."""
    with runtime.client(host) as client:
        current = client.image(image.name)
    if not image.fits(current):
        runtime.importer(image.name)
    return current


def import_image(host: Host, runtime: Runtime, image: DesiredImage, archive: str, sha256: str, clock: Clock) -> Image:
    """Import an archive on this node, and wait until the CRI reports its image."""
    ctr = runtime.importer(image.name)
    if file_sha256(archive) != sha256:
        raise ColocationError(
            "the file differs from the file that was read on the controller",
            "Nothing was imported. Run this again",
            archive,
        )
    with hold(Store(host).lock_path, HOLDER), runtime.client(host) as client:
        before = image_record.load(host)
        # Recorded before the import: after an interruption, the image is known and can be removed.
        imported = tuple(ImportedImage(image.name, image_id, image.owner) for image_id in image.ids)
        remaining = tuple(record for record in before if record.name != image.name or record.id not in image.ids)
        image_record.save(host, (*remaining, *imported))
        where = (ctr, "--address", runtime.socket, "--namespace", NAMESPACE)
        base = image.name.rpartition(":")[0]
        result = host.run([*where, "images", "import", "--base-name", base, archive], IMPORT_SECONDS)
        if result.rc != 0:
            image_record.save(host, before)
            raise _import_error(result, image)
        live = _wait_for_image(client, image, clock)
        image_record.save(host, (*remaining, ImportedImage(image.name, live.id, image.owner)))
    return live


def _import_error(result: CommandResult, image: DesiredImage) -> ColocationError:
    lines = result.stderr.strip().splitlines()
    return ColocationError(
        f"{result.argv[0]} could not import {image.name}: {lines[-1] if lines else 'it gave no reason'}",
        "Check the log of containerd and the free disk space of its root directory, then run again",
    )


def _wait_for_image(client: ImageClient, image: DesiredImage, clock: Clock) -> Image:
    deadline = clock.monotonic() + EVENT_SECONDS
    while True:
        live = client.image(image.name)
        if live is not None and image.fits(live):
            return live
        if clock.monotonic() >= deadline:
            has = f"with the id {live.id}" if live else "as missing"
            raise ColocationError(
                f"ctr imported the archive, but after {EVENT_SECONDS:g} s the CRI reports {image.name} {has},"
                f" expected {' or '.join(image.ids)}",
                f"Compare with ctr --namespace {NAMESPACE} images ls, and run again",
            )
        clock.sleep(PAUSE)


def plan_removal(
    host: Host, runtime: Runtime, entries: Sequence[ImportedImage], leaving: Sequence[str] = ()
) -> tuple[list[ImportedImage], list[RemainingImage]]:
    """(entries to remove, whether or not their image still exists; images that remain, with the reason).

    ``leaving``: names of containers that will have ended by then.
    """
    removable, remaining = [], []
    with runtime.client(host) as client:
        uses = [use for use in client.uses() if use.name not in leaving]
        for entry in entries:
            image = _remaining_image(entry, client.image(entry.name), uses)
            if image:
                remaining.append(image)
            else:
                removable.append(entry)
    return removable, remaining


def _remaining_image(entry: ImportedImage, live: Image | None, uses: Sequence[ImageUse]) -> RemainingImage | None:
    """An imported image that must remain, with the reason; None if it can be removed, or does not exist."""
    if live is None or live.id != entry.id:
        return None
    for use in uses:
        if {entry.name, entry.id} & {*use.images, *map(with_digest_type, use.images)}:
            reason = f"the container {use.name} ({use.container[:12]}) uses it"
            return RemainingImage(entry.name, entry.id, reason, use.container)
    other_names = [name for name in (*live.tags, *live.digests) if name != entry.name]
    return RemainingImage(entry.name, entry.id, f"it also has another name, {other_names[0]}") if other_names else None


def remove_images(host: Host, runtime: Runtime, owner: str) -> tuple[list[ImportedImage], list[RemainingImage]]:
    """Remove the owner's images that no container uses, as ``plan_removal`` says; checked again under the lock."""
    with hold(Store(host).lock_path, HOLDER):
        entries = image_record.load(host)
        removed, remaining = plan_removal(host, runtime, [entry for entry in entries if entry.owner == owner])
        with runtime.client(host) as client:
            for entry in removed:
                live = client.image(entry.name)
                if live is not None and live.id == entry.id:
                    client.remove_image(entry.id)
        image_record.save(host, [entry for entry in entries if entry not in removed])
    return removed, remaining


def file_sha256(path: str) -> str:
    """SHA-256 of a file on this node, as hex digits."""
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as stream:
            for chunk in iter(lambda: stream.read(CHUNK), b""):
                digest.update(chunk)
    except OSError as error:
        raise ColocationError(f"cannot be read: {error.strerror}", "Run this again", path) from error
    return digest.hexdigest()


def ensure_present(host: Host, options: dict[str, Any], machine: str, clock: Clock) -> dict[str, Any]:
    """Check the image, and import it from ``archive``, a file on this node, if an import is needed."""
    desired = desired_image(options["image"], options["images"], image_architecture(machine), options["owner"])
    used = find_runtime(host)
    current = find_image(host, used, desired)
    needed = not desired.fits(current)
    before = current.id if current else ""
    after = desired.ids[0] if needed else before
    if needed:
        require_changeable(host, IMAGES)
        image_record.load(host)
        require_node_lock(host)
    if needed and options["archive"]:
        after = import_image(host, used, desired, options["archive"], options["sha256"], clock).id
    return {
        "changed": needed,
        "import_required": needed,
        "runtime": used.name,
        "image": {"name": desired.name, "id": after, "before": before},
        "diff": _diff(desired.name, before, after),
    }


def ensure_absent(host: Host, options: dict[str, Any], clock: Clock, *, check: bool) -> dict[str, Any]:
    """Remove the owner's recorded images; in check mode, list those to remove once some containers have ended.

    ``ignore_containers``: these containers. ``timeout``: seconds to wait for the end of all that use the images.
    kubelet removes ended containers once a minute.
    """
    owner = options["owner"]
    entries = [entry for entry in image_record.load(host) if entry.owner == owner]
    if not entries:
        return {"changed": False, "removed": [], "remaining": []}
    used = find_runtime(host)
    deadline = clock.monotonic() + options["timeout"]
    leaving = options["ignore_containers"]
    removed, remaining = plan_removal(host, used, entries, leaving) if check else remove_images(host, used, owner)
    while not check and any(image.container for image in remaining) and clock.monotonic() < deadline:
        clock.sleep(IN_USE_PAUSE)
        more, remaining = remove_images(host, used, owner)
        removed += more
    names = "".join(f"{entry.name} {entry.id}\n" for entry in removed)
    return {
        "changed": bool(removed),
        "removed": [entry.name for entry in removed],
        "remaining": [asdict(image) for image in remaining],
        "diff": {"before_header": "images", "after_header": "images", "before": names, "after": ""},
    }


def _diff(name: str, before: str, after: str) -> dict[str, str]:
    sides = {
        side: f"{name} {image_id}\n" if image_id else "" for side, image_id in (("before", before), ("after", after))
    }
    return {"before_header": "images", "after_header": "images", **sides}
