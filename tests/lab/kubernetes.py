# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node's Go programs: kubelet from Debian's source package, and the sandbox process."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import command
from .cache import Cache, Recipe, sha256
from .debian import fetch_source
from .errors import LabError
from .go import SHARED, Workshop
from .paths import GUEST
from .progress import Progress
from .requirements import DPKG_SOURCE, need
from .spec import DEBIAN_KUBELET, NO_KUBELET

SOURCE_SUITE = "bookworm"
"""The last Debian release whose package ``kubernetes`` is the whole tree: later ones carry kubectl only."""

BUILD_TAGS = "dockerless providerless"
"""Leaves out dockershim and the clouds' libraries, which a node with containerd never calls."""

OWN_VERSION = "k8s.io/kubernetes/vendor/k8s.io/component-base/version"
"""What a program says of itself."""

_TREE = "src/k8s.io/kubernetes"


@dataclass(frozen=True)
class Kubelet:
    """A kubelet binary on the host, its SHA-256, and the version it says it is."""

    path: Path
    digest: str
    release: str
    version: tuple[int, int]


def obtain_kubelet(cache: Cache, wanted: str) -> Kubelet | None:
    """A kubelet from ``wanted``: a path, a version of Debian's source package, ``debian`` for its current one."""
    if wanted == NO_KUBELET:
        return None
    if "/" in wanted or Path(wanted).is_file():
        path = Path(wanted).resolve()
        if not path.is_file():
            raise LabError(f"no kubelet at {path}")
        return _described(path)
    recipe = Recipe("kubelet", label(wanted), (wanted, SOURCE_SUITE, SHARED, BUILD_TAGS, flags("1.0.0")))
    folder = cache.obtain(recipe, lambda partial, log: _build_kubelet(cache, wanted, partial, log), Progress("kubelet"))
    return _described(folder / "kubelet")


def obtain_pause(cache: Cache) -> bytes:
    """The static program that keeps a pod's sandbox."""
    source = (GUEST / "pause.go").read_text()

    def build(folder: Path, log: Path) -> None:
        with Workshop(cache, folder, log) as workshop:
            output = str(folder / "pause")
            workshop.build(["-ldflags", "-s -w", "-o", output, str(GUEST / "pause.go")], workshop.folder)

    folder = cache.obtain(Recipe("pause", "pause", (source,)), build, Progress("pause"))
    return (folder / "pause").read_bytes()


def obtain_source(cache: Cache, wanted: str) -> Path:
    """The ``.dsc`` of Debian's source package, downloaded once for every program that is built from it."""
    package = "kubernetes" if wanted == DEBIAN_KUBELET else f"kubernetes={wanted}"

    def build(folder: Path, log: Path) -> None:
        with tempfile.TemporaryDirectory(dir=folder) as work:
            description = fetch_source(package, SOURCE_SUITE, Path(work), log)
            for path in [description, *description.parent.glob("*.tar.*")]:
                path.rename(folder / path.name)

    recipe = Recipe("source", f"kubernetes-{label(wanted)}", (package, SOURCE_SUITE))
    folder = cache.obtain(recipe, build, Progress("kubernetes source"))
    return next(folder.glob("*.dsc"))


def unpack_source(description: Path, workshop: Workshop) -> tuple[Path, str]:
    """The tree with Debian's patches where Go looks for it, and the release it says it is."""
    tree = workshop.folder / "path" / _TREE
    tree.parent.mkdir(parents=True)
    command.logged([need(DPKG_SOURCE), "--extract", str(description), str(tree)], workshop.log)
    return tree, release_of(_source_version(description))


def release_of(source_version: str) -> str:
    """Kubernetes' own version in a Debian version: ``1.20.5+really1.20.2-1.1+deb12u1`` is ``1.20.2``."""
    found = re.match(r"(?:\d+:)?(?:[^-]*really)?(\d+\.\d+\.\d+)", source_version)
    if not found:
        raise LabError(f"no Kubernetes version in the Debian version {source_version!r}")
    return found.group(1)


def _build_kubelet(cache: Cache, wanted: str, folder: Path, log: Path) -> None:
    with Workshop(cache, folder, log) as workshop:
        tree, release = unpack_source(obtain_source(cache, wanted), workshop)
        output = str(folder / "kubelet")
        workshop.build(["-tags", BUILD_TAGS, "-ldflags", flags(release), "-o", output, "./cmd/kubelet"], tree)


def _source_version(description: Path) -> str:
    found = re.search(r"^Version: (\S+)$", description.read_text(errors="replace"), re.MULTILINE)
    if not found:
        raise LabError(f"{description.name} has no Version field")
    return found.group(1)


def flags(release: str, packages: Sequence[str] = (OWN_VERSION,)) -> str:
    """Linker flags that tell a program its version, as Kubernetes' own hack/lib/version.sh does."""
    major, minor, _patch = release.split(".", 2)
    values = {"gitVersion": f"v{release}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    settings = (f"{package}.{name}={value}" for package in packages for name, value in values.items())
    return "-s -w " + " ".join(f"-X {setting}" for setting in settings)


def label(wanted: str) -> str:
    """A version as the name of a file."""
    return wanted.replace("+", "-")


def _described(path: Path) -> Kubelet:
    if not os.access(path, os.X_OK):
        raise LabError(f"{path} is not executable")
    answer = command.output([str(path), "--version"])
    found = re.search(r"v((\d+)\.(\d+)\S*)", answer)
    if not found:
        raise LabError(f"{path} --version says {answer.strip()!r}, which is not a kubelet's answer")
    version: tuple[int, int] = (int(found.group(2)), int(found.group(3)))
    return Kubelet(path, sha256(path), found.group(1), version)
