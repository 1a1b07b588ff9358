# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs of a control plane: etcd from its Debian package, the others built from Debian's source package."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..cache import Cache, Recipe
from ..debian import fetch_program
from ..errors import LabError
from ..go import SHARED, Workshop
from ..kubernetes import BUILD_TAGS, OWN_VERSION, SOURCE_SUITE, flags, label, obtain_source, unpack_source
from ..progress import Progress
from ..spec import DEBIAN_KUBELET

BUILT = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubeadm", "kubectl")

VERSIONS = (OWN_VERSION, "k8s.io/kubernetes/vendor/k8s.io/client-go/pkg/version")
"""The second is what the API server answers at ``/version`` (kube-aggregator/pkg/apiserver/apiserver.go)."""

_PACKAGE = "k8s.io/kubernetes"
_OPENAPI = "pkg/generated/openapi"
_NOT_SERVED = ("code-generator", "sample-apiserver")
_TAG = re.compile(rb"^// *\+k8s:openapi-gen=", re.MULTILINE)


_REFLECT2 = "vendor/github.com/modern-go/reflect2"
MENDED = (
    (
        f"{_REFLECT2}/unsafe_link.go",
        "func mapiterinit(rtype unsafe.Pointer, m unsafe.Pointer) *hiter",
        "func mapiterinit(rtype unsafe.Pointer, m unsafe.Pointer, it *hiter)",
    ),
    (
        f"{_REFLECT2}/unsafe_link.go",
        "\t// rest fields are ignored\n",
        """\
\tt, h, buckets, bptr unsafe.Pointer
\toverflow, oldoverflow *[]unsafe.Pointer
\tstartBucket uintptr
\toffset uint8
\twrapped bool
\tB, i uint8
\tbucket, checkBucket uintptr
""",
    ),
    (
        f"{_REFLECT2}/unsafe_map.go",
        """\
\treturn &UnsafeMapIterator{
\t\thiter:      mapiterinit(type2.rtype, *(*unsafe.Pointer)(obj)),
""",
        """\
\tvar it hiter
\tmapiterinit(type2.rtype, *(*unsafe.Pointer)(obj), &it)
\treturn &UnsafeMapIterator{
\t\thiter:      &it,
""",
    ),
)
"""File, text, new text: what Go 1.18 changed in ``reflect`` and reflect2 1.0.2 follows (its go_above_118.go).

With reflect2 1.0.1, as in this source, a program built with a newer Go ends when it writes a map as JSON.
"""


@dataclass(frozen=True)
class Programs:
    """Where the programs are: two folders of the cache."""

    kubernetes: Path
    etcd_folder: Path

    @property
    def etcd(self) -> Path:
        return self.etcd_folder / "etcd"

    def path(self, name: str) -> Path:
        """One of ``BUILT``."""
        return self.kubernetes / name


def obtain(cache: Cache) -> Programs:
    """The programs of the version of Debian's kubelet, built unless the cache has them."""
    return Programs(_obtain_kubernetes(cache), _obtain_etcd(cache))


def openapi_packages(tree: Path) -> list[str]:
    """Import paths of the packages whose types the API server describes, as Makefile.generated_files finds them."""
    staging = tree / "staging/src"
    served = [path for path in sorted((staging / "k8s.io").iterdir()) if path.name not in _NOT_SERVED]
    vendored = (folder.relative_to(staging).as_posix() for folder in _tagged(served))
    own = (folder.relative_to(tree).as_posix() for folder in _tagged([tree / "pkg"]))
    return [f"{_PACKAGE}/vendor/{name}" for name in vendored] + [f"{_PACKAGE}/{name}" for name in own]


def mend(tree: Path) -> None:
    """Make the changes of ``MENDED``; LabError when the source is another one than they were written for."""
    for name, old, new in MENDED:
        text = (tree / name).read_text()
        if old not in text:
            raise LabError(f"{name} of Kubernetes does not have the text that Go 1.18 and later need changed")
        (tree / name).write_text(text.replace(old, new))


def _tagged(folders: Iterable[Path]) -> list[Path]:
    files = (path for folder in folders for path in folder.rglob("*.go"))
    return sorted({path.parent for path in files if _TAG.search(path.read_bytes())})


def _obtain_kubernetes(cache: Cache) -> Path:
    wanted = DEBIAN_KUBELET
    changes = (text for change in MENDED for text in change)
    parts = (wanted, SOURCE_SUITE, SHARED, BUILD_TAGS, flags("1.0.0", VERSIONS), *BUILT, *changes)

    def build(folder: Path, log: Path) -> None:
        with Workshop(cache, folder, log) as workshop:
            tree, release = unpack_source(obtain_source(cache, wanted), workshop)
            mend(tree)
            _generate(tree, workshop)
            programs = [f"./cmd/{name}" for name in BUILT]
            workshop.build(
                ["-tags", BUILD_TAGS, "-ldflags", flags(release, VERSIONS), "-o", f"{folder}/", *programs], tree
            )

    return cache.obtain(Recipe("control-plane", label(wanted), parts), build, Progress("control plane"))


def _generate(tree: Path, workshop: Workshop) -> None:
    """The one file that the API server needs and that the source does not carry (``make gen_openapi``)."""
    generator = workshop.folder / "openapi-gen"
    workshop.build(["-o", str(generator), "./vendor/k8s.io/kube-openapi/cmd/openapi-gen"], tree)
    options = {
        "input-dirs": ",".join(openapi_packages(tree)),
        "output-package": f"{_PACKAGE}/{_OPENAPI}",
        "output-file-base": "zz_generated.openapi",
        "go-header-file": "vendor/k8s.io/code-generator/hack/boilerplate.go.txt",
        "report-filename": str(workshop.folder / "violations"),
    }
    workshop.run([str(generator), *(f"--{name}={value}" for name, value in options.items())], tree)


def _obtain_etcd(cache: Cache) -> Path:
    package, member = "etcd-server", "./usr/bin/etcd"

    def build(folder: Path, log: Path) -> None:
        with tempfile.TemporaryDirectory(dir=folder) as work:
            fetch_program(package, SOURCE_SUITE, member, Path(work), log).rename(folder / "etcd")

    return cache.obtain(Recipe("etcd", SOURCE_SUITE, (package, SOURCE_SUITE, member)), build, Progress("etcd"))
