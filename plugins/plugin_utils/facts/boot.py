# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of the next kernel command line: what each of the boot loader's files says of cgroups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...module_utils.snapshot.boot_evidence import ENTRIES, GRUB, KERNEL_INSTALL
from .kernel import parameters
from .model import Parameters

_STRONGEST_FIRST = (ENTRIES + "/", KERNEL_INSTALL, GRUB)
"""Entries are booted; kernel-install makes entries of its file; grub's defaults wait for grub-mkconfig."""


def interpret_boot(evidence: Mapping[str, Sequence[str]] | None) -> dict[str, Parameters] | None:
    """The parameters by file; None when nobody looked for the files."""
    if evidence is None:
        return None
    return {path: parameters(" ".join(words)) for path, words in evidence.items()}


def first_line(boot: Mapping[str, Parameters] | None) -> Parameters | None:
    """The command line that an image boots with; None when no file tells, or its entries do not agree."""
    for beginning in _STRONGEST_FIRST:
        lines = [said for path, said in (boot or {}).items() if path.startswith(beginning)]
        if lines:
            return lines[0] if all(line == lines[0] for line in lines) else None
    return None
