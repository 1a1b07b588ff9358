# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flags that kubelet does not know, or whose value it does not take. Source: cmd/kubelet/app/options, spf13/pflag."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ...facts.kubelet_accepted_values import is_duration
from ...facts.kubelet_command_line import REMOVED_FLAGS
from ...facts.kubelet_state import Flag
from ...facts.node_state import NodeFacts
from ...releases.kubelet_generated import FLAGS
from ...releases.kubelet_policy_options import parse_bool
from ...releases.versions import minor
from ..model import Finding, Rule
from .resource_managers import refused

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
        yield refused(
            "flag-refused",
            f"kubelet {facts.kubelet.version} does not start with {len(set(reasons))} of its flags.",
            tuple(dict.fromkeys(reasons)),
            "Correct or delete them in kubelet's unit, its drop-ins or their environment files.",
        )


def _reasons(flag: Flag, known: Mapping[str, str]) -> Iterator[str]:
    kind, value = known.get(flag.name), flag.value
    if kind is None and flag.name not in REMOVED_FLAGS:
        yield "kubelet has no such flag"
    elif kind == "bool":
        # The following word is not a switch's value; then it is an argument, which kubelet does not take either.
        if value is not None and not value.startswith("-") and parse_bool(value) is None:
            yield f"{value!r} is neither true nor false"
    elif kind and value is None:
        yield "it has no value"
    elif kind and value is not None:
        yield from _of_value(kind, value)


def _of_value(kind: str, value: str) -> Iterator[str]:
    if kind in _BITS:
        if not _fits(value, _BITS[kind]):
            yield f"{value!r} is not a whole number of {_BITS[kind]} bits"
    elif kind == "duration":
        if not is_duration(value):
            yield f"{value!r} is not a duration such as 10s"
    elif kind == "mapStringBool":
        yield from _not_switches(value)


def _fits(text: str, bits: int) -> bool:
    """strconv.ParseInt with base 0."""
    if not _WHOLE.fullmatch(text):
        return False
    digits = text.replace("_", "").lstrip("+-").lower()
    base = next((base for mark, base in (("0x", 16), ("0b", 2), ("0o", 8)) if digits.startswith(mark)), None)
    number = int(digits[2:] if base else digits, base or (8 if digits[:1] == "0" else 10))
    return number < 1 << (bits - 1) or (text[0] == "-" and number == 1 << (bits - 1))


def _not_switches(value: str) -> Iterator[str]:
    for pair in filter(None, value.split(",")):
        name, equals, switch = pair.partition("=")
        if not equals or parse_bool(switch.strip()) is None:
            yield f"{name}={switch} is neither true nor false"


RULES: tuple[Rule, ...] = (flag_refused,)
