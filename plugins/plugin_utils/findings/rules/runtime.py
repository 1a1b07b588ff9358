# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about the runtime's files: what it does not start with, and what it takes no notice of."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts import containerd_defects as containerd
from ...facts.node_state import NodeFacts
from ...facts.runtime_state import Defect
from ...releases.containerd_schema import cri_plugins
from ..evidence import claims
from ..model import Effect, Finding, Rule, Severity

ERROR, WARNING = Severity.ERROR, Severity.WARNING

DEFECTS: dict[str, tuple[Severity, Effect, str, str]] = {
    containerd.UNREADABLE: (
        ERROR,
        Effect.UNKNOWN,
        "{file} cannot be read.",
        "Correct the file; its owner would not start with it.",
    ),
    containerd.TOO_NEW: (
        ERROR,
        Effect.LATENT,
        "{file} is written for a newer containerd, and this one will not start with it.",
        "Write the file in a schema that this containerd reads, or upgrade containerd.",
    ),
    containerd.TYPE: (
        ERROR,
        Effect.LATENT,
        "{file} has a value of a type that containerd cannot read, and it will not start.",
        "Write numbers and switches without quotes and fractions: version = 2, SystemdCgroup = true.",
    ),
    containerd.OPTION: (
        ERROR,
        Effect.LATENT,
        "{file} gives an option of a runtime handler a value of another type, and no pod can be made with the handler.",
        "Write SystemdCgroup as true or false, without quotes, and BinaryName as a text.",
    ),
    containerd.MISSING: (
        ERROR,
        Effect.LATENT,
        "{file} imports a file that does not exist, and containerd will not start.",
        "Put the file there or take it out of imports; a pattern with * may match nothing.",
    ),
    containerd.PATTERN: (
        ERROR,
        Effect.LATENT,
        "{file} has imports with a pattern that is none, and containerd will not start.",
        "Close each [ of a pattern, and write a backslash only before the character that it stands for.",
    ),
    containerd.MIXED: (
        ERROR,
        Effect.LATENT,
        "{file} has another schema version than containerd's main file.",
        "Give every file the version of the main one: up to containerd 2.2 the last version counts for all of them and"
        " settings of the others are lost; 2.3.0 to 2.3.4 do not start.",
    ),
    containerd.INVALID: (
        ERROR,
        Effect.LATENT,
        "{file} names a plugin in a way that containerd refuses, and it will not start.",
        "Write the full name, such as io.containerd.grpc.v1.cri; bare names are schema 1's.",
    ),
    containerd.IGNORED: (
        WARNING,
        Effect.NONE,
        "containerd takes no notice of the CRI settings in {file}.",
        "Move them under the key of the file's own schema: docs/cri/config.md of containerd has the table.",
    ),
    containerd.LEGACY: (
        ERROR,
        Effect.LATENT,
        "{file} sets systemd_cgroup where only the runtime of containerd 1.2 reads it; the CRI plugin will not start.",
        "Take the line out and set SystemdCgroup in the options of each handler.",
    ),
    containerd.UNTYPED: (
        ERROR,
        Effect.LATENT,
        "{file} declares a runtime handler without its type, and no pod can be made with it.",
        'Add runtime_type = "io.containerd.runc.v2" to the handler\'s table.',
    ),
    containerd.UNDECLARED: (
        ERROR,
        Effect.LATENT,
        "containerd's default runtime is not declared, and the CRI plugin will not start.",
        "Declare the handler under runtimes, or name one that is.",
    ),
    containerd.SHADOWED: (
        WARNING,
        Effect.NONE,
        "{file} outranks what containerd's main file says of a handler.",
        "Change it in the file that wins; the NVIDIA toolkit writes 99-nvidia.toml as a copy of the CRI section.",
    ),
    containerd.NRI_SOCKET: (
        WARNING,
        Effect.NONE,
        "{file} names NRI's socket by a path that is not absolute.",
        "Write an absolute path, such as /var/run/nri/nri.sock. containerd creates the socket in its working directory,"
        " where NRI plugins do not look for it.",
    ),
    "crio-conmon-cgroup": (
        ERROR,
        Effect.LATENT,
        "conmon's cgroup does not suit CRI-O's cgroup manager, and CRI-O will not start.",
        'With cgroupfs conmon_cgroup is "pod"; with systemd it is "pod" or a slice.',
    ),
    "docker-exec-opts-twice": (
        ERROR,
        Effect.LATENT,
        "dockerd is given exec-opts twice and will not start.",
        "Keep them in one place: daemon.json or the unit.",
    ),
}
"""By code: severity, effect, summary and remedy."""


def defects(facts: NodeFacts) -> Iterator[Finding]:
    for code, (severity, effect, summary, remedy) in DEFECTS.items():
        found = [each for each in facts.runtime.defects if each.code == code]
        for file in dict.fromkeys(each.file for each in found):
            evidence = tuple(_evidence(each) for each in found if each.file == file)
            yield Finding(code, severity, effect, summary.format(file=file), evidence, remedy)


def _evidence(defect: Defect) -> str:
    line = f":{defect.line}" if defect.line is not None else ""
    return f"{defect.file}{line}: {defect.message}"


def cri_disabled(facts: NodeFacts) -> Iterator[Finding]:
    # docker's containerd.io package ships it so (containerd#4581); an import cannot take it back, lists only grow.
    disabled = cri_plugins(facts.runtime.version, facts.runtime.schema_in_force) & set(facts.runtime.disabled_plugins)
    if disabled:
        yield Finding(
            "cri-disabled",
            ERROR,
            Effect.LATENT if facts.runtime.running else Effect.MISALIGNED,
            "containerd's CRI plugin is switched off in its files; kubelet cannot use such a containerd.",
            (f"{facts.runtime.config.path}: disabled_plugins has {', '.join(sorted(disabled))}",),
            "Take it out of disabled_plugins in the main file and restart containerd.",
        )


def runtime_unsupported(facts: NodeFacts) -> Iterator[Finding]:
    if facts.runtime.name not in ("containerd", "cri-o", None):
        yield Finding(
            "runtime-unsupported",
            ERROR,
            Effect.UNSUPPORTED,
            f"kubelet uses {facts.runtime.name}, which this collection does not configure.",
            (facts.runtime.endpoint, *claims(facts, "native.cgroupdriver")),
            "Move the node to containerd or CRI-O, or keep both drivers equal by hand.",
        )


def runtime_older_than_config(facts: NodeFacts) -> Iterator[Finding]:
    """The CRI tells each handler's driver, but nothing tells of the rest of a file that changed since."""
    changed = tuple(each.path for each in facts.runtime.layers if each.changed_after_start)
    if facts.runtime.running and changed and facts.runtime.running_cgroup_driver is None:
        yield Finding(
            "runtime-config-changed-after-start",
            WARNING,
            Effect.LATENT,
            f"{facts.runtime.name}'s files changed after it started, and it does not tell what it runs with.",
            changed,
            "What it runs with may differ from the files; the next restart takes the files.",
        )


RULES: tuple[Rule, ...] = (
    defects,
    cri_disabled,
    runtime_unsupported,
    runtime_older_than_config,
)
