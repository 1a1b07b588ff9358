# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of kubelet: which value is in force, which source says so, who decides the cgroup driver; its checkpoints."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ...module_utils.quantity import parse_cpu_list
from ..profile.kubelet_fields import CGROUP_DRIVER, CPU_MANAGER_POLICY, FEATURE_GATES, OBSERVED, STATIC_POD_PATH
from ..releases.versions import Version, minor
from .config_file import ConfigFile, read_kubelet_config
from .kubeadm_patch_files import read_patches
from .kubelet_command_line import (
    environment_flags,
    flag_source,
    flag_value,
    flag_values,
    flags,
    next_line,
    running_flags,
)
from .kubelet_layers import (
    DEFAULT_SOURCE,
    claims_of,
    dropins_read,
    healthz_url,
    read_dropins,
    render_value,
    settings_in_force,
    unread_reason,
    without_file,
)
from .kubelet_state import Checkpoint, Flag, KubeletFacts, Setting, Start
from .node_state import Claim

PLAIN_KEYS = frozenset(("policyName", "defaultCpuSet", "entries", "checksum"))
OTHER_FORMATS_SINCE = (1, 36)
"""From here a gate adds fields to the checkpoint that count into its checksum and may be missing in the file."""


def fnv32a(content: bytes) -> int:
    """Go's hash/fnv New32a."""
    value = 0x811C9DC5
    for byte in content:
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


def _go_map(table: Mapping[str, Any]) -> str:
    inner = (f"{key}:{_go_map(value) if isinstance(value, Mapping) else value}" for key, value in sorted(table.items()))
    return f"map[{' '.join(inner)}]"


def _entries(state: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = {} if state.get("entries") is None else state["entries"]
    return found


def cpu_checksum(state: Mapping[str, Any]) -> int:
    """The checksum of a cpu_manager_state document.

    kubelet hashes the struct as go-spew prints it with %#v, Checksum being 0: pkg/kubelet/checkpointmanager/checksum,
    pkg/util/hash DeepHashObject, pkg/kubelet/cm/cpumanager/state/checkpoint.go.
    """
    printed = (
        f"(*state.CPUManagerCheckpoint){{PolicyName:(string){state['policyName']}"
        f" DefaultCPUSet:(string){state.get('defaultCpuSet', '')}"
        f" Entries:(map[string]map[string]string){_go_map(_entries(state))}"
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
    """cpu_manager_state, JSON of pkg/kubelet/cm/cpumanager/state: unreadable content has no policy."""
    if "text" not in captured:
        return Checkpoint(path, captured["kind"] != "missing")
    try:
        state = json.loads(captured["text"])
        shared = parse_cpu_list(state.get("defaultCpuSet", ""))
        lists = [cpus for containers in _entries(state).values() for cpus in containers.values()]
        cpus = shared.union(*map(parse_cpu_list, lists))
        return Checkpoint(path, True, str(state["policyName"]), cpus, shared, _checksum(state, version))
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return Checkpoint(path, True)


def interpret_memory_checkpoint(path: str, captured: Mapping[str, Any]) -> Checkpoint:
    """memory_manager_state. Its checksum covers Go structs behind pointers and is not verified here."""
    if "text" not in captured:
        return Checkpoint(path, captured["kind"] != "missing")
    try:
        state = json.loads(captured["text"])
        policy = str(state["policyName"])
        return Checkpoint(path, True, policy, checksum="unverified" if state.get("checksum") else "absent")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return Checkpoint(path, True)


DRIVER_FROM_CRI_GATE = "KubeletCgroupDriverFromCRI"
GATE_ALPHA_SINCE, GATE_BETA_SINCE, GATE_LOCKED_SINCE = (1, 28), (1, 31), (1, 34)
"""pkg/features/kube_features.go: off by default, on by default, on for good."""
CONFIGZ_EFFECTIVE_SINCE = (1, 35)
"""initConfigz runs after the CRI was asked (cmd/kubelet/app/server.go); earlier, /configz has the configured one."""
CRI_SOURCE = "the CRI's RuntimeConfig"
CONFIGZ_SOURCE = "kubelet's /configz"

EffectiveDriver = tuple[str | None, str | None, str | None]
"""Word, source, authority (``cri``, ``config``, ``flag``, ``default``)."""


def asks_cri(version: tuple[int, int] | None, gates: Any) -> bool:
    """Whether this kubelet asks the CRI for the driver when it starts."""
    if version is None or version < GATE_ALPHA_SINCE:
        return False
    if version >= GATE_LOCKED_SINCE:
        return True
    chosen = gates.get(DRIVER_FROM_CRI_GATE) if isinstance(gates, Mapping) else None
    return version >= GATE_BETA_SINCE if chosen is None else str(chosen).lower() == "true"


def configured_driver(settings: Mapping[str, Setting], running: tuple[Flag, ...]) -> EffectiveDriver:
    """The driver by kubelet's own configuration."""
    setting = settings.get(CGROUP_DRIVER.key)
    if setting is None:
        return None, None, None
    if flag_value(CGROUP_DRIVER, running) is not None:
        authority = "flag"
    else:
        authority = "default" if setting.source == DEFAULT_SOURCE else "config"
    return str(setting.value), setting.source, authority


def running_driver(
    at_restart: EffectiveDriver, version: tuple[int, int] | None, configz: Mapping[str, Any] | None
) -> EffectiveDriver:
    """What kubelet runs with by its own word, where that is not what it would start with now."""
    told = (configz or {}).get(CGROUP_DRIVER.key)
    if told in (None, "", at_restart[0]):
        return at_restart
    effective = version is not None and version >= CONFIGZ_EFFECTIVE_SINCE
    if effective or at_restart[2] in ("config", "flag", "default"):
        return str(told), CONFIGZ_SOURCE, at_restart[2]
    return at_restart


def driver_at_restart(
    settings: Mapping[str, Setting],
    running: tuple[Flag, ...],
    version: tuple[int, int] | None,
    runtime_config: Mapping[str, Any] | None,
) -> EffectiveDriver:
    """The driver kubelet would start with. Where it asks the CRI and we have no answer, who decides is left open."""
    own = configured_driver(settings, running)
    gates = settings[FEATURE_GATES.key].value if FEATURE_GATES.key in settings else None
    if not asks_cri(version, gates):
        return own
    answer = runtime_config or {}
    if answer.get("cgroup_driver"):
        return answer["cgroup_driver"], CRI_SOURCE, "cri"
    if answer.get("error") == "unimplemented":
        return own
    return own[0], own[1], None


_PLAIN = re.compile(r" [A-Za-z]+\s*")


DRIVERS = ("systemd", "cgroupfs")
POLICIES = ("none", "static")


def as_driver(value: str | None) -> Driver | None:
    """kubelet takes anything but exactly ``systemd`` for cgroupfs (container_manager_linux.go); we call it unknown."""
    return Driver(value) if value in DRIVERS else None


def _version(text: str | None) -> str | None:
    found = re.search(r"v?(\d+\.\d+\.\d+\S*)", text or "")
    return found[1] if found else None


def line_agents_miss(text: str, key: str, words: Sequence[str]) -> int | None:
    """The line of a key when agents that look for the plain words miss it: quotes, a comment behind it."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(f"{key}:"):
            value = line[len(key) + 1 :]
            known = value.partition("#")[0].strip(" \t'\"") in words
            return number if known and not _PLAIN.fullmatch(value) else None
    return None


def _start(evidence: Mapping[str, Any], argv: Sequence[str]) -> Start:
    line = next_line(evidence)
    folder = evidence.get("config_dir") or {}
    return Start(
        running=running_flags(argv) if argv else flags(line),
        following=flags(line) if line else None,
        config_dir=folder.get("folder"),
        config_dir_exists=folder.get("exists"),
        dropin_variable=evidence.get("dropin_variable"),
        environment=environment_flags(evidence),
        environment_files=_kinds(evidence),
        unseen=unread_reason(folder),
    )


def _kinds(evidence: Mapping[str, Any]) -> dict[str, str]:
    files = evidence["files"]
    return {path: files[path]["kind"] for path in evidence.get("environment_files", ()) if path in files}


def _static_pods(listed: Mapping[str, Any] | None, folder: Setting | None) -> tuple[str, ...] | None:
    """The files of the folder in force, without those that kubelet passes over (pkg/kubelet/config/file.go)."""
    if listed is None:
        return None
    path = str(folder.value).rstrip("/") if folder else ""
    return tuple(f"{path}/{name}" for name in listed.get(path, ()) if not name.startswith("."))


def _later_claims(found: Start) -> list[Claim]:
    """What the unit and its environment files would start kubelet with, where it does not run with that."""
    following = found.following or ()
    now, then = flag_values(found.running), flag_values(following)
    return [
        Claim(field.key, render_value(then[field.key]), f"{flag_source(field, following)}, at the next start")
        for field in OBSERVED
        if field.key in then and then[field.key] != now.get(field.key)
    ]


def _answers(configz: Mapping[str, Any], runtime_config: Mapping[str, Any]) -> list[Claim]:
    said = [
        Claim(field.key, render_value(configz[field.key]), CONFIGZ_SOURCE)
        for field in (CGROUP_DRIVER, CPU_MANAGER_POLICY)
        if field.key in configz
    ]
    if runtime_config.get("cgroup_driver"):
        said.append(Claim(CGROUP_DRIVER.key, str(runtime_config["cgroup_driver"]), CRI_SOURCE))
    return said


def _checkpoints(evidence: Mapping[str, Any], version: tuple[int, int] | None) -> tuple[Checkpoint, Checkpoint | None]:
    files, path, memory = evidence["files"], evidence["checkpoint_path"], evidence.get("memory_checkpoint_path")
    return (
        interpret_checkpoint(path, files[path], version),
        interpret_memory_checkpoint(memory, files[memory]) if memory else None,
    )


def _has_no_file(argv: Sequence[str], start: Start) -> bool:
    """Whether a kubelet runs without --config; k3s and others start theirs inside of them."""
    named = any(flag.name == "--config" for flag in start.running)
    return bool(argv) and posixpath.basename(argv[0]) == "kubelet" and not named


def _process(evidence: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, Sequence[str]]:
    """kubelet's process, where there is one, and its arguments."""
    process = evidence["processes"][0] if evidence["processes"] else None
    return process, process["argv"] if process else []


def _settings(
    config: ConfigFile, layers: Sequence[ConfigFile], start: Start, argv: Sequence[str], version: Version | None
) -> dict[str, Setting]:
    settings = settings_in_force(config, layers, start.running, version)
    return without_file(settings) if config.kind == "missing" and _has_no_file(argv, start) else settings


def _runtime_config(cri: Mapping[str, Any]) -> Mapping[str, Any]:
    answer = cri.get("runtime_config")
    return answer if isinstance(answer, Mapping) else {}


def interpret_kubelet(
    evidence: Mapping[str, Any], units: Mapping[str, Mapping[str, str]], cri: Mapping[str, Any]
) -> tuple[KubeletFacts, list[Claim]]:
    """KubeletFacts of a snapshot's ``kubelet`` section, and every claim on the fields we observe."""
    process, argv = _process(evidence)
    config = read_kubelet_config(evidence["config_path"], evidence["files"][evidence["config_path"]], process)
    release = _version(evidence["version"])
    version = minor(release)
    start = _start(evidence, argv)
    dropins = read_dropins(evidence.get("config_dir") or {}, evidence["files"], process)
    layers = dropins if dropins_read(version, start) else ()
    settings = _settings(config, layers, start, argv, version)
    runtime_config = _runtime_config(cri)
    answer = evidence.get("configz") or {}
    told = shallow(answer.get("config") or {})
    at_restart = driver_at_restart(settings, start.running, version, runtime_config)
    driver, source, authority = running_driver(at_restart, version, told)
    answers_now = healthz_url(config, layers, start.running, version)
    policy = settings.get(CPU_MANAGER_POLICY.key)
    checkpoint, memory_checkpoint = _checkpoints(evidence, version)
    plain_text = "" if config.problem else evidence["files"][config.path].get("text", "")
    facts = KubeletFacts(
        installed=evidence["program"] is not None,
        running=process is not None,
        unit_state=units.get("kubelet.service", {}).get("ActiveState"),
        version=release,
        command_line=tuple(argv),
        config=config,
        cgroup_driver=as_driver(driver),
        cgroup_driver_source=source,
        cpu_manager_policy=render_value(policy.value) if policy else None,
        cpu_manager_policy_source=policy.source if policy else None,
        checkpoint=checkpoint,
        healthy=evidence["healthz"] == "ok" if process and answers_now else None,
        cgroup_driver_authority=authority,
        settings=settings,
        dropins=dropins,
        start=start,
        memory_checkpoint=memory_checkpoint,
        kubeadm_patches=read_patches(evidence.get("kubeadm_patches")),
        configz=told if "config" in answer else None,
        configz_error=_configz_error(answer),
        driver_at_restart=at_restart[0],
        static_pods=_static_pods(evidence.get("static_pods"), settings.get(STATIC_POD_PATH.key)),
        healthz_url=healthz_url(config, layers, start.running if start.following is None else start.following, version),
        odd_driver_line=line_agents_miss(plain_text, CGROUP_DRIVER.key, DRIVERS),
        odd_policy_line=line_agents_miss(plain_text, CPU_MANAGER_POLICY.key, POLICIES),
    )
    claims = [claim for field in OBSERVED for claim in _claims(field, config, layers, start.running)]
    return facts, claims + _later_claims(start) + _answers(told, runtime_config)


def shallow(values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are no deeper than kubelet's are; a node is less trusted than the controller."""
    return {key: value for key, value in values.items() if _depth_left(value, 6)}


def _depth_left(value: Any, levels: int) -> bool:
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return levels > 0 and all(_depth_left(each, levels - 1) for each in inner)


def _configz_error(answer: Mapping[str, Any]) -> str | None:
    if not answer or "config" in answer:
        return None
    status = answer.get("status")
    return f"HTTP {status}" if status else str(answer.get("error"))


def _claims(field: Any, config: ConfigFile, layers: Sequence[ConfigFile], found: Sequence[Flag]) -> list[Claim]:
    """All claims on a field; the default is worth a line only of the driver and the CPU manager's policy."""
    said = claims_of(field, config, layers, found)
    if field in (CGROUP_DRIVER, CPU_MANAGER_POLICY):
        return said
    return [claim for claim in said if claim.source != DEFAULT_SOURCE]
