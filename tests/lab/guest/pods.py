# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on a node without kubelet: starts a pod of each QoS class over CRI, in the cgroups that kubelet would use.

``/etc/lab/pods.json`` has the cgroup driver and the pods. Earlier pods are removed.
Field numbers: kubernetes/cri-api pkg/apis/runtime/v1/api.proto.
"""

from __future__ import annotations

import json
import socket
import time
import uuid
from typing import Any

from ansible_collections.volcano.colocation.plugins.module_utils.cri.grpc import Channel, CriFailure
from ansible_collections.volcano.colocation.plugins.module_utils.cri.protobuf import (
    BYTES,
    VARINT,
    Fields,
    text_field,
    varint,
)
from ansible_collections.volcano.colocation.plugins.module_utils.cri.runtime_client import CriClient

SOCKET = "/run/containerd/containerd.sock"
SERVICE = "runtime.v1.RuntimeService"
TIMEOUT = 120.0
NODE_NETWORK = 2
"""enum NamespaceMode: POD 0, CONTAINER 1, NODE 2."""


def message(number: int, content: bytes) -> bytes:
    return varint(number << 3 | BYTES) + varint(len(content)) + content


def number_field(number: int, value: int) -> bytes:
    return varint(number << 3 | VARINT) + varint(value) if value else b""


def cgroup_parent(driver: str, qos_class: str, uid: str) -> str:
    """kubelet's name of a pod's cgroup: pkg/kubelet/cm/pod_container_manager_linux.go, cgroup_manager_linux.go."""
    above = ["kubepods"] if qos_class == "guaranteed" else ["kubepods", qos_class]
    if driver == "cgroupfs":
        return "/" + "/".join([*above, "pod" + uid])
    parts = [*above, "pod" + uid.replace("-", "_")]
    return "/" + "/".join("-".join(parts[: depth + 1]) + ".slice" for depth in range(len(parts)))


def sandbox_config(pod: dict[str, Any], driver: str) -> bytes:
    """message PodSandboxConfig: metadata 1, log_directory 3, linux 8."""
    uid = str(uuid.uuid5(uuid.NAMESPACE_DNS, pod["name"] + "." + socket.gethostname()))
    metadata = text_field(1, pod["name"]) + text_field(2, uid) + text_field(3, "default")
    network = message(1, number_field(1, NODE_NETWORK))
    linux = text_field(1, cgroup_parent(driver, pod["name"], uid)) + message(2, network)
    return message(1, metadata) + text_field(3, "/var/log/pods/" + uid) + message(8, linux)


def container_config(pod: dict[str, Any]) -> bytes:
    """message ContainerConfig: metadata 1, image 2, command 3, log_path 11, linux 15."""
    command = b"".join(text_field(3, word) for word in pod["command"])
    resources = b"".join(number_field(number, pod[name]) for number, name in RESOURCES.items())
    # LinuxContainerSecurityContext: namespace_options 3
    linux = message(1, resources) + message(2, message(3, number_field(1, NODE_NETWORK)))
    image = message(2, text_field(1, pod["image"]))
    return message(1, text_field(1, "main")) + image + command + text_field(11, "main.log") + message(15, linux)


RESOURCES = {1: "cpu_period", 2: "cpu_quota", 3: "cpu_shares", 4: "memory_limit"}
"""message LinuxContainerResources."""


def run(channel: Channel, pod: dict[str, Any], driver: str) -> None:
    """RunPodSandbox, CreateContainer, StartContainer."""
    config = sandbox_config(pod, driver)
    sandbox = Fields(channel.call(SERVICE, "RunPodSandbox", message(1, config))).text(1)
    request = text_field(1, sandbox) + message(2, container_config(pod)) + message(3, config)
    container = Fields(channel.call(SERVICE, "CreateContainer", request)).text(1)
    channel.call(SERVICE, "StartContainer", text_field(1, container))
    print("pod", pod["name"], "runs in sandbox", sandbox, flush=True)


def start(settings: dict[str, Any]) -> None:
    """Remove earlier pods, then run each pod."""
    with CriClient("unix://" + SOCKET, TIMEOUT) as client:
        for sandbox in client.pod_sandboxes():
            client.stop_pod_sandbox(sandbox.id)
            client.remove_pod_sandbox(sandbox.id)
    channel = Channel(SOCKET, TIMEOUT)
    try:
        for pod in settings["pods"]:
            run(channel, pod, settings["driver"])
    finally:
        channel.close()


def main() -> None:
    """Start the pods, again after errors: containerd listens before it has read its state, and reserves the name of a
    sandbox whose creation was interrupted.
    """
    with open("/etc/lab/pods.json") as stream:
        settings = json.load(stream)
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            start(settings)
            return
        except CriFailure as error:
            if time.monotonic() > deadline:
                raise
            print("trying again:", error, flush=True)
            time.sleep(1)


if __name__ == "__main__":
    main()
