# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's verdict on containerd's files, and where it differs from containerd's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ansible_collections.volcano.colocation.plugins.module_utils.host import Host
from ansible_collections.volcano.colocation.plugins.module_utils.snapshot.runtime_files import containerd_files
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.containerd_defects import (
    LEGACY,
    MISSING,
    MIXED,
    OPTION,
    UNDECLARED,
    UNREADABLE,
    UNTYPED,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.containerd_runtime import interpret_containerd
from ansible_collections.volcano.colocation.plugins.plugin_utils.facts.runtime_state import RuntimeFacts
from ansible_collections.volcano.colocation.plugins.plugin_utils.releases.containerd_schema import cri_plugins
from ansible_collections.volcano.colocation.plugins.plugin_utils.rules.containerd_outcome import WOULD_NOT_START
from ansible_collections.volcano.colocation.tests.judges.containerd_verdict import UNDECODED, Verdict

UNJUDGED = frozenset({MIXED, LEGACY, UNDECLARED})
"""MIXED is a warning of lost settings; the CRI plugin reports the other two only when it starts."""


def facts_of(version: str, path: Path) -> RuntimeFacts:
    """Facts of a main file and its imports: gathered as on a node, interpreted as on the controller."""
    host = Host("/")
    evidence = {
        **containerd_files(host, ["containerd", "--config", str(path)], None),
        "processes": [],
        "program": "/usr/bin/containerd",
        "version": None,
        "cri": {"endpoint": "", "version": version, "config": None},
        "nri_sockets": {},
    }
    return interpret_containerd(evidence, {})


def collection_verdict(version: str, path: Path) -> Verdict:
    """The collection's verdict on a main file."""
    facts = facts_of(version, path)
    errors = [(UNREADABLE, layer.problem.message) for layer in facts.layers if layer.problem]
    errors += [
        (defect.code, defect.message) for defect in facts.defects if defect.code in (UNREADABLE, *WOULD_NOT_START)
    ]
    kinds = {handler.name: handler.configured.value if handler.configured else None for handler in facts.handlers}
    options = [defect.message for defect in facts.defects if defect.code == OPTION]
    kinds |= dict.fromkeys((message.split(":")[0].removeprefix("handler ") for message in options), UNDECODED)
    untyped = sorted(defect.message.split()[1] for defect in facts.defects if defect.code == UNTYPED)
    return Verdict(
        error="; ".join(map(": ".join, errors)) or None,
        codes=frozenset(code for code, _message in errors),
        cri=not cri_plugins(version, facts.effective_schema) & set(facts.disabled_plugins),
        handlers={name: kind for name, kind in kinds.items() if name not in untyped},
        untyped=tuple(untyped),
        default=facts.default_handler or "",
        nri=bool(facts.nri.configured),
        nri_socket=facts.nri.socket_path,
    )


def differences(expected: Verdict, actual: Verdict, major: int) -> Iterator[str]:
    """Where the collection's verdict on one main file differs from the expected one of containerd."""
    if expected.error:
        if not actual.error:
            yield f"it does not start, and the collection reports no error: {expected.error}"
        return
    if _not_of_dump(major) & actual.codes:
        return  # the collection reports an error that a dump does not show
    wrong = actual.codes - UNJUDGED
    if wrong:
        yield f"it starts, and the collection reports: {actual.error}"
    if actual.codes - UNJUDGED:
        return
    values: dict[str, tuple[object, object]] = {"cri": (expected.cri, actual.cri), "nri": (expected.nri, actual.nri)}
    if expected.nri and actual.nri:
        values["nri_socket"] = (expected.nri_socket, actual.nri_socket)
    if expected.cri and actual.cri:
        values["handlers"] = (dict(expected.handlers), dict(actual.handlers))
        values["untyped"] = (expected.untyped, actual.untyped)
        if UNDECLARED not in actual.codes:
            values["default"] = (expected.default, actual.default)
    yield from (
        f"{key} is {right}, and the collection says {value}" for key, (right, value) in values.items() if right != value
    )


def _not_of_dump(major: int) -> frozenset[str]:
    """Errors that keep containerd from starting, or the collection from reading, and that a dump accepts.

    go-toml 1.9.5 accepts invalid TOML, such as ``version = 02``; the collection reports an error and no driver. 2.x
    dumps what it read before a missing import, and does not start: cmd/containerd/command/config.go and main.go.
    """
    return frozenset({UNREADABLE}) if major < 2 else frozenset({MISSING})
