# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of kubelet: its effective values and their sources; its checkpoints."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils.quantity import parse_cpu_list
from ..profile.kubelet_fields import CGROUP_DRIVER, CPU_MANAGER_POLICY, OBSERVED, STATIC_POD_PATH
from ..releases.versions import minor
from .config_file import ConfigFile, as_missing, missing_text, read_kubelet_config, without_problems
from .kubeadm_patch_files import read_patches
from .kubelet_command_line import (
    flag_source,
    flag_values,
    parse_environment_flags,
    parse_flags,
    parse_next_line,
    parse_running_flags,
)
from .kubelet_layers import (
    CONFIGZ_SOURCE,
    DEFAULT_SOURCE,
    claims_of,
    dropins_read,
    effective_settings,
    healthz_url,
    read_dropins,
    render_value,
    unread_dropins,
    with_legacy_port,
)
from .kubelet_state import Checkpoint, Flag, KubeletFacts, Setting, Start
from .node_state import Claim

PLAIN_KEYS = frozenset(("policyName", "defaultCpuSet", "entries", "checksum"))
OTHER_FORMATS_SINCE = (1, 36)
"""Since this version a gate adds fields that are part of the checksum and may be missing in the file."""


def fnv32a(content: bytes) -> int:
    """Go's hash/fnv New32a."""
    value = 0x811C9DC5
    for byte in content:
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


def _go_map(table: Mapping[str, Any]) -> str:
    inner = (f"{key}:{_go_map(value) if isinstance(value, Mapping) else value}" for key, value in sorted(table.items()))
    return f"map[{' '.join(inner)}]"


def _entries_of(state: Mapping[str, Any]) -> Mapping[str, Any]:
    entries: Mapping[str, Any] = {} if state.get("entries") is None else state["entries"]
    return entries


def cpu_checksum(state: Mapping[str, Any]) -> int:
    """The checksum of a cpu_manager_state document.

    kubelet hashes go-spew's %#v output of the struct with Checksum 0: pkg/kubelet/checkpointmanager/checksum,
    pkg/util/hash DeepHashObject, pkg/kubelet/cm/cpumanager/state/checkpoint.go.
    """
    printed = (
        f"(*state.CPUManagerCheckpoint){{PolicyName:(string){state['policyName']}"
        f" DefaultCPUSet:(string){state.get('defaultCpuSet', '')}"
        f" Entries:(map[string]map[string]string){_go_map(_entries_of(state))}"
        " Checksum:(checksum.Checksum)0}"
    )
    return fnv32a(printed.encode("utf-8", "surrogateescape"))


def _checksum(state: Mapping[str, Any], version: tuple[int, int] | None) -> str:
    stored = state.get("checksum", 0)
    if stored == 0:
        return "absent"
    if stored == cpu_checksum(state):
        return "valid"
    known = version is not None and version < OTHER_FORMATS_SINCE and set(state) <= PLAIN_KEYS
    return "invalid" if known else "unverified"


def interpret_checkpoint(path: str, captured: Mapping[str, Any], version: tuple[int, int] | None = None) -> Checkpoint:
    """cpu_manager_state, JSON of pkg/kubelet/cm/cpumanager/state. If it cannot be read, its policy is None."""
    if "text" not in captured:
        return _checkpoint_without_text(path, captured)
    try:
        state = json.loads(captured["text"])
        shared = parse_cpu_list(state.get("defaultCpuSet", ""))
        lists = [cpus for containers in _entries_of(state).values() for cpus in containers.values()]
        cpus = shared.union(*map(parse_cpu_list, lists))
        return Checkpoint(path, True, str(state["policyName"]), cpus, shared, _checksum(state, version))
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return Checkpoint(path, True)


def _checkpoint_without_text(path: str, captured: Mapping[str, Any]) -> Checkpoint:
    return Checkpoint(
        path, captured["kind"] != "missing", unread=missing_text(path, captured) if "error" in captured else None
    )


def interpret_memory_checkpoint(path: str, captured: Mapping[str, Any]) -> Checkpoint:
    """memory_manager_state. Its checksum includes Go structs behind pointers and is not verified."""
    if "text" not in captured:
        return _checkpoint_without_text(path, captured)
    try:
        state = json.loads(captured["text"])
        policy = str(state["policyName"])
        return Checkpoint(path, True, policy, checksum="unverified" if state.get("checksum") else "absent")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return Checkpoint(path, True)


_PLAIN = re.compile(r" [A-Za-z]+\s*")


def _find_version(text: str | None) -> str | None:
    match = re.search(r"v?(\d+\.\d+\.\d+\S*)", text or "")
    return match[1] if match else None


def find_line_agents_miss(text: str, key: str, words: Sequence[str]) -> int | None:
    """The line of a key that agents do not find, because its value is in quotes or followed by a comment."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(f"{key}:"):
            value = line[len(key) + 1 :]
            known = value.partition("#")[0].strip(" \t'\"") in words
            return number if known and not _PLAIN.fullmatch(value) else None
    return None


def _interpret_start(evidence: Mapping[str, Any], argv: Sequence[str]) -> Start:
    line = parse_next_line(evidence)
    directory = evidence.get("config_dir") or {}
    return Start(
        running=parse_running_flags(argv) if argv else parse_flags(line),
        following=parse_flags(line) if line else None,
        config_dir=directory.get("folder"),
        config_dir_exists=directory.get("exists"),
        dropin_variable=evidence.get("dropin_variable"),
        environment=parse_environment_flags(evidence),
        environment_files=_environment_file_kinds(evidence),
        unread_dropins=unread_dropins(directory),
    )


def _environment_file_kinds(evidence: Mapping[str, Any]) -> dict[str, str]:
    files = evidence["files"]
    return {path: files[path]["kind"] for path in evidence.get("environment_files", ()) if path in files}


def _static_pods(files_by_directory: Mapping[str, Any] | None, path_setting: Setting | None) -> tuple[str, ...] | None:
    """The files in the effective static pod directory that kubelet does not ignore (pkg/kubelet/config/file.go)."""
    if files_by_directory is None:
        return None
    path = str(path_setting.value).rstrip("/") if path_setting else ""
    return tuple(f"{path}/{name}" for name in files_by_directory.get(path, ()) if not name.startswith("."))


def _later_claims(start: Start) -> list[Claim]:
    """Values with which the unit would start kubelet next, if they differ from the running ones."""
    following = start.following or ()
    running, following_values = flag_values(start.running), flag_values(following)
    return [
        Claim(
            field.key, render_value(following_values[field.key]), f"{flag_source(field, following)}, at the next start"
        )
        for field in OBSERVED
        if field.key in following_values and following_values[field.key] != running.get(field.key)
    ]


def _configz_claims(configz: Mapping[str, Any]) -> list[Claim]:
    return [
        Claim(field.key, render_value(configz[field.key]), CONFIGZ_SOURCE)
        for field in (CGROUP_DRIVER, CPU_MANAGER_POLICY)
        if field.key in configz
    ]


def _checkpoints(evidence: Mapping[str, Any], version: tuple[int, int] | None) -> tuple[Checkpoint, Checkpoint | None]:
    files, path, memory = evidence["files"], evidence["checkpoint_path"], evidence.get("memory_checkpoint_path")
    return (
        interpret_checkpoint(path, files[path], version),
        interpret_memory_checkpoint(memory, files[memory]) if memory else None,
    )


def _has_no_file(argv: Sequence[str], start: Start) -> bool:
    """Whether kubelet runs as a separate process, not inside k3s and the like, and without --config."""
    named = any(flag.name == "--config" for flag in start.running)
    return bool(argv) and posixpath.basename(argv[0]) == "kubelet" and not named


def _process(evidence: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, Sequence[str]]:
    """kubelet's process, if it runs, and its arguments."""
    process = evidence["processes"][0] if evidence["processes"] else None
    return process, process["argv"] if process else []


def _runtime_config(cri: Mapping[str, Any]) -> Mapping[str, Any]:
    response = cri.get("runtime_config")
    return response if isinstance(response, Mapping) else {}


def interpret_kubelet(
    evidence: Mapping[str, Any], units: Mapping[str, Mapping[str, str]]
) -> tuple[KubeletFacts, list[Claim]]:
    """KubeletFacts of a snapshot's ``kubelet`` section, and all claims about observed fields."""
    process, argv = _process(evidence)
    captured = evidence["files"][evidence["config_path"]]
    release = _find_version(evidence["version"])
    version = minor(release)
    start = _interpret_start(evidence, argv)
    dropins = read_dropins(evidence.get("config_dir") or {}, evidence["files"], process)
    layers = dropins if dropins_read(version, start) else ()
    config = read_kubelet_config(evidence["config_path"], captured, process)
    main, has_no_file = config, _has_no_file(argv, start)
    if has_no_file:
        config, main = without_problems(config), as_missing(config)
    settings = effective_settings(main, layers, start.running, version)
    settings = with_legacy_port(settings) if has_no_file else settings
    response = evidence.get("configz") or {}
    configz = without_deep_fields(response.get("config") or {})
    healthz_now = healthz_url(main, layers, start.running, version)
    policy = settings.get(CPU_MANAGER_POLICY.key)
    checkpoint, memory_checkpoint = _checkpoints(evidence, version)
    plain_text = "" if config.problem else captured.get("text", "")
    facts = KubeletFacts(
        installed=evidence["program"] is not None,
        running=process is not None,
        unit_state=units.get("kubelet.service", {}).get("ActiveState"),
        version=release,
        command_line=tuple(argv),
        config=config,
        cpu_manager_policy=render_value(policy.value) if policy else None,
        cpu_manager_policy_source=policy.source if policy else None,
        checkpoint=checkpoint,
        healthy=evidence["healthz"] == "ok" if process and healthz_now else None,
        settings=settings,
        dropins=dropins,
        runs_without_file=has_no_file,
        start=start,
        memory_checkpoint=memory_checkpoint,
        kubeadm_patches=read_patches(evidence.get("kubeadm_patches")),
        configz=configz if "config" in response else None,
        configz_error=_configz_error(response),
        static_pods=_static_pods(evidence.get("static_pods"), settings.get(STATIC_POD_PATH.key)),
        healthz_url=healthz_url(main, layers, start.running if start.following is None else start.following, version),
        odd_driver_line=find_line_agents_miss(plain_text, CGROUP_DRIVER.key, CGROUP_DRIVER.choices),
        odd_policy_line=find_line_agents_miss(plain_text, CPU_MANAGER_POLICY.key, CPU_MANAGER_POLICY.choices),
    )
    claims = [claim for field in OBSERVED for claim in _claims(field, main, layers, start.running)]
    return facts, claims + _later_claims(start) + _configz_claims(configz)


def without_deep_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields without those nested deeper than kubelet's are; the controller does not trust the node's data."""
    return {key: value for key, value in values.items() if _is_within_depth(value, 6)}


def _is_within_depth(value: Any, levels: int) -> bool:
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return levels > 0 and all(_is_within_depth(item, levels - 1) for item in inner)


def _configz_error(response: Mapping[str, Any]) -> str | None:
    if not response or "config" in response:
        return None
    status = response.get("status")
    return f"HTTP {status}" if status else str(response.get("error"))


def _claims(field: Any, config: ConfigFile, layers: Sequence[ConfigFile], flags: Sequence[Flag]) -> list[Claim]:
    """All claims about a field; the default only for the driver and the CPU manager's policy."""
    claims = claims_of(field, config, layers, flags)
    if field in (CGROUP_DRIVER, CPU_MANAGER_POLICY):
        return claims
    return [claim for claim in claims if claim.source != DEFAULT_SOURCE]
