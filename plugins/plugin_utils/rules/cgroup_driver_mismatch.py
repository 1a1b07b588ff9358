# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cgroup driver of kubelet and of the runtime's handlers: what decides it, and in which cgroups pods run."""

from __future__ import annotations

from collections.abc import Iterator

from ...module_utils.cgroup.kubelet_names import Driver
from ..edit.kubelet_text import begins_as_json
from ..facts.containerd_layers import declared_handlers, deprecated_handlers, source_of, systemd_cgroup_option
from ..facts.containerd_runtime import DUMP, runtime_v1_driver
from ..facts.containerd_tables import DEPRECATED
from ..facts.kubelet_layers import DEFAULT_SOURCE, render_value
from ..facts.kubelet_state import KubeletFacts
from ..facts.node_state import RUNTIME_SETTINGS, NodeFacts
from ..plan.change_set import Refusal
from ..plan.draft import PlanDraft
from ..profile.kubelet_fields import CGROUP_DRIVER
from ..releases.containerd_schema import DEFAULT_RUNTIME_TYPE, RUNTIME_V1, parse_release
from .evidence import quote_claims
from .rule_types import Effect, Finding, Severity


def kubelet_driver_unknown(facts: NodeFacts) -> Iterator[Finding]:
    if facts.kubelet.installed and facts.driver.kubelet is None and not facts.kubelet.config.problem:
        yield Finding(
            "kubelet-driver-unknown",
            Severity.ERROR,
            Effect.UNKNOWN,
            "kubelet's cgroup driver is neither systemd nor cgroupfs.",
            quote_claims(facts, "cgroupDriver"),
            "Set cgroupDriver to systemd or cgroupfs; kubelet treats any other word as cgroupfs.",
        )


def runtime_driver_unknown(facts: NodeFacts) -> Iterator[Finding]:
    """Files that containerd does not accept have a separate finding."""
    runtime = facts.runtime
    unknown = [handler.name for handler in runtime.handlers if handler.configured is None and handler.running is None]
    if unknown and parse_release(runtime.version) is None and not runtime.config.problem:
        yield Finding(
            "runtime-driver-unknown",
            Severity.ERROR,
            Effect.UNKNOWN,
            "containerd's release is unknown, and the cgroup driver that its files set depends on the release.",
            (f"handlers: {', '.join(unknown)}", *(layer.path for layer in runtime.layers)),
            "Keep one file without imports, in the schema of the release that the image has.",
        )


def handlers_disagree(facts: NodeFacts) -> Iterator[Finding]:
    handlers = facts.runtime.handlers
    configured = {handler.configured for handler in handlers if handler.configured}
    running = {handler.running for handler in handlers if handler.running}
    if len(configured) > 1 or len(running) > 1:
        yield Finding(
            "runtime-handlers-disagree",
            Severity.ERROR,
            Effect.MISALIGNED,
            "containerd's runtime handlers do not all use the same cgroup driver.",
            quote_claims(facts, "SystemdCgroup"),
            "Set the same SystemdCgroup for every handler of runc type.",
        )


def driver_mismatch(facts: NodeFacts) -> Iterator[Finding]:
    kubelet = facts.driver.kubelet
    running = facts.driver.runtime_now
    if facts.runtime.installed and kubelet and running and kubelet is not running:
        yield Finding(
            "driver-mismatch",
            Severity.ERROR,
            Effect.MISALIGNED,
            f"kubelet uses {kubelet.value}, {facts.runtime.name} uses {running.value}.",
            quote_claims(facts, "cgroupDriver", *RUNTIME_SETTINGS),
            "Align both to one driver: ansible-playbook volcano.colocation.provision.",
        )


def containers_misplaced(facts: NodeFacts) -> Iterator[Finding]:
    if facts.pods.misplaced_paths:
        yield Finding(
            "containers-misplaced",
            Severity.ERROR,
            Effect.MISALIGNED,
            f"{len(facts.pods.misplaced_paths)} container(s) run outside kubelet's cgroup tree.",
            facts.pods.misplaced_paths[:3],
            "Align the drivers; limits of pods and QoS classes do not apply to these containers.",
        )


def containers_of_other_driver(facts: NodeFacts) -> Iterator[Finding]:
    driver = facts.driver.kubelet
    other = facts.pods.systemd_paths if driver is Driver.CGROUPFS else facts.pods.cgroupfs_paths
    if driver and other:
        yield Finding(
            "containers-of-other-driver",
            Severity.ERROR,
            Effect.MISALIGNED,
            f"{other} container(s) run in the tree of another driver than kubelet's {driver.value}.",
            quote_claims(facts, "cgroupDriver"),
            "Drain the node so that its pods are recreated.",
        )


def restart_changes_driver(facts: NodeFacts) -> Iterator[Finding]:
    runtime = facts.runtime
    changed = [
        handler for handler in runtime.handlers if handler.running and handler.configured not in (handler.running, None)
    ]
    # CRI-O has one driver for all handlers.
    one = not runtime.handlers and facts.driver.live and facts.driver.runtime
    if changed or (one and facts.driver.live is not facts.driver.runtime):
        yield Finding(
            "runtime-restart-changes-driver",
            Severity.WARNING,
            Effect.LATENT,
            f"{runtime.name}'s files set another cgroup driver than the one it runs with.",
            quote_claims(facts, *RUNTIME_SETTINGS),
            f"Decide which is right before {runtime.name} or the node restarts.",
        )


def driver_setting_ignored(facts: NodeFacts) -> Iterator[Finding]:
    kubelet = facts.kubelet
    own = kubelet.settings.get(CGROUP_DRIVER.key)
    if facts.driver.authority != "cri" or own is None or own.source == DEFAULT_SOURCE:
        return
    if facts.driver.kubelet and own.value != facts.driver.kubelet.value:
        yield Finding(
            "driver-setting-ignored",
            Severity.WARNING,
            Effect.NONE,
            f"kubelet uses the CRI's cgroup driver {facts.driver.kubelet.value} and ignores its own cgroupDriver.",
            quote_claims(facts, CGROUP_DRIVER.key),
            "Set the same driver in kubelet's file: agents read it there, and an older kubelet would use it.",
        )


def driver_hidden_from_agents(facts: NodeFacts) -> Iterator[Finding]:
    """Volcano's agent looks for the bare line in kubelet's main file (pkg/agent/utils/cgroup/cgroup.go)."""
    kubelet = facts.kubelet
    if not kubelet.installed:
        return
    if kubelet.odd_driver_line is not None:
        evidence = f"{kubelet.config.path}:{kubelet.odd_driver_line}: cgroupDriver with quotes or a comment"
    elif _is_json_file(kubelet) and CGROUP_DRIVER.key in kubelet.config.values:
        evidence = f"{kubelet.config.path}: cgroupDriver in JSON"
    elif _driver_set_elsewhere(facts):
        own = kubelet.config.values.get(CGROUP_DRIVER.key)
        content = f"cgroupDriver {render_value(own)}" if own else "no cgroupDriver"
        evidence = f"{kubelet.config.path}: {content}; kubelet's driver comes from {facts.driver.source}"
    else:
        return
    yield Finding(
        "driver-hidden-from-agents",
        Severity.INFO,
        Effect.NONE,
        "Agents that read the cgroup driver from kubelet's file, such as Volcano's, do not find the effective one.",
        (evidence,),
        "Write the driver to that file as cgroupDriver: systemd or cgroupfs, without quotes or a comment.",
    )


def _is_json_file(kubelet: KubeletFacts) -> bool:
    return kubelet.config.text is not None and begins_as_json(kubelet.config.text)


def _driver_set_elsewhere(facts: NodeFacts) -> bool:
    """Whether the main file lacks the effective driver; a driver that the CRI overrides is another finding."""
    kubelet = facts.kubelet
    if kubelet.config.kind != "regular" or kubelet.config.problem or facts.driver.kubelet is None:
        return False
    own = kubelet.config.values.get(CGROUP_DRIVER.key)
    if own is None:
        return facts.driver.source != DEFAULT_SOURCE
    return bool(own != facts.driver.kubelet.value) and facts.driver.authority != "cri"


def refuse_runtime_v1(draft: PlanDraft) -> Iterator[Refusal]:
    """Its driver is a separate option or the CRI plugin's systemd_cgroup; 2.0 does not have this runtime.

    generateRuntimeOptions in pkg/cri/server/helpers.go of 1.6 and 1.7, containerd RELEASES.md.
    """
    layers, desired = draft.runtime.merged, draft.profile.cgroup_driver
    for name, table in sorted(declared_handlers(layers.cri).items()) if desired else ():
        if table.get("runtime_type") == RUNTIME_V1 and runtime_v1_driver(layers, table) is not desired:
            yield Refusal(
                "containerd-runtime-v1",
                f"handler {name} is of type {RUNTIME_V1}, whose driver this collection does not change",
                f'Set runtime_type = "{DEFAULT_RUNTIME_TYPE}" for the handler, or remove it.',
                file=source_of(layers, name) or draft.runtime.config.path,
            )


def refuse_deprecated_handlers(draft: PlanDraft) -> Iterator[Refusal]:
    """Handlers that 1.x creates from default_runtime and untrusted_workload_runtime; 2.0 has neither."""
    runtime, layers = draft.runtime, draft.runtime.merged
    deprecated = deprecated_handlers(layers) if draft.profile.cgroup_driver else {}
    for handler in runtime.handlers:
        if handler.name in deprecated and handler.configured is not draft.profile.cgroup_driver:
            yield Refusal(
                "containerd-runtime-deprecated",
                f"{DEPRECATED[handler.name]} is a separate handler, whose driver this collection does not change",
                "Declare the handler under runtimes and name it in default_runtime_name, or remove it.",
                file=handler.source or runtime.config.path,
            )


def refuse_differing_dump(draft: PlanDraft) -> Iterator[Refusal]:
    """The files already have the driver, but containerd reads another one: its reading is not understood."""
    runtime, driver = draft.runtime, draft.profile.cgroup_driver
    for handler in runtime.handlers if driver else ():
        systemd = systemd_cgroup_option(declared_handlers(runtime.merged.cri).get(handler.name)) is True
        written = Driver.SYSTEMD if systemd else Driver.CGROUPFS
        dumped = handler.configured if handler.source == DUMP else None
        if dumped and dumped is not driver and written is driver:
            yield Refusal(
                "containerd-dump-differs",
                f"{DUMP} shows {dumped.value} for handler {handler.name}, but its files set {written.value}",
                "Compare the files with the output of containerd config dump.",
                file=runtime.config.path,
            )
