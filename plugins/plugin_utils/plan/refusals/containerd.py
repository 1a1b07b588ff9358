# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why containerd is not touched: what it is, and what its files are. What a plan would come to is another file's."""

from __future__ import annotations

from collections.abc import Iterator

from ....module_utils.cgroup.kubelet_names import Driver
from ...facts.containerd_defects import IGNORED, NRI_SOCKET, TYPE
from ...facts.containerd_layers import (
    Merge,
    declared_handlers,
    deprecated_handlers,
    schema_of,
    source_of,
    systemd_cgroup_option,
    version_in,
)
from ...facts.containerd_runtime import DUMP, runtime_v1_driver
from ...facts.containerd_tables import DEPRECATED
from ...releases.containerd_schema import DEFAULT_RUNTIME_TYPE, OWN_DROP_IN, RUNTIME_V1, parse_release, readable_schemas
from ..change_set import Refusal
from ..containerd_changes import containerd_nri_unsupported
from ..containerd_location import DROP_IN, files_of, strategy
from ..draft import PlanDraft
from . import containerd_key_case, containerd_outcome
from .model import Rule, unsafe_file

NEWEST_MAJOR = 2


def _installed(draft: PlanDraft) -> Iterator[Refusal]:
    if not draft.runtime.installed:
        yield Refusal(
            "containerd-missing",
            "no containerd program was found",
            "Install containerd first; this collection does not.",
        )


def _config(draft: PlanDraft) -> Iterator[Refusal]:
    yield from unsafe_file(draft.runtime.config)


def _release(draft: PlanDraft) -> Iterator[Refusal]:
    """Which of several files wins differs by release; a lone file means the same to all that read its schema."""
    version, known = draft.runtime.version, parse_release(draft.runtime.version)
    if known is not None and known[0] > NEWEST_MAJOR:
        yield Refusal(
            "containerd-release-unknown",
            f"containerd {version} is newer than what is known here, which is {NEWEST_MAJOR}.x",
            "Use a release of this collection that knows it.",
        )
    elif known is None and len(draft.runtime.layers) > 1:
        yield Refusal(
            "containerd-release-unknown",
            f"its imports count by containerd's release, and the release is {version or 'unknown'}",
            "Take imports out of the file, or do this where containerd can tell its version.",
            file=draft.runtime.config.path,
        )


def _schema(draft: PlanDraft) -> Iterator[Refusal]:
    runtime = draft.runtime
    if not runtime.config.values:
        return
    readable = readable_schemas(runtime.version)
    drop_in = strategy(runtime, draft.profile.containerd_strategy) == DROP_IN
    ignored = [each for each in runtime.defects if each.code == IGNORED and each.file == runtime.config.path]
    # Without a version a file of 2.x still takes drop-ins, as long as nothing in it depends on a schema.
    unnamed = schema_of(runtime.config) == 1 and drop_in and not ignored
    if runtime.config_version not in readable and not unnamed:
        known = ", ".join(map(str, readable))
        yield Refusal(
            "containerd-schema",
            f"its schema version is {_schema_word(runtime.config_version)}; containerd"
            f" {runtime.version or 'of an unknown version'} reads {known}"
            f"{''.join(f'; {each.message}' for each in ignored)}",
            "Migrate the file yourself (2.x prints it with containerd config migrate):"
            " the schema of a file is never changed unasked.",
            file=runtime.config.path,
        )


def _schema_word(version: int | None) -> str:
    return "no whole number" if version is None else str(version)


def _types(draft: PlanDraft) -> Iterator[Refusal]:
    """What the plan rests on, and containerd does not decode: cmd/containerd/server/config/config.go."""
    for config in (draft.runtime.config, *draft.runtime.layers):
        for key in ("imports", "disabled_plugins", "required_plugins"):
            named = config.values.get(key, [])
            if not isinstance(named, list) or not all(isinstance(each, str) for each in named):
                yield Refusal(
                    "containerd-key-type",
                    f"{key} is not a list of texts; containerd does not start with it",
                    "Correct the value, or take it out.",
                    file=config.path,
                )
                return


def _drop_in(draft: PlanDraft) -> Iterator[Refusal]:
    """Ours as somebody else left it. It names a version since it was made."""
    own = files_of(draft.runtime).get(OWN_DROP_IN)
    if own is None or not own.values or version_in(own.values) in readable_schemas(draft.runtime.version):
        return
    yield Refusal(
        "containerd-schema",
        f"its schema version is {own.values.get('version', 'not named')}",
        "Delete this file: it is made anew.",
        file=OWN_DROP_IN,
    )


def _strategy(draft: PlanDraft) -> Iterator[Refusal]:
    runtime = draft.runtime
    if draft.profile.containerd_strategy != DROP_IN:
        return
    if parse_release(runtime.version) is None or runtime.merged.merge is Merge.REPLACING:
        yield Refusal(
            "containerd-strategy",
            f"containerd {runtime.version or 'of an unknown version'} may replace a plugin's table by that of a"
            " drop-in as a whole, which would lose every other setting of it (containerd#5837)",
            "Leave containerd_strategy (colocation_containerd_strategy) at auto.",
            variable="containerd_strategy",
        )


def _dump(draft: PlanDraft) -> Iterator[Refusal]:
    """Nothing is left to write, and containerd does not read it so: what it reads is not understood."""
    runtime, driver = draft.runtime, draft.profile.cgroup_driver
    for handler in runtime.handlers if driver else ():
        systemd = systemd_cgroup_option(declared_handlers(runtime.merged.cri).get(handler.name)) is True
        written = Driver.SYSTEMD if systemd else Driver.CGROUPFS
        dumped = handler.configured if handler.source == DUMP else None
        if dumped and dumped is not driver and written is driver:
            yield Refusal(
                "containerd-dump-differs",
                f"{DUMP} says {dumped.value} for handler {handler.name}, its files say {written.value}",
                "Compare the files with what containerd config dump prints.",
                file=runtime.config.path,
            )


def _runtime_v1(draft: PlanDraft) -> Iterator[Refusal]:
    """Its driver is an option of its own or the CRI plugin's systemd_cgroup, and 2.0 has no such runtime.

    generateRuntimeOptions in pkg/cri/server/helpers.go of 1.6 and 1.7, containerd RELEASES.md.
    """
    layers, wanted = draft.runtime.merged, draft.profile.cgroup_driver
    for name, table in sorted(declared_handlers(layers.cri).items()) if wanted else ():
        if table.get("runtime_type") == RUNTIME_V1 and runtime_v1_driver(layers, table) is not wanted:
            yield Refusal(
                "containerd-runtime-v1",
                f"handler {name} is of type {RUNTIME_V1}, whose driver is not changed here",
                f'Give the handler runtime_type = "{DEFAULT_RUNTIME_TYPE}", or take it out.',
                file=source_of(layers, name) or draft.runtime.config.path,
            )


def _deprecated(draft: PlanDraft) -> Iterator[Refusal]:
    """Handlers that 1.x makes of default_runtime and untrusted_workload_runtime; 2.0 has neither."""
    runtime, layers = draft.runtime, draft.runtime.merged
    kept = deprecated_handlers(layers) if draft.profile.cgroup_driver else {}
    for handler in runtime.handlers:
        if handler.name in kept and handler.configured is not draft.profile.cgroup_driver:
            yield Refusal(
                "containerd-runtime-deprecated",
                f"{DEPRECATED[handler.name]} is a handler of its own, whose driver is not changed here",
                "Declare the handler under runtimes and name it in default_runtime_name, or take it out.",
                file=handler.source or runtime.config.path,
            )


def _nri(draft: PlanDraft) -> Iterator[Refusal]:
    skip = containerd_nri_unsupported(draft.runtime, draft.profile)
    if skip and draft.profile.nri.unsupported == "refuse":
        yield Refusal(
            "nri-unsupported",
            skip.reason,
            "Upgrade containerd, or set nri.unsupported (colocation_nri_unsupported) to skip.",
            variable="nri.enabled",
        )


def _nri_socket(draft: PlanDraft) -> Iterator[Refusal]:
    """Where the socket is depends on how containerd is started; the health gate and plugins need to know it."""
    if not draft.profile.nri.enabled or "socket_path" in draft.profile.nri.settings:
        return
    for defect in draft.runtime.defects:
        if defect.code == NRI_SOCKET:
            yield Refusal(
                "nri-socket-relative",
                f"{defect.message} is not an absolute path",
                "Correct it, or set nri.socket_path (colocation_nri_socket_path), which replaces it.",
                file=defect.file,
                line=defect.line,
            )


def _files(draft: PlanDraft) -> Iterator[Refusal]:
    """Only of a node with something to change; what a plan comes to, only of files that are understood."""
    wanted = draft.profile.cgroup_driver is not None or draft.profile.nri.enabled is not None
    undecoded = wanted and any(each.code == TYPE for each in draft.runtime.defects)
    if not undecoded and not draft.runtime_changes:
        return
    for rules in (
        (_types,),
        (_release, _schema, _drop_in, _strategy),
        containerd_key_case.RULES,
        containerd_outcome.RULES,
    ):
        found = [refusal for rule in rules for refusal in rule(draft)]
        yield from found
        if found:
            return


RULES: tuple[Rule, ...] = (_installed, _config, _runtime_v1, _deprecated, _files, _dump, _nri, _nri_socket)
