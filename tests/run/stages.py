# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of stages: what `make test` runs. They begin in this order, as many at a time as CPUs carry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .places import PACKAGE

Command = tuple[str, ...]

CPUS = 2
"""What a machine for tests has at least."""

ON_ALL_CPUS = ("--numprocesses", f"{CPUS + 1}", "--dist", "loadfile")
"""Arguments of pytest. A file stays in one process, for the sake of what its tests share; one more, since some wait."""

IN_ORDER = "--no-loadscope-reorder"
"""Files with few tests, which take longest, do not come last then. The pytest-xdist of Python 3.7 does not know it."""


@dataclass(frozen=True)
class Stage:
    """``share``: seconds it may take on two cores, caches cold, beside what runs with it.

    ``needs``: stages whose failure makes it pointless; ``cpus``: how many it keeps busy; an emulated node keeps one.
    """

    name: str
    share: int
    commands: tuple[Command, ...]
    needs: tuple[str, ...] = ()
    cpus: int = CPUS


class UnknownStageError(ValueError):
    """A name that is not in the table."""


KINDS = "tests/system/kinds"


def _part(name: str, *arguments: str) -> Command:
    return ("python", "-m", f"{PACKAGE}.{name}", *arguments)


def _faults(*cgroups: str) -> tuple[Command, ...]:
    """The shorter set, one node at a time."""
    return tuple(("python", "tests/faults", "--short", "--cgroup", cgroup) for cgroup in cgroups)


STAGES = (
    Stage("lab", 680, (("python", "tests/lab", "build"), ("python", "tests/lab", "cluster", "build")), cpus=1),
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
        cpus=1,
    ),
    Stage("sanity", 270, (_part("sanity"),), cpus=1),
    Stage("units-matrix", 430, (_part("matrix"),), cpus=1),
    Stage("package", 125, (("pytest", "tests/package"),), cpus=1),
    Stage(
        "units",
        400,
        (("pytest", *ON_ALL_CPUS, IN_ORDER, "--cov", "--cov-report=", "tests/unit"), ("coverage", "report")),
    ),
    Stage("scenarios", 1210, (_part("install"), _part("scenarios", "scenarios")), needs=("lab",)),
    Stage(
        "system",
        2270,
        (_part("install"), _part("system", "system", "tests/system", f"--ignore={KINDS}")),
        needs=("lab",),
        cpus=1,
    ),
    Stage("kinds", 1900, (_part("install"), _part("system", "kinds", KINDS)), needs=("lab",), cpus=1),
    Stage("faults", 610, (_part("install"), *_faults("v1", "v2")), needs=("lab",), cpus=1),
)


def select(names: Sequence[str], stages: Sequence[Stage] = STAGES) -> tuple[Stage, ...]:
    """The named stages in the order of the table, all when none is named; UnknownStageError for any other name."""
    known = [stage.name for stage in stages]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UnknownStageError(f"no stage is called {', '.join(unknown)}; there are: {' '.join(known)}")
    return tuple(stage for stage in stages if not names or stage.name in names)
