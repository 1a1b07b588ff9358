# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Configuration files that cannot be read or safely replaced, and backups that are read like them."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts.config_file import Cause, ConfigFile, Problem, advice
from ..facts.node_state import NodeFacts
from ..plan.change_set import Refusal
from .rule_types import Effect, Finding, Severity


def describe_problem(problem: Problem) -> str:
    """``file:line: message``."""
    line = f":{problem.line}" if problem.line is not None else ""
    return f"{problem.file}{line}: {problem.message}"


def unreadable_config(facts: NodeFacts) -> Iterator[Finding]:
    """Files of kubelet and of the runtime. An invalid drop-in of kubelet has a separate finding."""
    kubelet, runtime = facts.kubelet, facts.runtime
    unread = (dropin.problem for dropin in kubelet.dropins if dropin.problem and dropin.problem.cause is Cause.NOT_READ)
    files = (kubelet.config, runtime.config, *runtime.layers)
    for problem in dict.fromkeys([*(config.problem for config in files), *unread]):
        if problem:
            yield _unreadable(problem)


def _unreadable(problem: Problem) -> Finding:
    summary, consequence = f"{problem.file} is not valid.", "The service that reads it would not start with it."
    if problem.cause is Cause.NOT_READ:
        summary, consequence = f"{problem.file} was not read.", "Until it is read, its values are unknown."
    return Finding(
        "config-unreadable",
        Severity.ERROR,
        Effect.UNKNOWN,
        summary,
        (describe_problem(problem),),
        advice(consequence, problem),
    )


def unsafe_file(config: ConfigFile) -> Iterator[Refusal]:
    if not is_plain_path(config.path):
        yield Refusal(
            "config-path-not-plain",
            "is not an absolute path, or contains ., .. or //; programs may resolve it to different files",
            "Use the plain absolute path in the service's --config.",
            file=config.path,
        )
    elif config.kind == "symlink":
        yield Refusal(
            "config-is-symlink",
            "is a symbolic link; replacing it would break the link, following it could change a file of another owner",
            "Name the target file in the service's --config, or replace the link with the file.",
            file=config.path,
        )
    else:
        yield from unreadable_file(config)


def is_plain_path(path: str) -> bool:
    """Whether node_transaction accepts a path: document_reader.py, require_absolute."""
    return path.startswith("/") and "\0" not in path and set(path.split("/")[1:]).isdisjoint(("", ".", ".."))


def unreadable_file(config: ConfigFile) -> Iterator[Refusal]:
    problem = config.problem or config.ignored
    if problem:
        yield Refusal(
            "config-unreadable",
            problem.message,
            advice("Until then the file is not changed.", problem),
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
    backups = tuple(name for name in facts.writers.nri_plugins if name.endswith(BACKUPS))
    if backups:
        yield Finding(
            "nri-backup-is-run",
            Severity.WARNING,
            Effect.LATENT,
            "NRI's plugin directory contains a backup: the runtime starts every executable file in it.",
            tuple(f"/opt/nri/plugins/{name}" for name in backups),
            "Move it out of the directory before the runtime restarts.",
        )


def static_pod_backup(facts: NodeFacts) -> Iterator[Finding]:
    """kubernetes pkg/kubelet/config/file.go and file_linux.go: only names that begin with a dot are skipped."""
    backups = tuple(path for path in facts.kubelet.static_pods or () if path.endswith(BACKUPS))
    if backups:
        yield Finding(
            "static-pod-backup-is-run",
            Severity.WARNING,
            Effect.LATENT,
            "kubelet's static pod directory contains a backup: kubelet runs every file in it as a pod.",
            backups,
            "Move it out of the directory; kubelet then stops the pod that only the backup describes.",
        )


def _stem(path: str) -> str:
    """The name without .conf: kubelet reads only names that end in .conf, CRI-O reads all names."""
    return path.removesuffix(".conf")


def dropin_backup(facts: NodeFacts) -> Iterator[Finding]:
    """cri-o pkg/config/config.go, UpdateFromPath; kubernetes cmd/kubelet/app/server.go, mergeKubeletConfigurations."""
    of_runtime = facts.runtime.layers[1:] if facts.runtime.name == "cri-o" else ()
    paths = [config.path for config in (*facts.kubelet.dropins, *of_runtime) if config.kind != "missing"]
    backups = tuple(path for path in paths if _stem(path).endswith(BACKUPS))
    if backups:
        yield Finding(
            "dropin-backup-is-read",
            Severity.WARNING,
            Effect.NONE,
            "A drop-in directory contains a backup, which is read after the original file.",
            backups,
            "Move it out of the directory, and check whether an effective value came from it.",
        )
