# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet 1.20 from Debian's source package: the oldest kubelet of the tests, built only for the matrix."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from . import command
from .cache import Cache, Recipe
from .debian import fetch_source
from .errors import LabError, prefixed
from .golang import COMPILED, in_use, run_logged
from .progress import Progress
from .requirements import DPKG_SOURCE, GO_1_19, need

SOURCE_SUITE = "bookworm"
"""The last Debian release whose package ``kubernetes`` is the whole tree: later ones carry kubectl only."""

PACKAGE = "kubernetes"
BUILD_TAGS = "dockerless providerless"
"""Excludes dockershim and the libraries of cloud providers, which a node with containerd never calls."""

_SHARED = "-trimpath"
_VERSION = "k8s.io/kubernetes/vendor/k8s.io/component-base/version"
_TREE = "src/k8s.io/kubernetes"


def obtain(cache: Cache) -> Path:
    """The binary of Debian's current version, built unless the cache has it."""
    try:
        return (
            cache.obtain(recipe(), lambda directory, log: _build(cache, directory, log), Progress("kubelet"))
            / "kubelet"
        )
    except LabError as error:
        raise prefixed("Debian's kubelet 1.20", error) from error


def recipe() -> Recipe:
    """The inputs of the binary."""
    return Recipe("kubelet", "debian", (PACKAGE, SOURCE_SUITE, _SHARED, BUILD_TAGS, linker_flags("1.0.0")))


def source_recipe() -> Recipe:
    """The downloaded source package."""
    return Recipe("source", PACKAGE, (PACKAGE, SOURCE_SUITE))


def release_of(source_version: str) -> str:
    """Kubernetes' own version in a Debian version: ``1.20.5+really1.20.2-1.1+deb12u1`` is ``1.20.2``."""
    match = re.match(r"(?:\d+:)?(?:[^-]*really)?(\d+\.\d+\.\d+)", source_version)
    if not match:
        raise LabError(f"no Kubernetes version in the Debian version {source_version!r}")
    return match.group(1)


def linker_flags(release: str) -> str:
    """Linker flags that set a program's version, as Kubernetes' own hack/lib/version.sh does."""
    major, minor, _patch = release.split(".", 2)
    values = {"gitVersion": f"v{release}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    return "-s -w " + " ".join(f"-X {_VERSION}.{name}={value}" for name, value in values.items())


def _build(cache: Cache, directory: Path, log: Path) -> None:
    go = need(GO_1_19)
    description = _obtain_source(cache)
    release = release_of(_source_version(description))
    path = directory / "path"
    tree = path / _TREE
    tree.parent.mkdir(parents=True)
    command.logged([need(DPKG_SOURCE), "--extract", str(description), str(tree)], log)
    environment = {
        "CGO_ENABLED": "0",
        "GO111MODULE": "off",
        "GOCACHE": str(cache.scratch(COMPILED)),
        "GOFLAGS": "",
        "GOPATH": str(path),
        # PWD is the directory as GOPATH names it.
        "PWD": str(tree),
    }
    options = [_SHARED, "-tags", BUILD_TAGS, "-ldflags", linker_flags(release), "-o", str(directory / "kubelet")]
    with in_use(cache):
        run_logged([go, "build", *options, "./cmd/kubelet"], log, tree, environment)
    shutil.rmtree(path)


def _obtain_source(cache: Cache) -> Path:
    def build(directory: Path, log: Path) -> None:
        with tempfile.TemporaryDirectory(dir=directory) as work:
            description = fetch_source(PACKAGE, SOURCE_SUITE, Path(work), log)
            for path in [description, *description.parent.glob("*.tar.*")]:
                path.rename(directory / path.name)

    directory = cache.obtain(source_recipe(), build, Progress("kubernetes source"))
    return next(directory.glob("*.dsc"))


def _source_version(description: Path) -> str:
    match = re.search(r"^Version: (\S+)$", description.read_text(errors="replace"), re.MULTILINE)
    if not match:
        raise LabError(f"{description.name} has no Version field")
    return match.group(1)
