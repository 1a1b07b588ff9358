# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What we say of containerd's files, and where that is not what containerd makes of them."""

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
"""The first is a warning of lost settings; of the others the CRI plugin says only when it starts."""


def facts_of(version: str, path: Path) -> RuntimeFacts:
    """Our reading of a main file and its imports: gathered as on a node, interpreted as on the controller."""
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


def ours(version: str, path: Path) -> Verdict:
    """What we say of it."""
    facts = facts_of(version, path)
    errors = [(UNREADABLE, facts.config.problem.message)] if facts.config.problem else []
    errors += [(each.code, each.message) for each in facts.defects if each.code in (UNREADABLE, *WOULD_NOT_START)]
    kinds = {each.name: each.configured.value if each.configured else None for each in facts.handlers}
    options = [each.message for each in facts.defects if each.code == OPTION]
    kinds |= dict.fromkeys((each.split(":")[0].removeprefix("handler ") for each in options), UNDECODED)
    untyped = sorted(each.message.split()[1] for each in facts.defects if each.code == UNTYPED)
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


def differences(theirs: Verdict, ours: Verdict, major: int) -> Iterator[str]:
    """Where we are wrong of one main file."""
    if theirs.error:
        if not ours.error:
            yield f"it does not start, and no error is named: {theirs.error}"
        return
    if _not_of_dump(major) & ours.codes:
        return  # an error is named, and what is dumped says nothing of it
    false = ours.codes - UNJUDGED
    if false:
        yield f"it starts, and we say: {ours.error}"
    if ours.codes - UNJUDGED:
        return
    words: dict[str, tuple[object, object]] = {"cri": (theirs.cri, ours.cri), "nri": (theirs.nri, ours.nri)}
    if theirs.nri and ours.nri:
        words["nri_socket"] = (theirs.nri_socket, ours.nri_socket)
    if theirs.cri and ours.cri:
        words["handlers"] = (dict(theirs.handlers), dict(ours.handlers))
        words["untyped"] = (theirs.untyped, ours.untyped)
        if UNDECLARED not in ours.codes:
            words["default"] = (theirs.default, ours.default)
    yield from (f"{key} is {right}, and we say {said}" for key, (right, said) in words.items() if right != said)


def _not_of_dump(major: int) -> frozenset[str]:
    """What keeps containerd from starting, or us from reading, and a dump takes.

    go-toml 1.9.5 takes texts that are no TOML, such as ``version = 02``; we name an error and tell no driver. 2.x dumps
    what it read before an import that is missing, and does not start: cmd/containerd/command/config.go and main.go.
    """
    return frozenset({UNREADABLE}) if major < 2 else frozenset({MISSING})
