# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node as it will be once files have their originals again: the same facts of the same snapshot, other texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..edit.template_splice import BASE, rendered_with
from ..facts.model import NodeFacts
from ..facts.node import interpret

Texts = Mapping[str, "str | None"]
"""By path: what a file gets, None where it goes."""
_MISSING = {"kind": "missing"}


def outlook(snapshot: Mapping[str, Any], texts: Texts) -> NodeFacts:
    """Facts of the node after its services have been started with these texts."""
    changed = {**snapshot, "kubelet": _kubelet(snapshot["kubelet"], texts), "runtime": _runtime(snapshot, texts)}
    facts = interpret(changed)
    # kubelet 1.34 and newer take the driver that the CRI names, which will be what the runtime's files say then.
    said = changed["runtime"]["cri"].get("runtime_config")
    if isinstance(said, Mapping) and said.get("cgroup_driver") and facts.runtime.cgroup_driver:
        told = {**said, "cgroup_driver": facts.runtime.cgroup_driver.value}
        cri = {**changed["runtime"]["cri"], "runtime_config": told}
        facts = interpret({**changed, "runtime": {**changed["runtime"], "cri": cri}})
    return facts


def _files(files: Mapping[str, Any], texts: Texts) -> dict[str, Any]:
    return {path: _file(captured, path, texts) for path, captured in files.items()}


def _file(captured: Mapping[str, Any], path: str, texts: Texts) -> Mapping[str, Any]:
    if path not in texts:
        return captured
    text = texts[path]
    return _MISSING if text is None else {"kind": "regular", "mode": "0644", "uid": 0, "gid": 0, "text": text}


def _kubelet(evidence: Mapping[str, Any], texts: Texts) -> dict[str, Any]:
    starts = {*evidence.get("environment_files", ()), *evidence.get("unit_files", ())}
    # Where its flags change, what it runs with says nothing of how it is started next.
    processes = [] if starts & set(texts) else evidence["processes"]
    found = {**evidence, "configz": None, "processes": processes, "files": _files(evidence["files"], texts)}
    for folder in ("config_dir", "embedded_dir"):
        if evidence.get(folder):
            paths = [path for path in evidence[folder].get("paths", ()) if texts.get(path, "") is not None]
            found[folder] = {**evidence[folder], "paths": paths}
    return found


def _runtime(snapshot: Mapping[str, Any], texts: Texts) -> dict[str, Any]:
    evidence = snapshot["runtime"]
    rendered = _rendered(snapshot, texts)
    found = {**evidence, "files": {**_files(evidence["files"], texts), **rendered}}
    if rendered or set(evidence["files"]) & set(texts):
        # containerd's own reading is one of the present files.
        found["dump"] = None
    crio = evidence.get("crio")
    if crio:
        gone = {path for path, text in texts.items() if text is None}
        files = {path: each for path, each in _files(crio["files"], texts).items() if path not in gone}
        found["crio"] = {**crio, "files": files}
    return found


def _rendered(snapshot: Mapping[str, Any], texts: Texts) -> dict[str, Any]:
    """containerd's file where k3s or RKE2 will make it anew of a template that goes back to what it was."""
    templates = (snapshot.get("distribution") or {}).get("template_files") or {}
    path = snapshot["runtime"]["config_path"]
    captured = snapshot["runtime"]["files"].get(path, {})
    for template, present in templates.items():
        if template not in texts or "text" not in captured or "text" not in present:
            continue
        before = texts[template]
        text = rendered_with(captured["text"], present["text"], BASE if before is None else before)
        if text is not None:
            return {path: {**captured, "text": text}}
    return {}
