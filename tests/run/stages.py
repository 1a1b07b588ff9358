# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of stages: what `make test` runs, in this order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .places import PACKAGE

Command = tuple[str, ...]

ON_ALL_CPUS = ("--numprocesses", "auto", "--dist", "loadfile")
"""Arguments of pytest. A file stays in one process, for the sake of what its tests share."""


@dataclass(frozen=True)
class Stage:
    """``share``: seconds it may take on two cores, caches cold; ``needs``: stages whose failure makes it pointless."""

    name: str
    share: int
    commands: tuple[Command, ...]
    needs: tuple[str, ...] = ()


class UnknownStageError(ValueError):
    """A name that is not in the table."""


def _part(name: str, *arguments: str) -> Command:
    return ("python", "-m", f"{PACKAGE}.{name}", *arguments)


STAGES = (
    Stage(
        "lint",
        110,
        (
            ("ruff", "check", "."),
            ("ruff", "format", "--check", "."),
            ("mypy",),
            ("vermin", "--target=3.7-", "--violations", "--no-tips", "plugins/modules", "plugins/module_utils"),
            ("ansible-lint",),
            ("antsibull-changelog", "lint"),
            ("antsibull-docs", "lint-collection-docs", "--plugin-docs", "--disallow-unknown-collection-refs", "."),
            ("ansible-galaxy", "collection", "build", "--force", "--output-path", ".cache/dist"),
        ),
    ),
    Stage("units", 260, (("pytest", *ON_ALL_CPUS, "--cov", "--cov-report=", "tests/unit"), ("coverage", "report"))),
    Stage("sanity", 170, (_part("sanity"),)),
    Stage("units-matrix", 120, (_part("matrix"),)),
    Stage("package", 40, (("pytest", "tests/package"),)),
    Stage("lab", 720, (("python", "tests/lab", "build"), ("python", "tests/lab", "cluster", "build"))),
    Stage("scenarios", 1500, (_part("install"), _part("scenarios")), needs=("lab",)),
    Stage("system", 1380, (_part("install"), _part("system")), needs=("lab",)),
    Stage("faults", 400, (_part("install"), ("python", "tests/faults", "--short")), needs=("lab",)),
)


def select(names: Sequence[str], stages: Sequence[Stage] = STAGES) -> tuple[Stage, ...]:
    """The named stages in the order of the table, all when none is named; UnknownStageError for any other name."""
    known = [stage.name for stage in stages]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UnknownStageError(f"no stage is called {', '.join(unknown)}; there are: {' '.join(known)}")
    return tuple(stage for stage in stages if not names or stage.name in names)
