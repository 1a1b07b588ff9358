# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about kubelet's files: what its decoder does not take, and what it takes no notice of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...edit.kubelet_text import decodes_as_json, line_of
from ...facts.config_file import ConfigFile, Problem
from ...facts.kubelet_accepted_values import WrongType, wrong_types, wrong_types_of_dropins
from ...facts.kubelet_layers import header_errors, merge_patch
from ...facts.node_state import NodeFacts
from ...plan.kubelet_location import decoded_files
from ...releases.versions import minor
from ..model import Effect, Finding, Rule, Severity
from .config import place
from .resource_managers import refused


def _wrong_in_main(config: ConfigFile, version: tuple[int, int] | None) -> Iterator[Problem]:
    for reason in header_errors(config.values):
        yield Problem(config.path, reason, line_of(config.text or "", reason.split()[:1]) or 1)
    is_json = config.text is not None and decodes_as_json(config.text)
    for wrong in wrong_types(config.values, version, is_json=is_json):
        yield _problem(config, wrong)


def _wrong_in_dropins(dropins: tuple[ConfigFile, ...], version: tuple[int, int] | None) -> Iterator[Problem]:
    """They are decoded when all are merged: a later one can correct an earlier one, and null takes a key away."""
    whole: Mapping[str, Any] = {}
    for config in dropins:
        whole = merge_patch(whole, config.values)
    sources: dict[str | int, ConfigFile] = {key: config for config in dropins for key in config.values}
    for wrong in wrong_types_of_dropins(whole, version):
        yield _problem(sources[wrong.path[0]], wrong)


def _problem(config: ConfigFile, wrong: WrongType) -> Problem:
    return Problem(config.path, str(wrong), line_of(config.text, wrong.path) if config.text else None)


def file_refused(facts: NodeFacts) -> Iterator[Finding]:
    """pkg/kubelet/kubeletconfig/util/codec."""
    version = minor(facts.kubelet.version)
    main, dropins = _files(facts)
    problems = [problem for config in main for problem in _wrong_in_main(config, version)]
    problems += _wrong_in_dropins(dropins, version)
    if problems:
        yield refused(
            "kubelet-config-refused",
            f"kubelet does not start: it cannot decode {len(problems)} value(s) of its files.",
            tuple(map(place, problems)),
            "Correct each value or delete its line; the file begins with its apiVersion and kind.",
        )


def _files(facts: NodeFacts) -> tuple[tuple[ConfigFile, ...], tuple[ConfigFile, ...]]:
    """The main file, where there is one that it reads, and its drop-ins."""
    read = decoded_files(facts)
    main = tuple(config for config in read if config is facts.kubelet.config)
    return main, tuple(config for config in read if config is not facts.kubelet.config)


def file_ignored(facts: NodeFacts) -> Iterator[Finding]:
    ignored = [config.ignored for config in decoded_files(facts) if config.ignored]
    if ignored:
        yield Finding(
            "kubelet-config-part-ignored",
            Severity.WARNING,
            Effect.LATENT,
            "kubelet ignores a part of its files: of a repeated key it uses the last, of documents the first.",
            tuple(map(place, ignored)),
            "Keep one document and one line for each key; until then this collection does not edit the file.",
        )


RULES: tuple[Rule, ...] = (file_refused, file_ignored)
