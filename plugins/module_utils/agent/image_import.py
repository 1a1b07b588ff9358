# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An image from an archive on a node: whether it is there, importing it, and removing it if we imported it.

Whether it is there says the CRI of the runtime that kubelet uses. Its id is the digest of the image's configuration,
which names the content of every layer, so that name and id together are what the archive says.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import asdict, dataclass
from typing import Any, Sequence

from ..cri.image_client import Image, ImageClient, ImageUse, with_digest_type
from ..cri.runtime_client import socket_path
from ..errors import ColocationError
from ..host import Clock, CommandResult, Host
from ..snapshot.file_evidence import describe
from ..snapshot.immutable_systems import IMAGES, require_changeable
from ..snapshot.process_evidence import scan_processes
from ..snapshot.runtime_evidence import kubelets_endpoint
from ..snapshot.runtime_files import CONTAINERD_PROGRAMS, containerd_program, sort_by_endpoint
from ..state import image_record
from ..state.image_record import ImportedImage
from ..state.node_lock import hold, require_node_lock
from ..state.store import Store

CONTAINERD = "containerd"
MANUAL_COMMANDS = {
    "cri-o": "skopeo copy oci-archive:FILE containers-storage:{name}",
    "docker": "docker load --input FILE",
}
"""What those who know these runtimes load an archive with; nobody tried it for us."""

ARCHITECTURES = {
    "x86_64": "amd64",
    "aarch64": "arm64",
    "armv7l": "arm",
    "armv6l": "arm",
    "i686": "386",
    "loongarch64": "loong64",
}
"""As images name them (GOARCH) by uname(2)'s machine, where both differ: containerd/platforms normalizeArch."""


@dataclass(frozen=True)
class Runtime:
    """``socket`` is the path that kubelet was given, ``ctr`` the program beside containerd, empty where none is."""

    socket: str
    name: str
    ctr: str

    def client(self, host: Host) -> ImageClient:
        return ImageClient(host.real_path(self.socket))

    def importer(self, image: str) -> str:
        """The program that imports; ColocationError where this runtime has none that we would start."""
        if self.name != CONTAINERD:
            hand = MANUAL_COMMANDS.get(self.name, "its own program").format(name=image)
            raise ColocationError(
                f"kubelet uses {self.name}, and archives are imported into containerd only",
                f"Nothing was changed. Load the archive on this node by hand ({hand}) and run again: an image that is"
                " there with the right name and id is left as it is",
                self.socket,
            )
        if not self.ctr:
            raise ColocationError(
                "there is no ctr beside containerd, nor in /usr/bin or /usr/local/bin",
                "Nothing was changed. Install it, it is part of every release of containerd",
                self.socket,
            )
        return self.ctr


def find_runtime(host: Host) -> Runtime:
    """The runtime behind kubelet's endpoint; CriFailure when it does not answer."""
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
    """Of uname(2)'s machine, the name that images give it."""
    return ARCHITECTURES.get(machine, machine)


NAMESPACE = "k8s.io"
"""Where containerd's CRI keeps images: internal/cri/constants K8sContainerdNamespace."""
IMPORT_SECONDS = 900.0
EVENT_SECONDS = 30.0
"""containerd's CRI hears of a new image by an event: internal/cri/server/events.go."""
PAUSE = 0.5
CHUNK = 1 << 20
HOLDER = "an image of the Volcano agent"


@dataclass(frozen=True)
class DesiredImage:
    """A name and the ids that this node may have under it: those of its architecture."""

    name: str
    ids: tuple[str, ...]

    def fits(self, current: Image | None) -> bool:
        return current is not None and current.id in self.ids and self.name in current.tags


@dataclass(frozen=True)
class RemainingImage:
    """An image that we imported and that stays for now; ``container`` is the id of one that uses it, if one does."""

    name: str
    id: str
    reason: str
    container: str = ""


def desired_image(name: str, holds: Sequence[dict[str, str]], architecture: str) -> DesiredImage:
    """What a node of this architecture is to have; ColocationError where the archive has nothing for it."""
    ids = tuple(held["id"] for held in holds if held["architecture"] == architecture)
    if not ids:
        has = ", ".join(sorted({held["architecture"] for held in holds})) or "none"
        raise ColocationError(
            f"this node is {architecture}, and the archive holds {name} for {has}",
            "Nothing was changed. Save an image for it too (skopeo copy --all), or leave this node out",
        )
    return DesiredImage(name, ids)


def find_image(host: Host, runtime: Runtime, image: DesiredImage) -> Image | None:
    """What is there under the name; None for nothing. ColocationError where it would have to be imported and cannot."""
    with runtime.client(host) as client:
        current = client.image(image.name)
    if not image.fits(current):
        runtime.importer(image.name)
    return current


def import_image(host: Host, runtime: Runtime, image: DesiredImage, archive: str, sha256: str, clock: Clock) -> Image:
    """Import the archive, which lies on this node, and have the CRI say that its image is there."""
    ctr = runtime.importer(image.name)
    if file_sha256(archive) != sha256:
        raise ColocationError(
            "it is not the file that was read on the controller", "Nothing was imported. Run this again", archive
        )
    with hold(Store(host).lock_path, HOLDER), runtime.client(host) as client:
        before = image_record.load(host)
        # Known before it is there, so that a cut does not leave an image that nobody takes away.
        imported = tuple(ImportedImage(image.name, image_id) for image_id in image.ids)
        image_record.save(host, (*(record for record in before if record not in imported), *imported))
        where = (ctr, "--address", runtime.socket, "--namespace", NAMESPACE)
        base = image.name.rpartition(":")[0]
        result = host.run([*where, "images", "import", "--base-name", base, archive], IMPORT_SECONDS)
        if result.rc != 0:
            image_record.save(host, before)
            raise _import_error(result, image)
        live = _wait_for_image(client, image, clock)
        image_record.save(
            host, (*(record for record in before if record not in imported), ImportedImage(image.name, live.id))
        )
    return live


def _import_error(result: CommandResult, image: DesiredImage) -> ColocationError:
    lines = result.stderr.strip().splitlines()
    return ColocationError(
        f"{result.argv[0]} could not import {image.name}: {lines[-1] if lines else 'it gave no reason'}",
        "See the log of containerd and the free space below its root, then run again",
    )


def _wait_for_image(client: ImageClient, image: DesiredImage, clock: Clock) -> Image:
    deadline = clock.monotonic() + EVENT_SECONDS
    while True:
        live = client.image(image.name)
        if live is not None and image.fits(live):
            return live
        if clock.monotonic() >= deadline:
            has = f"has the id {live.id}" if live else "is not there"
            raise ColocationError(
                f"ctr imported the archive, and after {EVENT_SECONDS:g} s {image.name} {has} by the CRI's word,"
                f" in place of {' or '.join(image.ids)}",
                f"Compare with ctr --namespace {NAMESPACE} images ls, and run again",
            )
        clock.sleep(PAUSE)


def plan_removal(
    host: Host, runtime: Runtime, entries: Sequence[ImportedImage], leaving: Sequence[str] = ()
) -> tuple[list[ImportedImage], list[RemainingImage]]:
    """(entries to be dropped, with or without an image that goes; what stays and why) of what we imported.

    ``leaving``: names of containers that will have gone by then.
    """
    removable, remaining = [], []
    with runtime.client(host) as client:
        uses = [use for use in client.uses() if use.name not in leaving]
        for entry in entries:
            stays = _reason_to_keep(entry, client.image(entry.name), uses)
            if stays:
                remaining.append(stays)
            else:
                removable.append(entry)
    return removable, remaining


def _reason_to_keep(entry: ImportedImage, live: Image | None, uses: Sequence[ImageUse]) -> RemainingImage | None:
    """Why an image that we imported has to stay; None where it may go, or went."""
    if live is None or live.id != entry.id:
        return None
    for use in uses:
        if {entry.name, entry.id} & {*use.images, *map(with_digest_type, use.images)}:
            reason = f"the container {use.name} ({use.container[:12]}) uses it"
            return RemainingImage(entry.name, entry.id, reason, use.container)
    other_names = [name for name in (*live.tags, *live.digests) if name != entry.name]
    return (
        RemainingImage(entry.name, entry.id, f"somebody gave it another name, {other_names[0]}")
        if other_names
        else None
    )


def remove_images(host: Host, runtime: Runtime) -> tuple[list[ImportedImage], list[RemainingImage]]:
    """Take away what we imported and nobody uses: as ``plan_removal`` says, checked again under the lock."""
    with hold(Store(host).lock_path, HOLDER):
        entries = image_record.load(host)
        removed, remaining = plan_removal(host, runtime, entries)
        with runtime.client(host) as client:
            for entry in removed:
                live = client.image(entry.name)
                if live is not None and live.id == entry.id:
                    client.remove_image(entry.id)
        image_record.save(host, [entry for entry in entries if entry not in removed])
    return removed, remaining


def file_sha256(path: str) -> str:
    """Of a file that was sent here."""
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as stream:
            for chunk in iter(lambda: stream.read(CHUNK), b""):
                digest.update(chunk)
    except OSError as error:
        raise ColocationError(f"cannot be read: {error.strerror}", "Run this again", path) from error
    return digest.hexdigest()


def ensure_present(host: Host, options: dict[str, Any], machine: str, clock: Clock) -> dict[str, Any]:
    """Look, and import ``archive``, a file of this node, if there is one and it is needed."""
    desired = desired_image(options["image"], options["images"], image_architecture(machine))
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


def ensure_absent(host: Host, leaving: list[str], *, check: bool) -> dict[str, Any]:
    """Take away what is noted, or tell what would go once the containers that are ``leaving`` have ended."""
    entries = image_record.load(host)
    if not entries:
        return {"changed": False, "removed": [], "remaining": []}
    used = find_runtime(host)
    removed, remaining = plan_removal(host, used, entries, leaving) if check else remove_images(host, used)
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
