# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Configuration files that cannot be read or safely replaced, and backups that are read like them."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts.config_file import ConfigFile, Problem, advice
from ..facts.node_state import NodeFacts
from ..plan.change_set import Refusal
from .rule_types import Effect, Finding, Severity


def describe_problem(problem: Problem) -> str:
    """``file:line: message``."""
    line = f":{problem.line}" if problem.line is not None else ""
    return f"{problem.file}{line}: {problem.message}"


def unreadable_config(facts: NodeFacts) -> Iterator[Finding]:
    for config in (facts.kubelet.config, facts.runtime.config):
        if config.problem:
            yield Finding(
                "config-unreadable",
                Severity.ERROR,
                Effect.UNKNOWN,
                f"{config.path} cannot be read.",
                (describe_problem(config.problem),),
                advice("Correct the file; its owner would not start with it.", config.problem),
            )


def unsafe_file(config: ConfigFile) -> Iterator[Refusal]:
    if not is_plain_path(config.path):
        yield Refusal(
            "config-path-not-plain",
            "is not an absolute path without . and .. in it, and where it leads depends on who reads it",
            "Name the file by its plain path in the service's --config.",
            file=config.path,
        )
    elif config.kind == "symlink":
        yield Refusal(
            "config-is-symlink",
            "is a symbolic link; replacing it would cut the link, following it would change a file of someone else",
            "Name the real file in the service's --config, or replace the link by the file.",
            file=config.path,
        )
    else:
        yield from unreadable_file(config)


def is_plain_path(path: str) -> bool:
    """Whether a path is what node_transaction takes: document_reader.py, require_absolute."""
    return path.startswith("/") and "\0" not in path and set(path.split("/")[1:]).isdisjoint(("", ".", ".."))


def unreadable_file(config: ConfigFile) -> Iterator[Refusal]:
    problem = config.problem or config.ignored
    if problem:
        yield Refusal(
            "config-unreadable",
            problem.message,
            advice("Correct the file; it is left as it is.", problem),
            file=config.path,
            line=problem.line,
        )


BACKUPS = (
    "~",
    ".bak",
    ".backup",
    ".orig",
    ".old",
    ".save",
    ".swp",
    ".rpmsave",
    ".rpmorig",
    ".rpmnew",
    ".dpkg-old",
    ".dpkg-dist",
    ".dpkg-new",
)


def nri_backup(facts: NodeFacts) -> Iterator[Finding]:
    found = tuple(name for name in facts.writers.nri_plugins if name.endswith(BACKUPS))
    if found:
        yield Finding(
            "nri-backup-is-run",
            Severity.WARNING,
            Effect.LATENT,
            "A backup lies in NRI's plugin folder: the runtime starts every executable file there.",
            tuple(f"/opt/nri/plugins/{name}" for name in found),
            "Move it out of the folder before the runtime restarts.",
        )


def static_pod_backup(facts: NodeFacts) -> Iterator[Finding]:
    """kubernetes pkg/kubelet/config/file.go and file_linux.go: only a name that begins with a dot is passed over."""
    found = tuple(path for path in facts.kubelet.static_pods or () if path.endswith(BACKUPS))
    if found:
        yield Finding(
            "static-pod-backup-is-run",
            Severity.WARNING,
            Effect.LATENT,
            "A backup lies in kubelet's folder of static pods: kubelet takes every file there for a pod.",
            found,
            "Move it out of the folder; kubelet stops the pod that only the backup describes.",
        )


def _stem(path: str) -> str:
    """kubelet takes a name that ends in .conf, and nothing else; CRI-O takes any."""
    return path.removesuffix(".conf")


def dropin_backup(facts: NodeFacts) -> Iterator[Finding]:
    """cri-o pkg/config/config.go, UpdateFromPath; kubernetes cmd/kubelet/app/server.go, mergeKubeletConfigurations."""
    of_runtime = facts.runtime.layers[1:] if facts.runtime.name == "cri-o" else ()
    paths = [each.path for each in (*facts.kubelet.dropins, *of_runtime) if each.kind != "missing"]
    found = tuple(path for path in paths if _stem(path).endswith(BACKUPS))
    if found:
        yield Finding(
            "dropin-backup-is-read",
            Severity.WARNING,
            Effect.NONE,
            "A backup lies in a folder of drop-ins, and is read after the file that it is a backup of.",
            found,
            "Move it out of the folder, and see whether a value in force came from it.",
        )
