# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small clients of the Container Runtime Interface.

``CriClient`` makes calls of the RuntimeService that kubelet makes too, ``ImageClient`` those of the ImageService. Field
numbers: kubernetes/cri-api pkg/apis/runtime/v1/api.proto; those of images are the same in v1alpha2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, TypeVar

from . import messages, protobuf
from .grpc import NOT_FOUND, UNIMPLEMENTED, Channel, CriError, CriUnavailable
from .messages import Container, Exit, PodSandbox, RuntimeStatus, RuntimeVersion
from .protobuf import Fields, ProtobufError

APIS = ("v1", "v1alpha2")
"""In order of preference; containerd serves both up to 1.7, only v1 from 2.0."""
SCHEMES = ("unix://", "unix:")
CRI_TIMEOUT = 10.0

Decoded = TypeVar("Decoded")


def socket_path(endpoint: str) -> str:
    """The path of ``unix:///run/x.sock``, ``unix:/run/x.sock`` or ``/run/x.sock``."""
    path = endpoint
    for scheme in SCHEMES:
        if endpoint.startswith(scheme):
            path = endpoint[len(scheme) :]
            break
    if not path.startswith("/"):
        raise CriUnavailable(
            f"the container runtime's endpoint {endpoint!r} is not a unix socket",
            "Use the form unix:///run/containerd/containerd.sock",
        )
    return path


class CriClient:
    """One runtime, connected on first use. Every call takes at most ``timeout`` seconds.

    CriUnavailable without a response, CriError for a status other than OK.
    """

    def __init__(self, endpoint: str, timeout: float = CRI_TIMEOUT) -> None:
        self._path = socket_path(endpoint)
        self._timeout = timeout
        self._channel: Channel | None = None
        self._api: str | None = None

    def __enter__(self) -> CriClient:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; a later call opens a new one."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def version(self) -> RuntimeVersion:
        """Name and version of the runtime."""
        api, data = self._negotiate()
        return self._decode(data, lambda response: messages.version_response(response, api))

    def status(self) -> RuntimeStatus:
        """Conditions and the verbose info map."""
        return self._decode(self._call("Status", messages.status_request()), messages.status_response)

    def cgroup_driver(self) -> str | None:
        """The driver that kubelet must use (RuntimeConfig, KEP-4033); CriError UNIMPLEMENTED from older runtimes."""
        return self._decode(self._call("RuntimeConfig", b""), messages.runtime_config_response)

    def pod_sandboxes(self) -> list[PodSandbox]:
        """All sandboxes, ready or not."""
        return self._decode(self._call("ListPodSandbox", b""), messages.sandboxes_response)

    def containers(self) -> list[Container]:
        """All containers in any state."""
        return self._decode(self._call("ListContainers", b""), messages.containers_response)

    def container_pid(self, container_id: str) -> int | None:
        """PID of the container's first process; None if the container is deleted or the runtime does not report it."""
        return self._of_container(container_id, messages.container_pid)

    def container_exit(self, container_id: str) -> Exit | None:
        """How the container ended; None if it is running or deleted."""
        return self._of_container(container_id, messages.container_exit)

    def stop_pod_sandbox(self, sandbox_id: str) -> None:
        """Stop a sandbox and its containers; no error if it is already stopped or deleted."""
        self._on_sandbox("StopPodSandbox", sandbox_id)

    def remove_pod_sandbox(self, sandbox_id: str) -> None:
        """Remove a sandbox and its containers; no error if it is already deleted."""
        self._on_sandbox("RemovePodSandbox", sandbox_id)

    def _of_container(self, container_id: str, decoder: Callable[[bytes], Decoded | None]) -> Decoded | None:
        try:
            data = self._call("ContainerStatus", messages.container_status_request(container_id))
        except CriError as error:
            if error.code == NOT_FOUND:
                return None
            raise
        return self._decode(data, decoder)

    def _on_sandbox(self, method: str, sandbox_id: str) -> None:
        # api.proto requires both calls to be idempotent, but containerd 1.6 returns NOT_FOUND for StopPodSandbox.
        try:
            self._call(method, messages.sandbox_request(sandbox_id))
        except CriError as error:
            if error.code != NOT_FOUND:
                raise

    def _call(self, method: str, request: bytes) -> bytes:
        if self._api is None:
            self._negotiate()
        return self._send(f"runtime.{self._api}.RuntimeService", method, request)

    def _negotiate(self) -> tuple[str, bytes]:
        """Find the newest API of the server: it returns UNIMPLEMENTED to Version for a missing service."""
        for api in APIS:
            try:
                data = self._send(f"runtime.{api}.RuntimeService", "Version", b"")
            except CriError as error:
                if error.code != UNIMPLEMENTED:
                    raise
                continue
            self._api = api
            return api, data
        # containerd#4581: docker's containerd.io package ships disabled_plugins = ["cri"].
        raise CriError(
            UNIMPLEMENTED,
            f"{self._path} serves neither CRI v1 nor v1alpha2",
            'Check that "cri" is not in disabled_plugins of the runtime\'s configuration',
        )

    def _send(self, service: str, method: str, request: bytes) -> bytes:
        if self._channel is None:
            self._channel = Channel(self._path, self._timeout)
        try:
            return self._channel.call(service, method, request)
        except CriUnavailable:
            self.close()
            raise

    def _decode(self, data: bytes, decoder: Callable[[bytes], Decoded]) -> Decoded:
        try:
            return decoder(data)
        except ProtobufError as error:
            raise CriUnavailable(f"the server at {self._path} sent a message that cannot be read: {error}") from error


@dataclass(frozen=True)
class Image:
    """message Image. ``id`` with sha256:, which CRI-O omits; ``tags`` and ``digests`` are complete names."""

    id: str
    tags: tuple[str, ...]
    digests: tuple[str, ...]


@dataclass(frozen=True)
class ImageUse:
    """A container's image: the one that was requested and the one that the runtime resolved."""

    container: str
    name: str
    images: tuple[str, ...]


class ImageClient(CriClient):
    """A CriClient with the calls of the ImageService."""

    def __enter__(self) -> ImageClient:
        return self

    def image(self, name: str) -> Image | None:
        """The image that kubelet would find for a name or an ID; None if there is none."""
        return self._decode(self._ask("ImageStatus", _image_request(name)), _image_response)

    def remove_image(self, name: str) -> None:
        """Remove an image with all its names; no error if it does not exist (containerd image_remove.go)."""
        self._ask("RemoveImage", _image_request(name))

    def uses(self) -> list[ImageUse]:
        """The images of all containers in any state."""
        return self._decode(self._call("ListContainers", b""), _uses)

    def _ask(self, method: str, request: bytes) -> bytes:
        if self._api is None:
            self._negotiate()
        return self._send(f"runtime.{self._api}.ImageService", method, request)


class _Texts(Fields):
    def texts(self, field: int) -> tuple[str, ...]:
        """The values of a repeated string."""
        return tuple(self._bytes(text, field).decode("utf-8", "replace") for text in self._values.get(field, ()))

    def raw(self, field: int) -> bytes:
        return self._bytes(self._values.get(field, [b""])[-1], field)


def _image_request(name: str) -> bytes:
    """messages ImageStatusRequest and RemoveImageRequest: image 1 (ImageSpec: image 1)."""
    spec = protobuf.text_field(1, name)
    return protobuf.varint(1 << 3 | protobuf.BYTES) + protobuf.varint(len(spec)) + spec


def _image_response(data: bytes) -> Image | None:
    """message ImageStatusResponse: image 1 (Image: id 1, repo_tags 2, repo_digests 3); None without image."""
    response = _Texts(data)
    if not response.has(1):
        return None
    image = _Texts(response.raw(1))
    return Image(with_digest_type(image.text(1)), image.texts(2), image.texts(3))


def _uses(data: bytes) -> list[ImageUse]:
    """message ListContainersResponse: containers 1 (Container: id 1, metadata 3, image 4, image_ref 5, image_id 10)."""
    return [
        ImageUse(
            container.text(1),
            container.message(3).text(1),
            (container.message(4).text(1), container.text(5), container.text(10)),
        )
        for container in Fields(data).messages(1)
    ]


def with_digest_type(identity: str) -> str:
    """An image's ID with the algorithm of its digest."""
    return identity if not identity or ":" in identity else f"sha256:{identity}"
