# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs that the lab builds from Go modules: their versions, their packages and the tests that need them.

``make lock`` writes the versions of all dependencies to ``go/<family>/go.mod`` and ``go.sum``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from .errors import LabError

MODULES = Path(__file__).resolve().parent / "go"
"""The directory with a Go module for each family."""

KUBELET = "kubelet"
KUBELET_JUDGE = "kubelet-judge"
ETCD = "etcd"
CONTROL_PLANE = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubeadm", "kubectl")
KWOK = "kwok"
VOLCANO = ("vc-scheduler", "vc-controller-manager", "vc-webhook-manager")
KWOK_STAGES = (
    "kustomize/stage/node/fast/node-initialize.yaml",
    "kustomize/stage/node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
    "kustomize/stage/pod/fast/pod-ready.yaml",
    "kustomize/stage/pod/fast/pod-delete.yaml",
)
VOLCANO_MANIFEST = "installer/volcano-development.yaml"
VOLCANO_AGENT = "vc-agent"
VOLCANO_AGENT_INSTALL = "installer/build/volcano-agent/install.sh"
CONTAINERD = ("containerd", "containerd-shim-runc-v2", "ctr")


class BuildSet(str, Enum):
    """The tests that need a program: ``make test``, or ``make test-matrix`` alone."""

    TEST = "test"
    MATRIX = "matrix"


JUDGES = MODULES.parent.parent / "judges"
"""The directory with the sources of the collection's programs that use a project's packages."""


@dataclass(frozen=True)
class Program:
    """A program and its Go package.

    ``source``: a directory of this collection, compiled as the main package of the family's module with ``tags``.
    """

    name: str
    package: str
    source: Path | None = None
    tags: str = ""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of ``source``."""
        return tuple(sorted(path for path in self.source.iterdir() if path.is_file())) if self.source else ()


@dataclass(frozen=True)
class Group:
    """Programs of a family that are built and cached together.

    ``files``: files of the family's module, by their paths there, that are kept beside the programs.
    """

    name: str
    programs: tuple[Program, ...]
    build_set: BuildSet
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Family:
    """Programs of one release of a project.

    ``variables`` are Go variables for the program's version and their values. ``replacements`` are module versions that
    replace those of upstream, in addition to upstream's own replacements for ``forked``. ``versions_of``: a family
    whose module versions are used where they are newer, so that both use the same compiled packages.
    """

    name: str
    module: str
    release: str
    groups: tuple[Group, ...]
    variables: tuple[tuple[str, str], ...] = ()
    tags: str = ""
    forked: tuple[str, ...] = ()
    replacements: tuple[tuple[str, str], ...] = ()
    versions_of: str = ""

    @property
    def directory(self) -> Path:
        """The directory with its go.mod and go.sum."""
        return MODULES / self.name

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs of all groups."""
        return tuple(program for group in self.groups for program in group.programs)

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages of its module to build, without this collection's sources."""
        return tuple(program.package for program in self.programs if program.source is None)

    @property
    def version(self) -> tuple[int, int]:
        """Major and minor."""
        major, minor, _patch = self.release.split(".", 2)
        return int(major), int(minor)

    @property
    def linker_flags(self) -> str:
        """Flags that set the version and omit symbol table and debug information, a third of each program."""
        return " ".join(["-s -w", *(f"-X {name}={value}" for name, value in self.variables)])

    def group_of(self, program: str) -> Group:
        """The group that builds a program; LabError for an unknown program."""
        for group in self.groups:
            if program in (known.name for known in group.programs):
                return group
        known_names = ", ".join(known.name for known in self.programs)
        raise LabError(f"{self.name} has no program {program!r}; it has {known_names}")


_KUBERNETES = "k8s.io/kubernetes"
_CONTAINERD_1 = "github.com/containerd/containerd"
_CONTAINERD_2 = "github.com/containerd/containerd/v2"
_ETCD = "go.etcd.io/etcd/server/v3"
_VOLCANO = "volcano.sh/volcano"
_KWOK = "sigs.k8s.io/kwok"
_PROMETHEUS = "github.com/prometheus/prometheus"


def _commands(module: str, *names: str, directory: str = "cmd") -> tuple[Program, ...]:
    return tuple(Program(name, f"{module}/{directory}/{name}") for name in names)


def _kubernetes_version(release: str) -> tuple[tuple[str, str], ...]:
    """The variables of hack/lib/version.sh of Kubernetes; without them kubelet reports v0.0.0."""
    major, minor, _patch = release.split(".")
    values = {"gitVersion": f"v{release}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    packages = ("k8s.io/client-go/pkg/version", "k8s.io/component-base/version")
    return tuple((f"{package}.{name}", value) for package in packages for name, value in values.items())


def _kubernetes(
    release: str, kubelet: BuildSet, control_plane: BuildSet | None = None, judge: Program | None = None
) -> Family:
    groups = [Group(KUBELET, _commands(_KUBERNETES, KUBELET), kubelet)]
    if control_plane:
        groups.append(Group("control-plane", _commands(_KUBERNETES, *CONTROL_PLANE), control_plane))
    if judge:
        groups.append(Group("judge", (judge,), BuildSet.TEST))
    name = f"kubernetes-{release.rpartition('.')[0]}"
    return Family(name, _KUBERNETES, release, tuple(groups), _kubernetes_version(release))


def _control_plane(release: str, build_set: BuildSet) -> Family:
    """A control plane in a separate module: other programs would change the versions of the kubelet's module."""
    minor = release.rpartition(".")[0]
    groups = (Group("control-plane", _commands(_KUBERNETES, *CONTROL_PLANE), build_set),)
    return Family(f"control-plane-{minor}", _KUBERNETES, release, groups, _kubernetes_version(release))


def _kubelet_judge(tags: str = "") -> Program:
    """A program that loads kubelet configuration with kubelet's functions, for the stage ``judges``."""
    return Program(KUBELET_JUDGE, ".", JUDGES / "kubelet", tags)


def _containerd(module: str, release: str, build_set: BuildSet) -> Family:
    name = f"containerd-{release.rpartition('.')[0]}"
    # Without the tag the btrfs snapshotter needs a C compiler and the headers of Linux.
    groups = (Group("containerd", _commands(module, *CONTAINERD), build_set),)
    return Family(name, module, release, groups, ((f"{module}/version.Version", f"v{release}"),), tags="no_btrfs")


def _etcd(release: str, build_set: BuildSet) -> Family:
    name = f"etcd-{release.rpartition('.')[0]}"
    return Family(name, _ETCD, release, (Group(ETCD, (Program(ETCD, _ETCD),), build_set),))


def _volcano(release: str, *groups: Group, replacements: tuple[tuple[str, str], ...] = ()) -> Family:
    name = f"volcano-{release.rpartition('.')[0]}"
    variables = ((f"{_VOLCANO}/pkg/version.Version", f"v{release}"),)
    # The newest release of its API types whose module can be fetched.
    replaced = (("volcano.sh/apis", "v1.14.0"), *replacements)
    return Family(
        name, _VOLCANO, release, groups, variables, forked=("k8s.io/", "google.golang.org/grpc"), replacements=replaced
    )


def _agent(build_set: BuildSet) -> Group:
    program = Program(VOLCANO_AGENT, f"{_VOLCANO}/cmd/agent")
    return Group("agent", (program,), build_set, files=(VOLCANO_AGENT_INSTALL,))


_SCHEDULING = Group(
    "scheduling",
    tuple(Program(name, f"{_VOLCANO}/cmd/{name.removeprefix('vc-')}") for name in VOLCANO),
    BuildSet.TEST,
    files=(VOLCANO_MANIFEST,),
)


def _kwok(release: str, build_set: BuildSet, versions_of: str) -> Family:
    """KWOK keeps Nodes and pods without a kubelet. It shares the API types and clients of a release of Kubernetes."""
    groups = (Group(KWOK, _commands(_KWOK, KWOK), build_set, files=KWOK_STAGES),)
    return Family(f"kwok-{release.rpartition('.')[0]}", _KWOK, release, groups, versions_of=versions_of)


FAMILIES = (
    _kubernetes("1.35.4", BuildSet.TEST, BuildSet.TEST, _kubelet_judge()),
    _etcd("3.6.16", BuildSet.TEST),
    _containerd(_CONTAINERD_2, "2.4.2", BuildSet.TEST),
    _kubernetes("1.37.2", BuildSet.TEST, judge=_kubelet_judge("kubelet137")),
    _volcano("1.15.1", _agent(BuildSet.TEST), replacements=((_PROMETHEUS, "v0.311.2"),)),
    # The scheduler of 1.15 needs volcano.sh/apis v1.15.0, whose module cannot be fetched.
    _volcano("1.14.1", _SCHEDULING, _agent(BuildSet.TEST)),
    # 14 CPU seconds with the packages of kubelet 1.37, 400 with its own versions.
    _kwok("0.8.0", BuildSet.TEST, versions_of="kubernetes-1.37"),
    _kubernetes("1.36.3", BuildSet.MATRIX),
    _kubernetes("1.34.4", BuildSet.MATRIX),
    _control_plane("1.34.4", BuildSet.MATRIX),
    _control_plane("1.37.2", BuildSet.MATRIX),
    _containerd(_CONTAINERD_2, "2.2.9", BuildSet.MATRIX),
    _containerd(_CONTAINERD_1, "1.7.35", BuildSet.MATRIX),
    _etcd("3.5.35", BuildSet.MATRIX),
)
"""In build order: programs that other stages wait for come first."""


def family(name: str) -> Family:
    """A family by its name; LabError when it does not exist."""
    for known in FAMILIES:
        if known.name == name:
            return known
    names = ", ".join(known.name for known in FAMILIES)
    raise LabError(f"there is no family of programs {name!r}; the lab has {names}")


def of_release(project: str, release: str) -> Family:
    """The family of a release as ``--kubelet`` and ``--containerd`` name it: ``1.35``, or in full ``1.35.4``."""
    known = [family_ for family_ in FAMILIES if family_.name.startswith(f"{project}-")]
    for family_ in known:
        if release in (family_.name.removeprefix(f"{project}-"), family_.release):
            return family_
    releases = ", ".join(sorted(family_.name.removeprefix(f"{project}-") for family_ in known))
    raise LabError(f"the lab has no {project} {release}; it has {releases}; a path of your own program needs a slash")
