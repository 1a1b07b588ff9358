# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node's Go programs: kubelet from Debian's source package, and the sandbox process."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from . import command
from .apt_sources import debian_source, host_sources, source_line
from .cache import Cache, Recipe, sha256
from .errors import LabError
from .paths import GUEST
from .progress import Progress
from .requirements import APT_GET, DPKG_SOURCE, GO, need
from .spec import DEBIAN_KUBELET, NO_KUBELET

SOURCE_SUITE = "bookworm"
"""The last Debian release whose package ``kubernetes`` is the whole tree: later ones carry kubectl only."""

BUILD_TAGS = "dockerless providerless"
"""Leaves out dockershim and the clouds' libraries, which a node with containerd never calls."""

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
    recipe = Recipe("kubelet", wanted.replace("+", "-"), (wanted, SOURCE_SUITE, BUILD_TAGS, _flags("1.0.0")))
    folder = cache.obtain(recipe, lambda partial, log: _build_kubelet(wanted, partial, log), Progress("kubelet"))
    return _described(folder / "kubelet")


def obtain_pause(cache: Cache) -> bytes:
    """The static program that keeps a pod's sandbox."""
    source = (GUEST / "pause.go").read_text()

    def build(folder: Path, log: Path) -> None:
        argv = [
            need(GO),
            "build",
            "-trimpath",
            "-ldflags",
            "-s -w",
            "-o",
            str(folder / "pause"),
            str(GUEST / "pause.go"),
        ]
        with _Workshop(folder) as workshop:
            command.logged(argv, log, env=workshop.environment)

    folder = cache.obtain(Recipe("pause", "pause", (source,)), build, Progress("pause"))
    return (folder / "pause").read_bytes()


def release_of(source_version: str) -> str:
    """Kubernetes' own version in a Debian version: ``1.20.5+really1.20.2-1.1+deb12u1`` is ``1.20.2``."""
    found = re.match(r"(?:\d+:)?(?:[^-]*really)?(\d+\.\d+\.\d+)", source_version)
    if not found:
        raise LabError(f"no Kubernetes version in the Debian version {source_version!r}")
    return found.group(1)


class _Workshop:
    """A GOPATH and a build cache inside an unfinished entry, gone when the build is over."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "go"
        self.environment: dict[str, str] = {
            "GOPATH": str(self.folder / "path"),
            "GOCACHE": str(self.folder / "cache"),
            "GO111MODULE": "off",
            "GOFLAGS": "",
            "CGO_ENABLED": "0",
        }

    def __enter__(self) -> _Workshop:
        self.folder.mkdir()
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _build_kubelet(wanted: str, folder: Path, log: Path) -> None:
    go = need(GO)
    with _Workshop(folder) as workshop:
        description = _download(wanted, workshop.folder / "apt", log)
        tree = workshop.folder / "path" / _TREE
        tree.parent.mkdir(parents=True)
        command.logged([need(DPKG_SOURCE), "--extract", str(description), str(tree)], log)
        flags = _flags(release_of(_source_version(description)))
        argv = [go, "build", "-tags", BUILD_TAGS, "-ldflags", flags, "-o", str(folder / "kubelet"), "./cmd/kubelet"]
        command.logged(argv, log, cwd=tree, env={**workshop.environment, "PWD": str(tree)})


def _download(wanted: str, apt: Path, log: Path) -> Path:
    """Fetch the source package with apt folders of its own: those of the host are not changed."""
    for folder in ("lists/partial", "archives/partial"):
        (apt / folder).mkdir(parents=True)
    (apt / "sources.list").write_text(source_line(debian_source(host_sources()), "deb-src", SOURCE_SUITE) + "\n")
    options = {
        "Dir::Etc::sourcelist": str(apt / "sources.list"),
        "Dir::Etc::sourceparts": "-",
        "Dir::State::lists": str(apt / "lists"),
        "Dir::Cache": str(apt),
        "APT::Sandbox::User": "",
    }
    apt_get = [need(APT_GET), *(f"-o{name}={value}" for name, value in options.items())]
    command.logged([*apt_get, "update"], log)
    package = "kubernetes" if wanted == DEBIAN_KUBELET else f"kubernetes={wanted}"
    command.logged([*apt_get, "source", "--download-only", package], log, cwd=apt)
    found: list[Path] = list(apt.glob("*.dsc"))
    if len(found) != 1:
        raise LabError(f"apt-get source {package} brought no source package; its output is in {log}")
    return found[0]


def _source_version(description: Path) -> str:
    found = re.search(r"^Version: (\S+)$", description.read_text(errors="replace"), re.MULTILINE)
    if not found:
        raise LabError(f"{description.name} has no Version field")
    return found.group(1)


def _flags(release: str) -> str:
    """Linker flags that tell kubelet its version, as Kubernetes' own hack/lib/version.sh does."""
    major, minor, _patch = release.split(".", 2)
    values = {"gitVersion": f"v{release}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    package = "k8s.io/kubernetes/vendor/k8s.io/component-base/version"
    return "-s -w " + " ".join(f"-X {package}.{name}={value}" for name, value in values.items())


def _described(path: Path) -> Kubelet:
    if not os.access(path, os.X_OK):
        raise LabError(f"{path} is not executable")
    answer = command.output([str(path), "--version"])
    found = re.search(r"v((\d+)\.(\d+)\S*)", answer)
    if not found:
        raise LabError(f"{path} --version says {answer.strip()!r}, which is not a kubelet's answer")
    version: tuple[int, int] = (int(found.group(2)), int(found.group(3)))
    return Kubelet(path, sha256(path), found.group(1), version)
