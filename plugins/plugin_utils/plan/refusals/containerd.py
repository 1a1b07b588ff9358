# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why containerd is not touched."""

from __future__ import annotations

from collections.abc import Iterator

from ...containerd_schema import EDITABLE
from ...facts.model import NodeFacts
from ...profile import Profile
from ..model import Refusal
from ..runtime import nri_skip
from .model import Rule, unsafe_file


def _installed(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    if not facts.runtime.installed:
        yield Refusal(
            "containerd-missing",
            "no containerd program was found",
            "Install containerd first; this collection does not.",
        )


def _config(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    yield from unsafe_file(facts.runtime.config)


def _containerd_schema(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    version = facts.runtime.config_version
    if version is not None and version not in EDITABLE:
        yield Refusal(
            "containerd-schema",
            f"its schema version is {version}; this release edits schema {', '.join(map(str, EDITABLE))} only",
            "Migrate the file yourself: the schema of a file is never changed unasked.",
            file=facts.runtime.config.path,
        )
    if facts.runtime.imports:
        yield Refusal(
            "containerd-imports",
            f"imports {', '.join(facts.runtime.imports)}, and an imported file can outrank every value written here",
            "Merge the imported files into the main file; this release edits the main file only.",
            file=facts.runtime.config.path,
        )
    if {"cri", "io.containerd.grpc.v1.cri"} & set(facts.runtime.disabled_plugins):
        yield Refusal(
            "cri-disabled",
            "disabled_plugins switches the CRI plugin off, as Docker's containerd.io package ships it",
            "Remove cri from disabled_plugins and restart containerd.",
            file=facts.runtime.config.path,
        )


def _nri(facts: NodeFacts, profile: Profile) -> Iterator[Refusal]:
    skip = nri_skip(facts.runtime, profile)
    if skip and profile.nri.unsupported == "refuse":
        yield Refusal(
            "nri-unsupported",
            skip.reason,
            "Upgrade containerd, or set nri.unsupported (colocation_nri_unsupported) to skip.",
            variable="nri.enabled",
        )


RULES: tuple[Rule, ...] = (_installed, _config, _containerd_schema, _nri)
