# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Volcano's programs and KWOK beside a control plane, without nodes: KWOK keeps Nodes and runs pods on paper.

Each program of Volcano has the arguments of its Deployment, the rights of the Deployment's ServiceAccount and the
configuration of its ConfigMaps; only paths and addresses are those of this machine.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from .. import command, programs
from ..cache import Cache
from ..ports import free_ports
from ..program_table import KWOK, KWOK_STAGES, VOLCANO, VOLCANO_MANIFEST
from ..progress import Progress
from . import control_plane, daemons, kubeadm
from .components import HOST, Component
from .store import ControlPlane

VOLCANO_FAMILY = "volcano-1.14"
KWOK_FAMILY = "kwok-0.8"
NAMESPACE = "volcano-system"
SCHEDULER, CONTROLLERS, WEBHOOKS = VOLCANO
DEPLOYMENTS = {SCHEDULER: "volcano-scheduler", CONTROLLERS: "volcano-controllers", WEBHOOKS: "volcano-admission"}
WEBHOOK_SERVICE = "volcano-admission-service"

SCHEDULER_CONFIG = ("volcano-scheduler-configmap", "volcano-scheduler.conf")
WEBHOOK_CONFIG = ("volcano-admission-configmap", "volcano-admission.conf")
WEBHOOK_SECRET = "volcano-admission-secret"

MANAGED = {"kwok.x-k8s.io/node": "fake"}
"""The annotation of Nodes that KWOK keeps."""

OWN_STAGES = tuple(sorted(Path(__file__).parent.glob("kwok_*.yaml")))
NO_PODS = Path(__file__).with_name("no_pods.yaml")

OWN_PATHS = {"scheduler-conf", "admission-conf", "tls-cert-file", "tls-private-key-file", "ca-cert-file"}
OWN_ADDRESSES = {"port", "listen-address", "healthz-address"}


@dataclass(frozen=True)
class VolcanoPrograms:
    """Paths of the programs, and of upstream's manifest of the same release."""

    release: str
    kwok: Path
    stages: tuple[Path, ...]
    files: dict[str, Path]
    manifest: Path


def obtain(cache: Cache) -> VolcanoPrograms:
    """The programs, built unless the cache has them."""
    kwok = programs.obtain(cache, KWOK_FAMILY, (KWOK,))
    volcano = programs.obtain(cache, VOLCANO_FAMILY, VOLCANO)
    files = {name: volcano.path(name) for name in VOLCANO}
    stages = (*(kwok.file(name) for name in KWOK_STAGES), *OWN_STAGES)
    return VolcanoPrograms(volcano.release, kwok.path(KWOK), stages, files, volcano.file(VOLCANO_MANIFEST))


class Volcano:
    """Volcano and KWOK on a running control plane. Their processes end with it."""

    def __init__(self, plane: ControlPlane, built: VolcanoPrograms) -> None:
        self.plane = plane
        self.built = built
        self.progress = Progress("volcano")
        (self.webhook_port,) = free_ports(1)
        self._metrics_ports: dict[str, int] = {}

    @property
    def scheduler_config(self) -> Path:
        """The scheduler's configuration file, in a directory that has no other file: the scheduler watches it."""
        return self.plane.directory / "scheduler" / SCHEDULER_CONFIG[1]

    def manifest(self) -> Path:
        """Upstream's manifest, with the address of the webhooks on this machine, which has no kube-proxy."""
        documents = [_reachable(document, self.webhook_port) for document in _documents(self.built.manifest)]
        return self._write("volcano.yaml", "".join(f"---\n{json.dumps(document)}\n" for document in documents))

    def start_kwok(self, *, pods: bool = True) -> None:
        """Start KWOK; without ``pods`` it keeps only Nodes."""
        (port,) = free_ports(1)
        stages = self.built.stages if pods else (*_stages_of_nodes(self.built.stages), NO_PODS)
        options = {
            "kubeconfig": self.plane.kubeconfig,
            "manage-nodes-with-annotation-selector": ",".join(f"{key}={value}" for key, value in MANAGED.items()),
            "server-address": f"{HOST}:{port}",
            # Without a lease a Node is not ready after two minutes, and its pods neither.
            "node-lease-duration-seconds": 40,
            "config": self._write("kwok.yaml", "".join(map(_as_document, stages))),
        }
        self._start(Component(KWOK, _argv(self.built.kwok, options), port))

    def create_nodes(self, nodes: Sequence[dict[str, Any]]) -> None:
        """Create Nodes, and wait until KWOK reports them as ready."""
        path = self._write("nodes.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": list(nodes)}))
        self.kubectl("create", f"--filename={path}")
        self.kubectl("wait", "--for=condition=Ready", "--timeout=60s", "node", *(_name(node) for node in nodes))

    def start(self, *names: str) -> None:
        """Start those of these programs that do not run, all without names. Volcano's manifest must be installed.

        The scheduler ends unless it can create the root queue, which takes the webhooks.
        """
        for name in names or (WEBHOOKS, CONTROLLERS, SCHEDULER):
            if name not in daemons.running(self.plane.uuid):
                self._start(self._component(name))

    def stop(self, name: str) -> None:
        """Kill a program; does nothing unless it runs."""
        daemons.end(self.plane.uuid, name)

    def metrics(self, name: str) -> dict[str, float]:
        """The metrics of a started program by their names with labels, in Prometheus' text format."""
        url = f"http://{HOST}:{self._metrics_ports[name]}/metrics"
        with urllib.request.urlopen(url, timeout=10) as response:
            lines = response.read().decode().splitlines()
        pairs = [line.rpartition(" ") for line in lines if line and not line.startswith("#")]
        return {key: float(value) for key, _space, value in pairs}

    def write_scheduler_config(self) -> str:
        """Write the ConfigMap's text to the scheduler's file, as kubelet does for a pod; the text."""
        text = self._config(*SCHEDULER_CONFIG)
        self.write_scheduler_text(text)
        return text

    def write_scheduler_text(self, text: str) -> None:
        """Replace the scheduler's file, unless it has this text already."""
        if not self.scheduler_config.exists() or self.scheduler_config.read_text() != text:
            self.scheduler_config.parent.mkdir(exist_ok=True)
            # A partial file in the watched directory would be another event.
            self._write("scheduler.partial", text).rename(self.scheduler_config)

    def kubectl(self, *words: str) -> str:
        """What kubectl prints as the administrator."""
        return control_plane.kubectl(self.plane, *words, timeout=120)

    def _component(self, name: str) -> Component:
        health, other = free_ports(2)
        deployment = json.loads(self.kubectl("get", "deployment", DEPLOYMENTS[name], "-n", NAMESPACE, "-o", "json"))
        pod = deployment["spec"]["template"]["spec"]
        options = deployment_options(pod["containers"][0]["args"])
        options |= {"kubeconfig": str(self._kubeconfig(pod)), "healthz-address": f"{HOST}:{health}"}
        if name == WEBHOOKS:
            options |= self._webhook_options()
        else:
            options |= {"listen-address": f"{HOST}:{other}"}
            self._metrics_ports[name] = other
        if name == SCHEDULER:
            self.write_scheduler_config()
            options["scheduler-conf"] = str(self.scheduler_config)
        return Component(
            name, _argv(self.built.files[name], options), self.webhook_port if name == WEBHOOKS else health
        )

    def _webhook_options(self) -> dict[str, str]:
        return {
            "admission-conf": str(self._write_watched(self.plane.directory / "admission", *WEBHOOK_CONFIG)),
            "listen-address": HOST,
            "port": str(self.webhook_port),
            **self._webhook_certificates(),
        }

    def _webhook_certificates(self) -> dict[str, str]:
        """Files of the Secret that the manifest's Job makes (installer/dockerfile/webhook-manager)."""
        directory = self.plane.directory / "webhooks"
        names = {"ca-cert-file": "ca.crt", "tls-cert-file": "tls.crt", "tls-private-key-file": "tls.key"}
        if not directory.exists():
            directory.mkdir(mode=0o700)
            make_certificates(directory, f"{WEBHOOK_SERVICE}.{NAMESPACE}.svc")
            files = [f"--from-file={name}={directory / name}" for name in names.values()]
            self.kubectl("create", "secret", "generic", WEBHOOK_SECRET, "-n", NAMESPACE, *files)
        return {option: str(directory / name) for option, name in names.items()}

    def _write_watched(self, directory: Path, name: str, key: str) -> Path:
        """A file with a ConfigMap's text, in a directory without another file.

        The program watches the directory and logs each event: a log there would make it log without end.
        """
        directory.mkdir(exist_ok=True)
        path = directory / key
        path.write_text(self._config(name, key))
        return path

    def _config(self, name: str, key: str) -> str:
        config_map = json.loads(self.kubectl("get", "configmap", name, "-n", NAMESPACE, "-o", "json"))
        return str(config_map["data"][key])

    def _kubeconfig(self, pod: dict[str, Any]) -> Path:
        """A kubeconfig with a token of the pod's ServiceAccount, so that the manifest's roles are used."""
        account = pod.get("serviceAccountName") or pod["serviceAccount"]
        token = self.kubectl("create", "token", account, "-n", NAMESPACE, "--duration=24h").strip()
        config = json.loads(self.kubectl("config", "view", "--raw", "--flatten", "-o", "json"))
        user = {**config["users"][0], "user": {"token": token}}
        path = self.plane.user_kubeconfig(account)
        kubeadm.write_secret(path, json.dumps({**config, "users": [user]}))
        return path

    def _start(self, component: Component) -> None:
        daemons.start(component, self.plane.uuid, self.plane.directory, self.plane.log(component.name))
        up = partial(control_plane.answers, self.plane, component)
        control_plane.wait_for(component.name, up, self.plane, self.progress)

    def _write(self, name: str, text: str) -> Path:
        path = self.plane.directory / name
        path.write_text(text)
        return path


def fake_node(name: str, labels: dict[str, str] | None = None, **capacity: str) -> dict[str, Any]:
    """A Node that KWOK keeps. ``capacity``: quantities, 4 CPUs, 8 GiB of memory and 110 pods by default."""
    amounts = {
        "cpu": "4",
        "memory": "8Gi",
        "pods": "110",
        **{key.replace("_", "-"): text for key, text in capacity.items()},
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": MANAGED,
            "labels": {"kubernetes.io/hostname": name, **(labels or {})},
        },
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def _stages_of_nodes(stages: Sequence[Path]) -> Iterator[Path]:
    return (path for path in stages if path.name.startswith("node-"))


def _as_document(path: Path) -> str:
    return "---\n" + path.read_text().removeprefix("---\n")


def _documents(path: Path) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


def _reachable(document: dict[str, Any], port: int) -> dict[str, Any]:
    """The API server calls a Service of the type ExternalName at the port of the webhook configuration."""
    if document["kind"] == "Service" and document["metadata"]["name"] == WEBHOOK_SERVICE:
        return {**document, "spec": {"type": "ExternalName", "externalName": "localhost"}}
    for webhook in document.get("webhooks", ()):
        webhook["clientConfig"]["service"]["port"] = port
    return document


def deployment_options(arguments: Sequence[str]) -> dict[str, str]:
    """Options of a container's arguments, without those of its file system and its network."""
    pairs = [argument.lstrip("-").partition("=") for argument in arguments if argument.startswith("-")]
    return {name: value or "true" for name, _sign, value in pairs if name not in OWN_PATHS | OWN_ADDRESSES}


def make_certificates(directory: Path, host: str) -> None:
    """Write ``ca.crt``, and ``tls.crt`` with ``tls.key`` for a host name, with openssl."""
    log = directory / "openssl.log"
    key, extension = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"), f"subjectAltName=DNS:{host}"
    openssl = ("openssl", "req", "-x509", "-days", "3650", *key)
    ca = ("-out", "ca.crt", "-keyout", "ca.key", "-subj", "/CN=volcano-lab")
    command.logged([*openssl, *ca], log, directory)
    server = ("-CA", "ca.crt", "-CAkey", "ca.key", "-out", "tls.crt", "-keyout", "tls.key", "-subj", f"/CN={host}")
    command.logged([*openssl, *server, "-addext", extension, "-addext", "basicConstraints=CA:FALSE"], log, directory)


def _argv(program: Path, options: dict[str, Any]) -> tuple[str, ...]:
    return (str(program), *(f"{'-' if len(name) == 1 else '--'}{name}={value}" for name, value in options.items()))


def _name(node: dict[str, Any]) -> str:
    return str(node["metadata"]["name"])
