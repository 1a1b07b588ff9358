# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's command line: flags that it does not accept, that change at a restart, or that override its files.

Source: cmd/kubelet/app/options, spf13/pflag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..facts.kubelet_accepted_values import is_duration
from ..facts.kubelet_command_line import REMOVED_FLAGS, flag_source, flag_values
from ..facts.kubelet_layers import render_value
from ..facts.kubelet_state import Flag
from ..facts.node_layout import RANCHER
from ..facts.node_state import NodeFacts
from ..plan.change_set import Refusal
from ..plan.draft import PlanDraft
from ..plan.kubelet_changes import Override, changed_entries, fields_of, find_overrides
from ..profile.field_schema import KubeletField
from ..profile.kubelet_fields import OBSERVED
from ..releases.kubelet_features import parse_bool
from ..releases.kubelet_generated import FLAGS
from ..releases.versions import minor
from .rule_types import Effect, Finding, Severity, start_failure

PATH_FLAGS = ("--config", "--config-dir", "--root-dir")


def _changes(running: tuple[Flag, ...], following: tuple[Flag, ...]) -> Iterator[str]:
    now, then = flag_values(running), flag_values(following)
    for field in OBSERVED:
        if now.get(field.key) != then.get(field.key):
            source = flag_source(field, following) if field.key in then else "no longer set"
            yield f"{field.flag}: {_flag_value(now, field)} now, {_flag_value(then, field)} next ({source})"
    for name in PATH_FLAGS:
        before, after = _last_value(running, name), _last_value(following, name)
        # systemd replaces specifiers such as %S.
        if before != after and "%" not in (after or ""):
            yield f"{name}: {before or 'not set'} now, {after or 'not set'} next"


def _flag_value(values: Mapping[str, Any], field: KubeletField) -> str:
    return render_value(values[field.key]) if field.key in values else "not set"


def _last_value(flags: tuple[Flag, ...], name: str) -> str | None:
    return next((flag.value for flag in reversed(flags) if flag.name == name), None)


def flags_change_at_restart(facts: NodeFacts) -> Iterator[Finding]:
    start = facts.kubelet.start
    if not facts.kubelet.running or start.following is None:
        return
    changes = tuple(_changes(start.running, start.following))
    if changes:
        yield Finding(
            "kubelet-flags-change",
            Severity.WARNING,
            Effect.LATENT,
            "kubelet's unit or its environment files would start it with other flags than it runs with.",
            changes,
            "Decide which is right before kubelet or the node restarts.",
        )


def removed_flags(flags: tuple[Flag, ...], version: tuple[int, int]) -> tuple[str, ...]:
    """Flags that this version of kubelet no longer has, with their sources."""
    removed = {
        flag.name: flag for flag in flags if flag.name in REMOVED_FLAGS and version >= REMOVED_FLAGS[flag.name][0]
    }
    return tuple(
        f"{name} ({flag.source}), removed in {'.'.join(map(str, REMOVED_FLAGS[name][0]))}, {REMOVED_FLAGS[name][1]}"
        for name, flag in sorted(removed.items())
    )


def flag_removed(facts: NodeFacts) -> Iterator[Finding]:
    start, version = facts.kubelet.start, minor(facts.kubelet.version)
    removed = removed_flags((*start.running, *(start.following or ())), version) if version else ()
    if removed:
        yield Finding(
            "flag-removed",
            Severity.ERROR,
            Effect.LATENT,
            f"kubelet {facts.kubelet.version} no longer has {len(removed)} of its flags and does not start with them.",
            removed,
            "Remove them from kubelet's unit, its drop-ins or their environment files.",
        )


def flag_quoted(facts: NodeFacts) -> Iterator[Finding]:
    start = facts.kubelet.start
    watched = {field.flag for field in OBSERVED} | set(PATH_FLAGS)
    quoted = [
        flag
        for flag in (*start.running, *(start.following or ()))
        if flag.name in watched and (flag.value or "")[:1] in ("'", '"')
    ]
    if quoted:
        yield Finding(
            "flag-quoted",
            Severity.WARNING,
            Effect.LATENT,
            "Quotes reach kubelet as part of a flag's value.",
            tuple(dict.fromkeys(f"{flag.name}={flag.value} ({flag.source})" for flag in quoted)),
            "Remove the quotes where the flag is written; neither systemd nor kubelet removes them.",
        )


_WHOLE = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO]?[0-7_]*|[1-9][0-9_]*)", re.ASCII)


_BITS = {"int": 64, "int32": 32, "int64": 64}


def flag_refused(facts: NodeFacts) -> Iterator[Finding]:
    version = minor(facts.kubelet.version)
    known = FLAGS.get(version) if version else None
    if known is None or facts.layout.kubelet_inside:
        return
    start = facts.kubelet.start
    reasons = [
        f"{flag.name}: {reason} ({flag.source})"
        for flag in (*start.running, *(start.following or ()))
        for reason in _reasons(flag, known)
    ]
    if reasons:
        yield start_failure(
            "flag-refused",
            f"kubelet {facts.kubelet.version} does not start with {len(set(reasons))} of its flags.",
            tuple(dict.fromkeys(reasons)),
            "Correct or delete them in kubelet's unit, its drop-ins or their environment files.",
        )


def _reasons(flag: Flag, known: Mapping[str, str]) -> Iterator[str]:
    kind, value = known.get(flag.name), flag.value
    if kind is None and flag.name not in REMOVED_FLAGS:
        yield "kubelet does not have this flag"
    elif kind == "bool":
        # The next word is not the value of a boolean flag but an argument, which kubelet does not accept.
        if value is not None and not value.startswith("-") and parse_bool(value) is None:
            yield f"{value!r} is neither true nor false"
    elif kind and value is None:
        yield "it has no value"
    elif kind and value is not None:
        yield from _value_reasons(kind, value)


def _value_reasons(kind: str, value: str) -> Iterator[str]:
    if kind in _BITS:
        if not _fits(value, _BITS[kind]):
            yield f"{value!r} is not a whole number of {_BITS[kind]} bits"
    elif kind == "duration":
        if not is_duration(value):
            yield f"{value!r} is not a duration such as 10s"
    elif kind == "mapStringBool":
        yield from _invalid_switches(value)


def _fits(text: str, bits: int) -> bool:
    """strconv.ParseInt with base 0."""
    if not _WHOLE.fullmatch(text):
        return False
    digits = text.replace("_", "").lstrip("+-").lower()
    base = next((base for mark, base in (("0x", 16), ("0b", 2), ("0o", 8)) if digits.startswith(mark)), None)
    number = int(digits[2:] if base else digits, base or (8 if digits[:1] == "0" else 10))
    return number < 1 << (bits - 1) or (text[0] == "-" and number == 1 << (bits - 1))


def _invalid_switches(value: str) -> Iterator[str]:
    for pair in filter(None, value.split(",")):
        name, equals, switch = pair.partition("=")
        if not equals or parse_bool(switch.strip()) is None:
            yield f"{name}={switch} is neither true nor false"


def _flag_file(facts: NodeFacts, override: Override) -> tuple[str, str]:
    """The file of a refused flag, as far as it is known, and how to remove the flag."""
    start = facts.kubelet.start
    path = override.flag.source.partition(" in ")[2] or override.flag.source
    if facts.layout.name in RANCHER:
        own = f"/etc/rancher/{facts.layout.name}/config.yaml"
        return own, f"Remove it from kubelet-arg in {own}, its config.yaml.d or the unit of {facts.layout.name}."
    if start.following is None or not path.startswith("/"):
        return (
            facts.kubelet.config.path,
            "Remove the flag from kubelet's unit, its drop-ins or their environment files.",
        )
    if path in start.environment_files:
        return path, "This file is a link or not a regular file: remove the flag from the file behind it."
    return path, "Remove the flag from this unit file, then run systemctl daemon-reload."


def refuse_overriding_flags(draft: PlanDraft) -> Iterator[Refusal]:
    if draft.facts.layout.name in RANCHER and isinstance(draft.kubelet_location, Refusal):
        return
    overrides = find_overrides(draft.kubelet, draft.desired)
    for field in fields_of(draft.desired):
        stuck = [override for override in overrides if override.field is field and override.path is None]
        if stuck:
            file, remedy = _flag_file(draft.facts, stuck[-1])
            yield Refusal(
                "flag-overrides-config",
                f"kubelet is started with {stuck[-1]}, which overrides {field.key} in any file",
                f"{remedy} Then restart kubelet.",
                file=file,
            )
    yield from _flags_with_other_entries(draft, overrides)
    unit = draft.facts.systemd.units.get("kubelet.service", {})
    if overrides and unit.get("NeedDaemonReload") == "yes":
        yield Refusal(
            "unit-not-reloaded",
            "kubelet's unit changed after systemd loaded it, so it is unknown whether its next start uses"
            f" {overrides[-1]}",
            "Run systemctl daemon-reload, then run again.",
            file=unit.get("FragmentPath"),
        )


def _flags_with_other_entries(draft: PlanDraft, overrides: tuple[Override, ...]) -> Iterator[Refusal]:
    whole = draft.kubelet_document
    for field, paths in fields_of(draft.desired).items():
        members = [override for override in overrides if override.field is field and override.path is not None]
        flags: tuple[Flag, ...] = tuple(override.flag for override in members)
        more = changed_entries(field, flags, whole.get(field.key), paths) if flags else ""
        if more:
            yield Refusal(
                "flag-has-other-entries",
                f"{members[-1].flag.name} sets entries of {field.key} that the profile does not have and that would"
                f" change without the flag: {more}",
                "Add them to the profile, or write them to kubelet's file yourself.",
                file=members[-1].path,
            )
