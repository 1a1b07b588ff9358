# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node whose runtime keeps images and answers over a real socket, and whose ctr imports into it."""

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
    """A container with what it was made of: image 4 (ImageSpec: image 1), image_ref 5, image_id 10."""

    asked: str = ""
    reference: str = ""
    image: str = ""


@dataclass
class ImageRuntime(cri_server.Runtime):
    """One with the ImageService. ``deaf``: how many questions pass until it has heard of what was imported."""

    images: list[Image] = field(default_factory=list)
    deaf: int = 0
    imported: list[Image] = field(default_factory=list)
    bare_ids: bool = False

    def answer(self, stream: int, path: str, message: bytes) -> list[bytes]:
        service, method = path[1:].split("/")
        if service != f"runtime.{self.api}.ImageService":
            return super().answer(stream, path, message)
        self.calls.append(method)
        # ImageStatusRequest, RemoveImageRequest: image 1 (ImageSpec: image 1); all lengths here fit one octet.
        spec = message[2 : 2 + message[1]]
        name = spec[2 : 2 + spec[1]].decode()
        found = self._find(name)
        if method == "ImageStatus":
            return cri_server.ok(stream, cri_server.length_delimited(1, self._image(found)) if found else b"")
        assert method == "RemoveImage"
        self.images = [each for each in self.images if each is not found]
        return cri_server.ok(stream, b"")

    def _find(self, name: str) -> Image | None:
        self.deaf -= 1
        if self.deaf < 0 and self.imported:
            new = self.imported.pop()
            for each in self.images:
                each.tags = [tag for tag in each.tags if tag not in new.tags]
            self.images = [*(each for each in self.images if each.id != new.id), new]
        return next((each for each in self.images if name in (each.id, *each.tags, *each.digests)), None)

    def _image(self, image: Image) -> bytes:
        identity = image.id[7:] if self.bare_ids else image.id
        repeated = [cri_server.text(2, tag) for tag in image.tags]
        repeated += [cri_server.text(3, each) for each in image.digests]
        return cri_server.text(1, identity) + b"".join(repeated) + cri_server.number(4, 1 << 30)

    def _list_containers(self, stream: int, _message: bytes) -> list[bytes]:
        items = b""
        for each in self.containers:
            entry = cri_server.text(1, each.id) + cri_server.length_delimited(3, cri_server.text(1, each.name))
            if isinstance(each, Made):
                entry += cri_server.length_delimited(4, cri_server.text(1, each.asked))
                entry += cri_server.text(5, each.reference)
                entry += cri_server.text(10, each.image)
            items += cri_server.length_delimited(1, entry)
        return cri_server.ok(stream, items)


class Quick(Clock):
    """Sleeping takes no time."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class ImageNode:
    """``host`` to give to what is tested, ``runtime`` to look at."""

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
        return [each for each in self.host.commands if "import" in each]


def imports(node: ImageNode, argv: Sequence[str]) -> str:
    """ctr as of containerd 1.7, cmd/ctr/commands/images/import.go; a line of what it prints on a node."""
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
    """A node of containerd that listens at its usual place; ``program``: where ctr is."""
    found = ImageNode(root, runtime, ctr)
    found.write(SOCKET).unlink()
    if program:
        found.write(program)
    with cri_server.serving(Path(found.host.path(SOCKET)), runtime.converse):
        yield found
