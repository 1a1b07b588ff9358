# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of runtimes that this collection reads but does not configure: docker, iSulad and others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from ...module_utils.cgroup.kubelet_names import Driver
from ..edit.errors import ParseError
from .config import read_config
from .config_file import ConfigFile, Problem
from .cri import runtime_config
from .model import Claim, Defect, NriFacts, RuntimeFacts

OPTION = "native.cgroupdriver"


def read_json(text: str) -> dict[str, Any]:
    """The object of a JSON text; ParseError on anything else."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ParseError(f"not JSON: {error}", getattr(error, "lineno", None)) from None
    except RecursionError:
        raise ParseError("nested too deeply") from None
    if not isinstance(found, dict):
        raise ParseError("not a JSON object")
    return found


def exec_options(argv: Sequence[str]) -> list[str]:
    """Values of every ``--exec-opt``, in both forms."""
    found = [word.partition("=")[2] for word in argv if word.startswith("--exec-opt=")]
    return found + [value for name, value in pairwise(argv) if name == "--exec-opt"]


def _driver_in(options: object) -> str | None:
    found = [str(each) for each in options if str(each).startswith(OPTION + "=")] if isinstance(options, list) else []
    return found[-1].partition("=")[2] if found else None


def _of_its_type(config: ConfigFile) -> ConfigFile:
    """With other exec-opts than texts dockerd does not start: moby daemon/config/config.go, ExecOptions []string."""
    options = config.values.get("exec-opts", [])
    if options is None or (
        isinstance(options, list) and all(each is None or isinstance(each, str) for each in options)
    ):
        return config
    before, named, _rest = (config.text or "").partition('"exec-opts"')
    message = "exec-opts is not a list of texts; dockerd does not start with it"
    return replace(config, values={}, problem=Problem(config.path, message, before.count("\n") + 1 if named else None))


def interpret_other(name: str, evidence: Mapping[str, Any]) -> tuple[RuntimeFacts, list[Claim]]:
    """RuntimeFacts of a runtime by its CRI name; of docker also what its file and its command line say."""
    cri, docker = evidence["cri"], evidence.get("docker") or {}
    processes = docker.get("processes") or []
    process = processes[0] if processes else None
    path = docker.get("config_path", "")
    config = ConfigFile(path, "missing")
    if docker.get("config"):
        config = _of_its_type(read_config(path, docker["config"], process, read_json))
    claims = _claims(config, process["argv"] if process else []) if name == "docker" else []
    driver, supported = runtime_config(cri)
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
            cgroup_driver=_as_driver(claims[0].value) if claims else None,
            running_cgroup_driver=driver,
            handlers=(),
            nri=NriFacts(False, False, False, ""),
            kill_mode=None,
            cri_cgroup_driver=driver,
            runtime_config_supported=supported,
            layers=(config,),
            defects=_defects(config, claims),
            command_line=tuple(process["argv"]) if process else (),
        ),
        claims,
    )


def _as_driver(value: str) -> Driver | None:
    return Driver(value) if value in ("systemd", "cgroupfs") else None


def _claims(config: ConfigFile, argv: Sequence[str]) -> list[Claim]:
    flag = _driver_in(exec_options(argv))
    claims = [Claim(OPTION, flag, "dockerd's command line, --exec-opt")] if flag else []
    written = _driver_in(config.values.get("exec-opts"))
    return claims + ([Claim(OPTION, written, config.path)] if written else [])


def _defects(config: ConfigFile, claims: list[Claim]) -> tuple[Defect, ...]:
    """moby#41725: the same directive as a flag and in the file keeps dockerd from starting, whatever the values."""
    if len(claims) < 2:
        return ()
    return (Defect("docker-exec-opts-twice", config.path, "exec-opts stand here and on dockerd's command line"),)
