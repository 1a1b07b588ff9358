# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan document: the changes that the controller requests for this node, parsed and checked once."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import Any

from .document_reader import (
    FileAttributes,
    PlanError,
    Section,
    encode_content,
    invalid_field,
    parse_file_attributes,
    require_match,
)
from .plan_validations import Validation, read_validation, without_texts

SCHEMA = 1
ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z-]{0,63}\Z")
SHA256 = re.compile(r"[0-9a-f]{64}\Z")
MODE = re.compile(r"0[0-7]{3}\Z")
UNIT = re.compile(r"[0-9A-Za-z:_.@\\-]+\.service\Z")
CGROUP = re.compile(r"[0-9A-Za-z_.-]+(/[0-9A-Za-z_.-]+)*\Z")
NODE_NAME = re.compile(r"(?!.{254})[a-z0-9]([a-z0-9.-]*[a-z0-9])?\Z")
DEFAULT_MODE = "0644"
SECTIONS = ("kubelet", "runtime", "sysctl")
"""The part of the node that a file configures; kubelet if a plan does not set it."""


@dataclass(frozen=True)
class FileEdit:
    """One file. ``after`` is None in a plan from a journal, which contains hashes only.

    ``after_sha256`` is None for a file to remove. ``attributes``: values to set; None keeps the current ones.
    """

    path: str
    before_sha256: str | None
    after_sha256: str | None
    mode: int
    after: bytes | None = field(repr=False, compare=False)
    section: str = SECTIONS[0]
    attributes: FileAttributes | None = None

    @property
    def removes(self) -> bool:
        return self.after_sha256 is None


@dataclass(frozen=True)
class Service:
    """A unit, and whether it must be restarted."""

    unit: str
    restart: bool


@dataclass(frozen=True)
class Sandboxes:
    """The runtime's socket, whether all sandboxes must be removed (a driver change), and kubelet's pod cgroups."""

    endpoint: str
    stop: bool
    cgroups: tuple[str, ...] = ()


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that kubelet writes when it starts, and the policy that it must contain."""

    path: str
    policy: str


@dataclass(frozen=True)
class ApiNodeRef:
    """The Node of this kubelet, and the path of the kubeconfig that kubelet uses for the API server."""

    name: str
    kubeconfig: str


@dataclass(frozen=True)
class Gate:
    """The checks that must pass before the transaction is committed. None: not checked."""

    timeout: float
    kubelet_healthz: str | None
    cri_endpoint: str | None
    runtime_handlers: dict[str, bool]
    cpu_manager: Checkpoint | None
    memory_manager: Checkpoint | None
    cgroup_driver: str | None
    nri_socket: str | None
    pods_return: bool
    node: ApiNodeRef | None = None


@dataclass(frozen=True)
class Plan:
    """The whole document.

    ``forget``: paths to remove from the ledger, in addition to files that have their original content again.
    ``outline``: the document with hashes instead of file contents.
    """

    id: str
    summary: tuple[str, ...]
    files: tuple[FileEdit, ...]
    validate: tuple[Validation, ...]
    kubelet: Service | None
    runtime: Service | None
    checkpoints: tuple[str, ...]
    forget: tuple[str, ...]
    sandboxes: Sandboxes | None
    stale_cgroups: tuple[str, ...]
    fresh_cgroups: tuple[str, ...]
    gate: Gate | None
    controller: str | None
    outline: dict[str, Any] = field(repr=False, compare=False)

    @property
    def restarts_kubelet(self) -> bool:
        return self.kubelet is not None and self.kubelet.restart

    @property
    def restarts_runtime(self) -> bool:
        return self.runtime is not None and self.runtime.restart

    @property
    def stops_sandboxes(self) -> bool:
        return self.sandboxes is not None and self.sandboxes.stop

    @property
    def files_only(self) -> bool:
        """True if no service or cgroup is changed or checked."""
        touches = self.restarts_kubelet or self.restarts_runtime or self.stops_sandboxes
        return not (touches or self.checkpoints or self.stale_cgroups or self.fresh_cgroups or self.gate)


def parse_plan(text: str) -> Plan:
    """Parse a JSON text. PlanError names the invalid field, and contains no text of the document."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PlanError(
            "the plan is not valid JSON",
            "The controller and the node must use the same version of volcano.colocation",
        ) from error
    return read_plan(document)


def read_plan(document: Any) -> Plan:
    """Parse a decoded document, which may be an outline."""
    section = Section(document, "")
    if section.value("schema") != SCHEMA:
        raise invalid_field("schema", str(SCHEMA))
    services = section.section("services") or Section({}, "services")
    plan = Plan(
        id=require_match(section.text("id"), ID, "id", "letters, digits and dashes"),
        summary=section.texts("summary"),
        files=tuple(_file(entry) for entry in section.sections("files")),
        validate=tuple(read_validation(entry) for entry in section.sections("validate")),
        kubelet=_service(services.section("kubelet")),
        runtime=_service(services.section("runtime")),
        checkpoints=section.paths("checkpoints"),
        forget=section.paths("forget"),
        sandboxes=_sandboxes(section.section("sandboxes")),
        stale_cgroups=_cgroups(section, "stale_cgroups"),
        fresh_cgroups=_cgroups(section, "fresh_cgroups"),
        gate=_gate(section.section("gate")),
        controller=section.optional_text("controller"),
        outline=plan_outline(document),
    )
    services.finish()
    section.finish()
    _require_consistent(plan)
    return plan


def plan_outline(document: dict[str, Any]) -> dict[str, Any]:
    """A copy of a plan document for the journal: hashes instead of file contents, and no candidate texts."""
    outline = dict(document)
    outline["files"] = []
    outline["validate"] = [without_texts(entry) for entry in document.get("validate") or []]
    for entry in document.get("files") or []:
        copy = {key: value for key, value in entry.items() if key != "after"}
        if entry.get("after") is not None:
            copy["after_sha256"] = sha256(encode_content(entry["after"], "files.after"))
        outline["files"].append(copy)
    return outline


def sha256(content: bytes) -> str:
    """The hash in the format of plans and journals."""
    return hashlib.sha256(content).hexdigest()


def _file(section: Section) -> FileEdit:
    before = section.optional_text("before_sha256")
    if before is not None:
        require_match(before, SHA256, section.at("before_sha256"), "64 hexadecimal digits or null")
    mode = require_match(
        section.optional_text("mode") or DEFAULT_MODE, MODE, section.at("mode"), "an octal mode like 0644"
    )
    after_sha256 = section.optional_text("after_sha256")
    after = None
    if section.value("remove") is True:
        _require_no_content(section, before)
    elif after_sha256 is None:
        after = encode_content(section.value("after"), section.at("after"))
        after_sha256 = sha256(after)
    part = SECTIONS[0] if section.value("section") is None else section.choice("section", SECTIONS)
    attributes = parse_file_attributes(section.section("nature"))
    edit = FileEdit(section.path("path"), before, after_sha256, int(mode, 8), after, part, attributes)
    section.finish()
    return edit


def _require_no_content(section: Section, before: str | None) -> None:
    if before is None or section.value("after") is not None or section.value("after_sha256") is not None:
        raise invalid_field(section.at("remove"), "before_sha256, and neither after nor after_sha256")


def _service(section: Section | None) -> Service | None:
    if section is None:
        return None
    unit = require_match(section.text("unit"), UNIT, section.at("unit"), "the name of a service unit")
    service = Service(unit, section.choice("action", ("restart", "leave")) == "restart")
    section.finish()
    return service


def _sandboxes(section: Section | None) -> Sandboxes | None:
    if section is None:
        return None
    stop = section.choice("action", ("stop", "leave")) == "stop"
    sandboxes = Sandboxes(section.text("endpoint"), stop, _cgroups(section, "cgroups"))
    section.finish()
    return sandboxes


def _cgroups(section: Section, key: str) -> tuple[str, ...]:
    for name in section.texts(key):
        require_match(name, CGROUP, section.at(key), "names of cgroups below the hierarchy's root")
        if any(part in (".", "..") for part in name.split("/")):
            raise invalid_field(section.at(key), "names of cgroups below the hierarchy's root")
    return section.texts(key)


def _gate(section: Section | None) -> Gate | None:
    if section is None:
        return None
    handlers = section.value("runtime_handlers") or {}
    if not isinstance(handlers, dict) or not all(isinstance(value, bool) for value in handlers.values()):
        raise invalid_field(section.at("runtime_handlers"), "an object of booleans")
    driver = section.value("cgroup_driver")
    gate = Gate(
        timeout=section.number("timeout"),
        kubelet_healthz=section.optional_text("kubelet_healthz"),
        cri_endpoint=section.optional_text("cri_endpoint"),
        runtime_handlers=handlers,
        cpu_manager=_checkpoint(section.section("cpu_manager")),
        memory_manager=_checkpoint(section.section("memory_manager")),
        cgroup_driver=None if driver is None else section.choice("cgroup_driver", ("systemd", "cgroupfs")),
        nri_socket=None if section.value("nri_socket") is None else section.path("nri_socket"),
        pods_return=section.value("pods") is not None and section.choice("pods", ("return", "any")) == "return",
        node=_api_node(section.section("node")),
    )
    section.finish()
    return gate


def _checkpoint(section: Section | None) -> Checkpoint | None:
    if section is None:
        return None
    checkpoint = Checkpoint(section.path("path"), section.text("policy"))
    section.finish()
    return checkpoint


def _api_node(section: Section | None) -> ApiNodeRef | None:
    if section is None:
        return None
    expected = "the name of a Node: lower case letters, digits, dashes and dots"
    name = require_match(section.text("name"), NODE_NAME, section.at("name"), expected)
    node = ApiNodeRef(name, section.path("kubeconfig"))
    section.finish()
    return node


def _require_consistent(plan: Plan) -> None:
    """PlanError for harmful combinations: a running kubelet recreates sandboxes and rewrites checkpoints."""
    paths = [edit.path for edit in plan.files]
    if len(set(paths)) < len(paths):
        raise invalid_field("files", "each path once")
    if set(paths) & set(plan.checkpoints):
        raise invalid_field("checkpoints", "no path that is also in files")
    if (plan.checkpoints or plan.stops_sandboxes or plan.stale_cgroups) and not plan.restarts_kubelet:
        raise invalid_field("services.kubelet.action", "restart, because of checkpoints, sandboxes or stale_cgroups")
    if plan.gate and not plan.gate.cri_endpoint:
        asks = plan.gate.runtime_handlers or plan.gate.cgroup_driver or plan.gate.pods_return
        if asks:
            raise invalid_field("gate.cri_endpoint", "the runtime's socket, because of the other checks")
