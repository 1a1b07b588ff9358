# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node whose runtime stores images and responds over a real socket, and whose ctr imports into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ansible_collections.volcano.colocation.plugins.module_utils.host import Clock
from ansible_collections.volcano.colocation.tests.support.node import cri_server
from ansible_collections.volcano.colocation.tests.support.node.scripted_host import AnsweringHost, Refusal

SOCKET = "/run/containerd/containerd.sock"
NAME = "docker.io/volcanosh/vc-agent:v1.14.0"
ID, OTHER_ID = "sha256:" + "1" * 64, "sha256:" + "2" * 64


@dataclass
class Image:
    id: str
    tags: list[str] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)


@dataclass
class Made(cri_server.Container):
    """A container with its image: image 4 (ImageSpec: image 1), image_ref 5, image_id 10."""

    asked: str = ""
    reference: str = ""
    image: str = ""


@dataclass
class ImageRuntime(cri_server.Runtime):
    """A runtime with the ImageService. ``deaf``: number of requests until it knows of an import."""

    images: list[Image] = field(default_factory=list)
    deaf: int = 0
    imported: list[Image] = field(default_factory=list)
    bare_ids: bool = False

    def respond(self, stream: int, path: str, message: bytes) -> list[bytes]:
        service, method = path[1:].split("/")
        if service != f"runtime.{self.api}.ImageService":
            return super().respond(stream, path, message)
        self.calls.append(method)
        # ImageStatusRequest, RemoveImageRequest: image 1 (ImageSpec: image 1); all lengths here fit one octet.
        spec = message[2 : 2 + message[1]]
        name = spec[2 : 2 + spec[1]].decode()
        image = self._find(name)
        if method == "ImageStatus":
            return cri_server.ok(stream, cri_server.length_delimited(1, self._image(image)) if image else b"")
        assert method == "RemoveImage"
        self.images = [existing for existing in self.images if existing is not image]
        return cri_server.ok(stream, b"")

    def _find(self, name: str) -> Image | None:
        self.deaf -= 1
        if self.deaf < 0 and self.imported:
            new = self.imported.pop()
            for image in self.images:
                image.tags = [tag for tag in image.tags if tag not in new.tags]
            self.images = [*(image for image in self.images if image.id != new.id), new]
        return next((image for image in self.images if name in (image.id, *image.tags, *image.digests)), None)

    def _image(self, image: Image) -> bytes:
        identity = image.id[7:] if self.bare_ids else image.id
        repeated = [cri_server.text(2, tag) for tag in image.tags]
        repeated += [cri_server.text(3, digest) for digest in image.digests]
        return cri_server.text(1, identity) + b"".join(repeated) + cri_server.number(4, 1 << 30)

    def _list_containers(self, stream: int, _message: bytes) -> list[bytes]:
        items = b""
        for container in self.containers:
            entry = cri_server.text(1, container.id) + cri_server.length_delimited(
                3, cri_server.text(1, container.name)
            )
            if isinstance(container, Made):
                entry += cri_server.length_delimited(4, cri_server.text(1, container.asked))
                entry += cri_server.text(5, container.reference)
                entry += cri_server.text(10, container.image)
            items += cri_server.length_delimited(1, entry)
        return cri_server.ok(stream, items)


class Quick(Clock):
    """A clock whose sleep returns immediately."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class ImageNode:
    """A node: ``host`` is for the tested code, ``runtime`` for assertions."""

    def __init__(self, root: Path, runtime: ImageRuntime, ctr: Callable[[ImageNode, Sequence[str]], str]) -> None:
        self.runtime = runtime
        self.host = AnsweringHost(root, lambda argv: ctr(self, argv))
        self.clock = Quick()

    def write(self, path: str, content: bytes = b"") -> Path:
        target = Path(self.host.path(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        return target

    def imports(self) -> list[tuple[str, ...]]:
        return [command for command in self.host.commands if "import" in command]


def imports(node: ImageNode, argv: Sequence[str]) -> str:
    """ctr as in containerd 1.7, cmd/ctr/commands/images/import.go, with a line of its output on a node."""
    assert Path(argv[-1]).is_file()
    node.runtime.imported.append(Image(ID, [NAME]))
    return f"unpacking {NAME} (sha256:{'a' * 64})...done\n"


def refuses(_node: ImageNode, _argv: Sequence[str]) -> str:
    raise Refusal("ctr: failed to copy: no space left on device\n")


@contextmanager
def node(
    root: Path,
    runtime: ImageRuntime,
    ctr: Callable[[ImageNode, Sequence[str]], str] = imports,
    program: str = "/usr/bin/ctr",
) -> Iterator[ImageNode]:
    """A node whose containerd listens at its default socket; ``program``: path of ctr."""
    image_node = ImageNode(root, runtime, ctr)
    image_node.write(SOCKET).unlink()
    if program:
        image_node.write(program)
    with cri_server.serving(Path(image_node.host.path(SOCKET)), runtime.converse):
        yield image_node
