# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The container runtime of kubelet and its facts; docker, iSulad and others are read but not configured."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from ...module_utils.snapshot.process_evidence import command_line_option
from ..edit.syntax_messages import explain
from ..edit.text_errors import ParseError
from ..releases.containerd_schema import parse_release
from .config_file import ConfigFile, Problem, read_config
from .containerd_runtime import interpret_containerd
from .crio_runtime import interpret_crio
from .node_state import Claim
from .runtime_state import Defect, NriFacts, RuntimeFacts

DRIVER_OPTION = "native.cgroupdriver"
EXEC_OPTS_REMEDY = f'Write it as a list, such as ["{DRIVER_OPTION}=systemd"]'


def read_docker_json(text: str) -> dict[str, Any]:
    """The object of a JSON text; ParseError on anything else."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        message = explain("JSON", error.msg)
        raise ParseError(message.problem, error.lineno, error.colno, message.remedy) from None
    except RecursionError:
        raise ParseError("nested too deeply", remedy="Reduce the nesting") from None
    if not isinstance(document, dict):
        raise ParseError("not a JSON object", remedy="Write one object in braces")
    return document


def exec_options(argv: Sequence[str]) -> list[str]:
    """Values of every ``--exec-opt``, in both forms."""
    values = [word.partition("=")[2] for word in argv if word.startswith("--exec-opt=")]
    return values + [value for name, value in pairwise(argv) if name == "--exec-opt"]


def _driver_in(options: object) -> str | None:
    values = (
        [str(option) for option in options if str(option).startswith(DRIVER_OPTION + "=")]
        if isinstance(options, list)
        else []
    )
    return values[-1].partition("=")[2] if values else None


def _check_exec_opts(config: ConfigFile) -> ConfigFile:
    """dockerd only starts if exec-opts is a list of strings: moby daemon/config/config.go, ExecOptions []string."""
    options = config.values.get("exec-opts", [])
    if options is None or (
        isinstance(options, list) and all(option is None or isinstance(option, str) for option in options)
    ):
        return config
    before, key, _remaining = (config.text or "").partition('"exec-opts"')
    message = "exec-opts is not a list of strings; dockerd does not start with it"
    line = before.count("\n") + 1 if key else None
    return replace(config, values={}, problem=Problem(config.path, message, line, EXEC_OPTS_REMEDY))


def interpret_other(name: str, evidence: Mapping[str, Any]) -> tuple[RuntimeFacts, list[Claim]]:
    """RuntimeFacts of a runtime by its CRI name; for docker, also from its file and its command line."""
    cri, docker = evidence["cri"], evidence.get("docker") or {}
    processes = docker.get("processes") or []
    process = processes[0] if processes else None
    path = docker.get("config_path", "")
    config = ConfigFile(path, "missing")
    if docker.get("config"):
        config = _check_exec_opts(read_config(path, docker["config"], process, read_docker_json))
    claims = _docker_claims(config, process["argv"] if process else []) if name == "docker" else []
    return (
        RuntimeFacts(
            name=name,
            installed=True,
            running=not cri.get("error"),
            version=str(cri["version"]) if cri.get("version") else None,
            endpoint=cri["endpoint"],
            config=config,
            config_version=None,
            imports=(),
            disabled_plugins=(),
            handlers=(),
            nri=NriFacts(False, False, False, ""),
            kill_mode=None,
            layers=(config,),
            defects=_defects(config, claims),
            command_line=tuple(process["argv"]) if process else (),
        ),
        claims,
    )


def _docker_claims(config: ConfigFile, argv: Sequence[str]) -> list[Claim]:
    by_flag = _driver_in(exec_options(argv))
    claims = [Claim(DRIVER_OPTION, by_flag, "dockerd's command line, --exec-opt")] if by_flag else []
    by_file = _driver_in(config.values.get("exec-opts"))
    return claims + ([Claim(DRIVER_OPTION, by_file, config.path)] if by_file else [])


def _defects(config: ConfigFile, claims: list[Claim]) -> tuple[Defect, ...]:
    """moby#41725: dockerd does not start if a directive is both a flag and in the file, even with equal values."""
    if len(claims) < 2:
        return ()
    return (
        Defect("docker-exec-opts-twice", config.path, "exec-opts is set in this file and on dockerd's command line"),
    )


BY_SOCKET = (
    ("crio", "cri-o"),
    ("cri-dockerd", "docker"),
    ("dockershim", "docker"),
    ("isulad", "isulad"),
    ("containerd", "containerd"),
)
"""Words in the path of the CRI's socket: they identify a runtime that does not respond."""


def runtime_name(evidence: Mapping[str, Any], kubelet: Mapping[str, Any]) -> str:
    """The name that the CRI reports, else the name in the socket's path, else the installed runtime."""
    if evidence.get("docker") and _uses_dockershim(kubelet):
        return "docker"
    cri = evidence["cri"]
    if cri.get("name"):
        return str(cri["name"]).lower()
    named = next((name for word, name in BY_SOCKET if word in cri["endpoint"]), None)
    if named in (None, "containerd") and evidence["program"] is None and evidence.get("crio"):
        return "cri-o"
    return named or "containerd"


def _uses_dockershim(kubelet: Mapping[str, Any]) -> bool:
    """kubelet before 1.24 uses docker unless ``--container-runtime=remote`` (pkg/kubelet/dockershim)."""
    known = parse_release((kubelet.get("version") or "").rpartition(" ")[2])
    if known is None or known >= (1, 24) or not kubelet["processes"]:
        return False
    return command_line_option(kubelet["processes"][0]["argv"], "--container-runtime") in (None, "docker")


def other_runtimes(snapshot: Mapping[str, Any], runtime: RuntimeFacts) -> tuple[str, ...]:
    """Runtimes that run in addition to the one that kubelet uses."""
    programs = list(snapshot.get("other_runtimes", ()))
    if snapshot["runtime"]["processes"]:
        programs.append("containerd")
    # docker uses containerd to run containers.
    own = {"cri-o": ("crio",), "docker": ("dockerd", "cri-dockerd", "containerd")}.get(
        runtime.name or "", (runtime.name,)
    )
    return tuple(sorted(set(programs) - set(own)))


def interpret_runtime(
    evidence: Mapping[str, Any], units: Mapping[str, Mapping[str, str]], kubelet: Mapping[str, Any]
) -> tuple[RuntimeFacts, list[Claim]]:
    """RuntimeFacts of a snapshot's ``runtime`` section, and all claims about its driver."""
    name = runtime_name(evidence, kubelet)
    if name == "cri-o":
        return interpret_crio(evidence, units)
    if name != "containerd":
        return interpret_other(name, evidence)
    facts = interpret_containerd(evidence, units)
    return facts, _claims(facts)


def _claims(facts: RuntimeFacts) -> list[Claim]:
    claims = []
    for handler in facts.handlers if facts.installed else ():
        setting = f"SystemdCgroup of handler {handler.name}"
        if handler.running:
            claims.append(Claim(setting, handler.running.value, "the CRI's Status, in effect now"))
        if handler.configured:
            claims.append(Claim(setting, handler.configured.value, handler.source or "containerd's default"))
    return claims
