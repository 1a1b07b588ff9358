# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command ``programs``: the programs that the lab builds from source, their state and build time."""

from __future__ import annotations

import argparse
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import debian_kubelet, program_lock, program_prune, programs
from .cache import Cache, disk_usage, read_manifest
from .errors import LabError, UnavailableError
from .go_cache import LIMIT
from .golang import COMPILED, MODULES, find_go, parse_release, to_text
from .paths import cache_root
from .program_table import FAMILIES, KUBELET, BuildSet
from .programs import BUILD
from .progress import Progress

DEBIAN_FAMILY = "debian"


@dataclass(frozen=True)
class Target:
    """Programs that are built together, from Go modules or from Debian's source."""

    family: str
    group: str
    release: str
    names: tuple[str, ...]
    build_set: BuildSet
    find: Callable[[Cache], Path | None]
    obtain: Callable[[Cache], Path]

    @property
    def label(self) -> str:
        return f"{self.family}/{self.group}"

    def is_named(self, name: str) -> bool:
        """True for the target's set, family, ``family/group`` and ``family/program``."""
        return name in (self.build_set.value, self.family, self.label, *(f"{self.family}/{own}" for own in self.names))


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command ``programs``."""
    programs = commands.add_parser("programs", help="show or build the programs from Go modules")
    what = programs.add_mutually_exclusive_group()
    names = "programs or families to build; test and matrix are those of make test and make test-matrix (default: test)"
    what.add_argument("--build", nargs="*", metavar="NAME", help=names)
    what.add_argument(
        "--prune",
        action="store_true",
        help="delete programs that are not pinned, files of killed builds, and Go's caches",
    )
    what.add_argument("--lock", action="store_true", help="write go.mod and go.sum of each family")
    programs.add_argument("--json", action="store_true", help="print the list as JSON")


def run(options: argparse.Namespace) -> int:
    """Run the command; its exit status."""
    cache = Cache(cache_root())
    if options.lock:
        program_lock.lock(cache)
    elif options.prune:
        program_prune.prune(cache, Progress("prune"))
    elif options.build is not None:
        return _build(cache, select(options.build or [BuildSet.TEST.value]))
    else:
        rows = [facts(cache, target) for target in targets()]
        print(json.dumps(rows) if options.json else _table(cache, rows))
    return 0


def targets() -> list[Target]:
    """All targets of the lab, in build order."""
    buildable = [
        Target(
            family.name,
            group.name,
            family.release,
            tuple(program.name for program in group.programs),
            group.build_set,
            functools.partial(programs.find_group, family=family, group=group),
            functools.partial(programs.obtain_group, family=family, group=group),
        )
        for family in FAMILIES
        for group in family.groups
    ]
    return [*buildable, _debian_target()]


def select(names: Sequence[str]) -> list[Target]:
    """The targets with these names; LabError for an unknown name."""
    known = targets()
    for name in names:
        if not any(target.is_named(name) for target in known):
            raise LabError(
                f"unknown program {name!r}: give test, matrix, a family or FAMILY/PROGRAM; `programs` lists them"
            )
    return [target for target in known if any(target.is_named(name) for name in names)]


def facts(cache: Cache, target: Target) -> dict[str, object]:
    """The facts of a target for JSON; ``seconds`` and ``bytes`` are null unless it is built."""
    directory = target.find(cache)
    manifest = read_manifest(directory) if directory else {}
    record = programs.read_build(directory) if BUILD in manifest and directory else None
    return {
        "family": target.family,
        "group": target.group,
        "release": target.release,
        "programs": list(target.names),
        "set": target.build_set.value,
        "folder": str(directory) if directory else None,
        "seconds": record.seconds if record else None,
        "go": record.go if record else None,
        "bytes": sum(file["size"] for file in manifest.values()) if directory else None,
    }


def _build(cache: Cache, selected: Sequence[Target]) -> int:
    """Build targets one after the other, since each uses all CPUs; a failed target does not stop the others."""
    failed: dict[str, LabError] = {}
    for number, target in enumerate(selected, 1):
        progress = Progress(f"{target.label} ({number}/{len(selected)})")
        try:
            target.obtain(cache)
            progress.say("ready")
        except LabError as error:
            progress.say(f"failed: {error}")
            failed[target.label] = error
    if failed:
        raise _summary(failed, len(selected))
    return 0


def _summary(failed: Mapping[str, LabError], count: int) -> LabError:
    """UnavailableError with the first reason when all builds failed because this machine lacks something."""
    if all(isinstance(error, UnavailableError) for error in failed.values()):
        first = next(iter(failed.values()))
        return UnavailableError(f"{len(failed)} of {count} builds cannot run here: {', '.join(failed)}; {first}")
    return LabError(f"{len(failed)} of {count} builds failed: {', '.join(failed)}; the reasons are above")


def _table(cache: Cache, rows: Sequence[dict[str, object]]) -> str:
    head = ("family", "release", "set", "built in", "size", "programs")
    cells = [head, *(_cells(row) for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head) - 1)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]) for row in cells
    ]
    return "\n".join([*lines, "", *_footer(cache)])


def _cells(row: dict[str, object]) -> tuple[str, ...]:
    seconds, size = row["seconds"], row["bytes"]
    built = f"{seconds:.0f} s" if isinstance(seconds, float) else "unknown" if row["folder"] else "not built"
    named = ", ".join(str(name) for name in row["programs"]) if isinstance(row["programs"], list) else ""
    megabytes = f"{size / 1e6:.0f} MB" if isinstance(size, int) else ""
    return str(row["family"]), str(row["release"]), str(row["set"]), built, megabytes, named


def _footer(cache: Cache) -> list[str]:
    go = find_go(parse_release("1.26"))
    compiled, modules = disk_usage(cache.scratch(COMPILED)), disk_usage(cache.scratch(MODULES))
    return [
        f"Go {to_text(go.release)}: {go.path or 'downloaded when a build needs it'}",
        f"Go's build cache: {compiled / 1e9:.1f} GB, limit {LIMIT / 1e9:.0f} GB; modules: {modules / 1e9:.1f} GB; "
        f"all in {cache.root}",
    ]


def _debian_target() -> Target:
    return Target(
        DEBIAN_FAMILY,
        KUBELET,
        "1.20",
        (KUBELET,),
        BuildSet.MATRIX,
        lambda cache: cache.find(debian_kubelet.recipe()),
        lambda cache: debian_kubelet.obtain(cache).parent,
    )
