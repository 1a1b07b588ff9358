# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""containerd's files: defects with which it does not start or that it ignores, and refusals to change the files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..facts import containerd_defects as containerd
from ..facts.containerd_defects import IGNORED, TYPE
from ..facts.containerd_layers import Merge, schema_of, version_in
from ..facts.node_state import NodeFacts
from ..plan.change_set import Refusal
from ..plan.containerd_location import DROP_IN, files_of, strategy
from ..plan.draft import PlanDraft
from ..releases.containerd_schema import OWN_DROP_IN, cri_plugins, parse_release, readable_schemas
from .cgroup_driver_mismatch import refuse_deprecated_handlers, refuse_differing_dump, refuse_runtime_v1
from .config_files import unsafe_file
from .containerd_outcome import OUTCOME_REFUSALS, refuse_key_case
from .nri import refuse_containerd_connections, refuse_containerd_nri, refuse_relative_nri_socket
from .rule_types import DefectFinding, Effect, Finding, RefusalRule, Severity

ERROR, WARNING = Severity.ERROR, Severity.WARNING


CONTAINERD_DEFECTS: Mapping[str, DefectFinding] = {
    containerd.UNREADABLE: (
        ERROR,
        Effect.UNKNOWN,
        "Not all files that {file} imports were read.",
        "Import fewer files, by names that exist; until then containerd's values are unknown.",
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
        "{file} has a value of a type that containerd cannot decode, and containerd will not start.",
        "Write numbers and booleans without quotes and fractions: version = 2, SystemdCgroup = true.",
    ),
    containerd.OPTION: (
        ERROR,
        Effect.LATENT,
        "{file} sets an option of a runtime handler to a wrong type, and no pod can be created with the handler.",
        "Write SystemdCgroup as true or false, without quotes, and BinaryName as a string.",
    ),
    containerd.MISSING: (
        ERROR,
        Effect.LATENT,
        "{file} imports a file that does not exist, and containerd will not start.",
        "Create the file or remove it from imports; a pattern with * may match nothing.",
    ),
    containerd.PATTERN: (
        ERROR,
        Effect.LATENT,
        "{file} has an invalid pattern in imports, and containerd will not start.",
        "Close each [ of the pattern, and write a backslash only before the character that it escapes.",
    ),
    containerd.MIXED: (
        ERROR,
        Effect.LATENT,
        "{file} has another schema version than containerd's main file.",
        "Give every file the version of the main file: up to containerd 2.2 the last version applies to all files and"
        " settings of the others are lost; 2.3.0 to 2.3.4 do not start.",
    ),
    containerd.INVALID: (
        ERROR,
        Effect.LATENT,
        "{file} names a plugin in a way that containerd refuses, and containerd will not start.",
        "Write the full name, such as io.containerd.grpc.v1.cri; only schema 1 has short names.",
    ),
    containerd.IGNORED: (
        WARNING,
        Effect.NONE,
        "containerd ignores the CRI settings in {file}.",
        "Move them under the key of the file's own schema: docs/cri/config.md of containerd has the table.",
    ),
    containerd.LEGACY: (
        ERROR,
        Effect.LATENT,
        "{file} sets systemd_cgroup where only the runtime of containerd 1.2 reads it; the CRI plugin will not start.",
        "Remove the line and set SystemdCgroup in the options of each handler.",
    ),
    containerd.UNTYPED: (
        ERROR,
        Effect.LATENT,
        "{file} declares a runtime handler without its type, and no pod can be created with it.",
        'Add runtime_type = "io.containerd.runc.v2" to the handler\'s table.',
    ),
    containerd.UNDECLARED: (
        ERROR,
        Effect.LATENT,
        "containerd's default runtime is not declared, and the CRI plugin will not start.",
        "Declare the handler under runtimes, or set default_runtime_name to a declared one.",
    ),
    containerd.SHADOWED: (
        WARNING,
        Effect.NONE,
        "{file} overrides settings of a handler in containerd's main file.",
        "Change the handler in this file; the NVIDIA toolkit writes 99-nvidia.toml as a copy of the CRI section.",
    ),
    containerd.NRI_SOCKET: (
        WARNING,
        Effect.NONE,
        "{file} names NRI's socket by a path that is not absolute.",
        "Write an absolute path, such as /var/run/nri/nri.sock. containerd creates the socket in its working directory,"
        " where NRI plugins do not look for it.",
    ),
}


def cri_disabled(facts: NodeFacts) -> Iterator[Finding]:
    # docker's containerd.io package ships it disabled (containerd#4581); an import cannot enable it, lists only grow.
    disabled = cri_plugins(facts.runtime.version, facts.runtime.effective_schema) & set(facts.runtime.disabled_plugins)
    if disabled:
        yield Finding(
            "cri-disabled",
            ERROR,
            Effect.LATENT if facts.runtime.running else Effect.MISALIGNED,
            "containerd's CRI plugin is disabled in its files; kubelet cannot use containerd without it.",
            (f"{facts.runtime.config.path}: disabled_plugins has {', '.join(sorted(disabled))}",),
            "Remove it from disabled_plugins in the main file and restart containerd.",
        )


NEWEST_MAJOR = 2


def _refuse_missing_containerd(draft: PlanDraft) -> Iterator[Refusal]:
    if not draft.runtime.installed:
        yield Refusal(
            "containerd-missing",
            "no containerd program was found",
            "Install containerd first; this collection does not install it.",
        )


def _refuse_unsafe_main_file(draft: PlanDraft) -> Iterator[Refusal]:
    yield from unsafe_file(draft.runtime.config)


def _refuse_unknown_release(draft: PlanDraft) -> Iterator[Refusal]:
    """Which of several files takes effect depends on the release; a single file is read alike by all releases."""
    version, known = draft.runtime.version, parse_release(draft.runtime.version)
    if known is not None and known[0] > NEWEST_MAJOR:
        yield Refusal(
            "containerd-release-unknown",
            f"containerd {version} is newer than {NEWEST_MAJOR}.x, the newest that this collection supports",
            "Use a release of this collection that supports it.",
        )
    elif known is None and len(draft.runtime.layers) > 1:
        yield Refusal(
            "containerd-release-unknown",
            f"the effect of its imports depends on containerd's release, which is {version or 'unknown'}",
            "Remove imports from the file, or run this on a node where containerd reports its version.",
            file=draft.runtime.config.path,
        )


def _refuse_schema(draft: PlanDraft) -> Iterator[Refusal]:
    runtime = draft.runtime
    if not runtime.config.values:
        return
    readable = readable_schemas(runtime.version)
    drop_in = strategy(runtime, draft.profile.containerd_strategy) == DROP_IN
    ignored = [defect for defect in runtime.defects if defect.code == IGNORED and defect.file == runtime.config.path]
    # Without a version a file of 2.x can still have drop-ins if nothing in it depends on a schema.
    unnamed = schema_of(runtime.config) == 1 and drop_in and not ignored
    if runtime.config_version not in readable and not unnamed:
        known = ", ".join(map(str, readable))
        yield Refusal(
            "containerd-schema",
            f"its schema version is {_schema_text(runtime.config_version)}; containerd"
            f" {runtime.version or 'of an unknown version'} reads {known}"
            f"{''.join(f'; {defect.message}' for defect in ignored)}",
            "Migrate the file yourself (containerd config migrate of 2.x prints the result);"
            " this collection never changes the schema of a file.",
            file=runtime.config.path,
        )


def _schema_text(version: int | None) -> str:
    return "not an integer" if version is None else str(version)


def _refuse_wrong_types(draft: PlanDraft) -> Iterator[Refusal]:
    """Keys that the plan relies on and containerd cannot decode: cmd/containerd/server/config/config.go."""
    for config in (draft.runtime.config, *draft.runtime.layers):
        for key in ("imports", "disabled_plugins", "required_plugins"):
            names = config.values.get(key, [])
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                yield Refusal(
                    "containerd-key-type",
                    f"{key} is not a list of strings; containerd does not start with it",
                    "Correct the value, or remove it.",
                    file=config.path,
                )
                return


def _refuse_drop_in_schema(draft: PlanDraft) -> Iterator[Refusal]:
    """The drop-in of this collection after a change by another program: it was written with a version."""
    own = files_of(draft.runtime).get(OWN_DROP_IN)
    if own is None or not own.values or version_in(own.values) in readable_schemas(draft.runtime.version):
        return
    yield Refusal(
        "containerd-schema",
        f"its schema version is {own.values.get('version', 'not named')}",
        "Delete this file; the next run creates it again.",
        file=OWN_DROP_IN,
    )


def _refuse_strategy(draft: PlanDraft) -> Iterator[Refusal]:
    runtime = draft.runtime
    if draft.profile.containerd_strategy != DROP_IN:
        return
    if parse_release(runtime.version) is None or runtime.merged.merge is Merge.REPLACING:
        yield Refusal(
            "containerd-strategy",
            f"containerd {runtime.version or 'of an unknown version'} may replace a plugin's whole table with that"
            " of a drop-in, which would lose every other setting in it (containerd#5837)",
            "Leave colocation_containerd_strategy at auto.",
            variable="containerd_strategy",
        )


def _refuse_files(draft: PlanDraft) -> Iterator[Refusal]:
    """Only for a node with changes. The result of a plan is checked only if the files pass the earlier checks."""
    changes_runtime = draft.profile.sets_runtime
    undecoded = changes_runtime and any(defect.code == TYPE for defect in draft.runtime.defects)
    if not undecoded and not draft.runtime_changes:
        return
    for rules in (
        (_refuse_wrong_types,),
        (_refuse_unknown_release, _refuse_schema, _refuse_drop_in_schema, _refuse_strategy),
        (refuse_key_case,),
        OUTCOME_REFUSALS,
    ):
        refused = [refusal for rule in rules for refusal in rule(draft)]
        yield from refused
        if refused:
            return


CONTAINERD_REFUSALS: tuple[RefusalRule, ...] = (
    _refuse_missing_containerd,
    _refuse_unsafe_main_file,
    refuse_runtime_v1,
    refuse_deprecated_handlers,
    _refuse_files,
    refuse_differing_dump,
    refuse_containerd_nri,
    refuse_containerd_connections,
    refuse_relative_nri_socket,
)
