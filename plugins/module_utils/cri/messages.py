# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The CRI messages that the client sends and reads.

Field numbers: kubernetes/cri-api pkg/apis/runtime/v1/api.proto; those used here are the same in v1alpha2.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum

from . import protobuf
from .protobuf import Fields


class SandboxState(str, Enum):
    """enum PodSandboxState: SANDBOX_READY 0, SANDBOX_NOTREADY 1."""

    READY = "READY"
    NOT_READY = "NOTREADY"


class ContainerState(str, Enum):
    """enum ContainerState, without the prefix CONTAINER_."""

    CREATED = "CREATED"
    RUNNING = "RUNNING"
    EXITED = "EXITED"
    UNKNOWN = "UNKNOWN"


CGROUP_DRIVERS = {0: "systemd", 1: "cgroupfs"}
"""enum CgroupDriver; proto3 omits 0, so an empty LinuxRuntimeConfiguration means systemd."""

NANOSECONDS = 1e9
CONTAINER_STATES = {0: ContainerState.CREATED, 1: ContainerState.RUNNING, 2: ContainerState.EXITED}


@dataclass(frozen=True)
class RuntimeVersion:
    """message VersionResponse; ``api`` is the service that responded, v1 or v1alpha2."""

    runtime_name: str
    runtime_version: str
    api: str


@dataclass(frozen=True)
class Condition:
    """message RuntimeCondition."""

    name: str
    status: bool
    reason: str
    message: str


@dataclass(frozen=True)
class RuntimeStatus:
    """message StatusResponse. ``info`` values are JSON texts; containerd puts its CRI configuration under "config"."""

    conditions: tuple[Condition, ...]
    info: dict[str, str]

    @property
    def ready(self) -> bool:
        """The condition RuntimeReady. NetworkReady does not count: host network pods do not need it."""
        return any(condition.status for condition in self.conditions if condition.name == "RuntimeReady")


@dataclass(frozen=True)
class PodSandbox:
    """message PodSandbox. ``created`` in nanoseconds since 1970; ``labels`` are keys, including those of the pod."""

    id: str
    state: SandboxState
    name: str
    namespace: str
    uid: str
    runtime_handler: str
    created: int = 0
    labels: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Container:
    """message Container."""

    id: str
    sandbox_id: str
    state: ContainerState
    name: str
    attempt: int = 0


@dataclass(frozen=True)
class Exit:
    """How a container ended: its exit code, and when, in seconds since 1970."""

    code: int
    finished: float


def version_response(data: bytes, api: str) -> RuntimeVersion:
    """message VersionResponse: runtime_name 2, runtime_version 3."""
    fields = Fields(data)
    return RuntimeVersion(fields.text(2), fields.text(3), api)


def status_request() -> bytes:
    """message StatusRequest: verbose 1."""
    return protobuf.true_field(1)


def status_response(data: bytes) -> RuntimeStatus:
    """message StatusResponse: status 1 (RuntimeStatus: conditions 1), info 2."""
    fields = Fields(data)
    conditions = tuple(
        Condition(entry.text(1), bool(entry.number(2)), entry.text(3), entry.text(4))
        for entry in fields.message(1).messages(1)
    )
    return RuntimeStatus(conditions, fields.text_map(2))


def runtime_config_response(data: bytes) -> str | None:
    """message RuntimeConfigResponse: linux 1 (LinuxRuntimeConfiguration: cgroup_driver 1).

    None where ``linux`` is absent: kubelet, too, then keeps its own driver (cmd/kubelet/app/server.go).
    """
    fields = Fields(data)
    return CGROUP_DRIVERS.get(fields.message(1).number(1)) if fields.has(1) else None


def sandbox_request(sandbox_id: str) -> bytes:
    """messages StopPodSandboxRequest and RemovePodSandboxRequest: pod_sandbox_id 1."""
    return protobuf.text_field(1, sandbox_id)


def sandboxes_response(data: bytes) -> list[PodSandbox]:
    """message ListPodSandboxResponse: items 1.

    PodSandbox: id 1, metadata 2, state 3, created_at 4, labels 5, runtime_handler 7.
    """
    return [_sandbox(entry) for entry in Fields(data).messages(1)]


def _sandbox(entry: Fields) -> PodSandbox:
    # message PodSandboxMetadata: name 1, uid 2, namespace 3
    metadata = entry.message(2)
    state = SandboxState.NOT_READY if entry.number(3) else SandboxState.READY
    labels = frozenset(entry.text_map(5))
    names = metadata.text(1), metadata.text(3), metadata.text(2)
    return PodSandbox(entry.text(1), state, *names, entry.text(7), entry.number(4), labels)


def containers_response(data: bytes) -> list[Container]:
    """message ListContainersResponse: containers 1."""
    return [_container(entry) for entry in Fields(data).messages(1)]


def _container(entry: Fields) -> Container:
    # message Container: id 1, pod_sandbox_id 2, metadata 3 (ContainerMetadata: name 1, attempt 2), state 6
    state = CONTAINER_STATES.get(entry.number(6), ContainerState.UNKNOWN)
    metadata = entry.message(3)
    return Container(entry.text(1), entry.text(2), state, metadata.text(1), metadata.number(2))


def container_status_request(container_id: str) -> bytes:
    """message ContainerStatusRequest: container_id 1, verbose 2."""
    return protobuf.text_field(1, container_id) + protobuf.true_field(2)


def container_pid(data: bytes) -> int | None:
    """The PID in the verbose part of message ContainerStatusResponse (info 2); None without one.

    containerd and CRI-O both return info["info"] as a JSON object with "pid"
    (containerd internal/cri/server/container_status.go toCRIContainerInfo; cri-o server/container_status.go).
    """
    try:
        document = json.loads(Fields(data).text_map(2).get("info", ""))
    except ValueError:
        return None
    pid = document.get("pid") if isinstance(document, dict) else None
    return pid if isinstance(pid, int) and pid > 0 else None


def container_exit(data: bytes) -> Exit | None:
    """message ContainerStatusResponse: status 1 (ContainerStatus: state 3, finished_at 6, exit_code 7).

    None for a container that has not ended.
    """
    status = Fields(data).message(1)
    if CONTAINER_STATES.get(status.number(3)) is not ContainerState.EXITED:
        return None
    return Exit(status.number(7), status.number(6) / NANOSECONDS)
