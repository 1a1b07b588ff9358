# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Preview of a restore: the node with the original files, and which restarts that requires."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..edit.containerd_text import BASE, predict_rendering
from ..facts.cgroup_driver import predict_runtime_config
from ..facts.interpreter import interpret
from ..facts.kubelet_layers import render_value
from ..facts.kubelet_state import Setting
from ..facts.node_state import NodeFacts
from ..plan.change_set import Change, Impact
from ..plan.file_edits import captured_files
from ..plan.kubelet_impact import DISRUPTIVE, RESTART, Keys, change_impact, memory_policy
from ..profile.kubelet_fields import CGROUP_DRIVER, CPU_MANAGER_POLICY, MEMORY_MANAGER_POLICY
from ..profile.node_profile import Profile, with_fields

Texts = Mapping[str, "str | None"]
"""By path: the new content of a file, None if it is removed."""
_MISSING = {"kind": "missing"}


def preview_facts(snapshot: Mapping[str, Any], texts: Texts) -> NodeFacts:
    """Facts of the node after a restart of its services with these contents."""
    changed = {**snapshot, "kubelet": _kubelet(snapshot["kubelet"], texts), "runtime": _runtime(snapshot, texts)}
    facts = interpret(changed)
    # kubelet 1.34 and newer use the driver that the CRI reports, which then follows from the runtime's files.
    current = changed["runtime"]["cri"]
    later = predict_runtime_config(current, facts.driver.runtime)
    return facts if later == current else interpret({**changed, "runtime": {**changed["runtime"], "cri": later}})


def _files(files: Mapping[str, Any], texts: Texts) -> dict[str, Any]:
    return {path: _file(captured, path, texts) for path, captured in files.items()}


def _file(captured: Mapping[str, Any], path: str, texts: Texts) -> Mapping[str, Any]:
    if path not in texts:
        return captured
    text = texts[path]
    return _MISSING if text is None else {"kind": "regular", "mode": "0644", "uid": 0, "gid": 0, "text": text}


def _kubelet(evidence: Mapping[str, Any], texts: Texts) -> dict[str, Any]:
    starts = {*evidence.get("environment_files", ()), *evidence.get("unit_files", ())}
    # If its flags change, the running process does not show how kubelet starts next time.
    processes = [] if starts & set(texts) else evidence["processes"]
    predicted = {**evidence, "configz": None, "processes": processes, "files": _files(evidence["files"], texts)}
    for directory in ("config_dir", "embedded_dir"):
        if evidence.get(directory):
            paths = [path for path in evidence[directory].get("paths", ()) if texts.get(path, "") is not None]
            predicted[directory] = {**evidence[directory], "paths": paths}
    return predicted


def _runtime(snapshot: Mapping[str, Any], texts: Texts) -> dict[str, Any]:
    evidence = snapshot["runtime"]
    rendered = _rendered_file(snapshot, texts)
    predicted = {**evidence, "files": {**_files(evidence["files"], texts), **rendered}}
    if rendered or set(evidence["files"]) & set(texts):
        # containerd's dump is of the current files.
        predicted["dump"] = None
    crio = evidence.get("crio")
    if crio:
        removed = {path for path, text in texts.items() if text is None}
        files = {path: captured for path, captured in _files(crio["files"], texts).items() if path not in removed}
        predicted["crio"] = {**crio, "files": files}
    return predicted


def _rendered_file(snapshot: Mapping[str, Any], texts: Texts) -> dict[str, Any]:
    """containerd's file, if k3s or RKE2 will render it again from a restored template."""
    templates = (snapshot.get("distribution") or {}).get("template_files") or {}
    path = snapshot["runtime"]["config_path"]
    captured = snapshot["runtime"]["files"].get(path, {})
    for template, present in templates.items():
        if template not in texts or "text" not in captured or "text" not in present:
            continue
        before = texts[template]
        text = predict_rendering(captured["text"], present["text"], BASE if before is None else before)
        if text is not None:
            return {path: {**captured, "text": text}}
    return {}


RUNTIME_RESTART = frozenset({Impact.RESTART_RUNTIME})
RUNTIME_DISRUPTIVE = RUNTIME_RESTART | {Impact.DRAIN}
REASON = "it was so before the collection"


def profile_of(after: NodeFacts) -> Profile:
    """The profile of the restored node, with the fields that decide impact and checkpoints."""
    kubelet = after.kubelet
    return with_fields(
        Profile(),
        {
            CGROUP_DRIVER.option: after.driver.common,
            CPU_MANAGER_POLICY.option: kubelet.cpu_manager_policy,
            MEMORY_MANAGER_POLICY.option: memory_policy(kubelet),
        },
    )


def settings_changes(before: NodeFacts, after: NodeFacts) -> tuple[Change, ...]:
    """Changes of kubelet's settings, with their impact."""
    profile, kubelet = profile_of(after), before.kubelet
    differing = list(_differing_keys(kubelet.settings, after.kubelet.settings))
    driver = (CGROUP_DRIVER.key,)
    if before.driver.kubelet is not after.driver.kubelet and driver not in differing:
        differing.append(driver)
    return tuple(
        Change("kubelet", ".".join(keys), None, None, REASON, change_impact(keys, kubelet, profile), None, keys)
        for keys in differing
    )


def kubelet_impact(snapshot: Mapping[str, Any], paths: set[str], changes: tuple[Change, ...]) -> frozenset[Impact]:
    """The impact of kubelet's files together; a file without evidence has the largest impact."""
    if paths - captured_files(snapshot).keys():
        return DISRUPTIVE
    return RESTART.union(*(change.needs for change in changes))


def runtime_impact(before: NodeFacts, after: NodeFacts) -> frozenset[Impact]:
    """The impact of the runtime's files: a change of the driver requires that pods are recreated."""
    now = {handler.name: handler.running or handler.configured for handler in before.runtime.handlers}
    then = {handler.name: handler.configured for handler in after.runtime.handlers}
    moved = any(now[name] is not then[name] for name in now.keys() & then.keys())
    if not now:
        moved = after.driver.runtime is None or before.driver.runtime_now is not after.driver.runtime
    return RUNTIME_DISRUPTIVE if moved else RUNTIME_RESTART


def _differing_keys(now: Mapping[str, Setting], then: Mapping[str, Setting]) -> Iterator[Keys]:
    for key in sorted(now.keys() | then.keys()):
        one = now[key].value if key in now else None
        other = then[key].value if key in then else None
        if isinstance(one, Mapping) or isinstance(other, Mapping):
            first, second = _table(one), _table(other)
            names = first.keys() | second.keys()
            yield from (
                (key, name) for name in sorted(names) if render_value(first.get(name)) != render_value(second.get(name))
            )
        elif render_value(one) != render_value(other):
            yield (key,)


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
