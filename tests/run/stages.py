# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of stages: what `make test`, `make test-matrix` and `make test-long` run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .lint import LINT
from .places import PACKAGE

Command = tuple[str, ...]

CPUS = 2
"""The minimum for a test machine."""

ON_ALL_CPUS = ("--numprocesses", f"{CPUS}", "--dist", "loadfile")
"""Arguments of pytest. A file stays in one process, because its tests share fixtures. One more process would use the
time in which tests wait, which other stages use."""

IN_ORDER = "--no-loadscope-reorder"
"""Argument of pytest: files with few tests, which take longest, do not run last. Python 3.7's xdist lacks it."""


@dataclass(frozen=True)
class Stage:
    """``share``: seconds that the stage may take on two cores with empty caches, in parallel with other stages.

    ``warm``: the same with its results in a cache, if that differs. ``cpus``: reserved CPUs, less than one where it
    mostly waits for its node; ``burst``: CPUs that it can use. ``needs``: stages that must pass before it runs.
    """

    name: str
    share: int
    commands: tuple[Command, ...]
    needs: tuple[str, ...] = ()
    cpus: float = 1
    burst: float = 1
    warm: int | None = None
    proves: str = ""


class UnknownStageError(ValueError):
    """A name that is not in the table."""


KINDS = "tests/system/kinds"
MUTATION = f"{PACKAGE.removesuffix('.run')}.tools.mutation"

NOT_SHIPPED = ("--exclude", "molecule/", "--exclude", "tests/")
"""Arguments of ansible-test. The stages `lint` and `matrix-sanity` check the tests too, two thirds of all files."""


def _part(name: str, *arguments: str) -> Command:
    return ("python", "-m", f"{PACKAGE}.{name}", *arguments)


def _faults(*cgroups: str) -> tuple[Command, ...]:
    """Commands for the rows of the short set, one node at a time."""
    return tuple(("python", "tests/faults", "--short", "--cgroup", cgroup) for cgroup in cgroups)


INSTALL = _part("install")

PROGRAMS = Stage(
    "programs",
    1000,
    (("python", "tests/lab", "programs", "--build", "test"),),
    burst=2,
    warm=15,
    proves="kubelet, control plane, containerd, etcd, Volcano and the judges can be built from their Go modules",
)

SYSTEMS = Stage(
    "systems",
    800,
    (("python", "tests/lab", "build", "--systems"),),
    burst=2,
    warm=15,
    proves="root file systems and kernels of the nodes can be built",
)

LAB = Stage(
    "lab",
    200,
    (("python", "tests/lab", "build"),),
    needs=("programs", "systems"),
    burst=2,
    warm=15,
    proves="disks of the nodes can be built, with images and programs",
)

BUILDS = (PROGRAMS, SYSTEMS, LAB)
"""The first stages of every table, because others wait for them."""

STAGES = (
    *BUILDS,
    Stage(
        "lint",
        120,
        tuple(LINT.values()),
        proves="style, complexity, types; node-side code parses on Python 3.7; ansible-lint's production profile;"
        " documentation and its site, changelog, licences, the workflow for a public forge",
    ),
    Stage(
        "sanity",
        180,
        (_part("sanity", *NOT_SHIPPED),),
        proves="the checks of `ansible-test` for every collection, of all files in the tarball",
    ),
    Stage(
        "units-matrix",
        420,
        (_part("matrix"),),
        proves="unit tests that use ansible-core on 2.17 and 2.21, those of files and of the callback on 2.18 and 2.20,"
        " and a playbook on each; node-side tests on Python 3.7 if it is installed",
    ),
    Stage(
        "package",
        90,
        (("pytest", "tests/package"),),
        proves="the tarball, installed into an empty directory, works by FQCN; Galaxy's importer accepts it; a release"
        " is made in a copy of the checkout",
    ),
    Stage(
        "units",
        620,
        (
            ("pytest", *ON_ALL_CPUS, IN_ORDER, "--cov", "--cov-report=", "tests/unit", "tests/tools/unit"),
            ("coverage", "report"),
        ),
        burst=2,
        proves="behaviour, with at least 95 % branch coverage of the code that runs on the controller",
    ),
    Stage(
        "judges",
        180,
        (("pytest", "tests/judges"),),
        needs=("lab",),
        proves="facts, rules and cgroup names agree with the code of kubelet, containerd and runc",
    ),
    Stage(
        "api",
        150,
        (INSTALL, _part("system", "api", "tests/api")),
        needs=("programs",),
        cpus=0.5,
        burst=0.5,
        proves="requests of the collection to an API server, on a control plane without nodes",
    ),
    Stage(
        "volcano",
        360,
        (INSTALL, _part("system", "volcano", "tests/volcano")),
        needs=("programs",),
        cpus=0.5,
        burst=0.5,
        proves="Volcano's scheduler, controllers and webhooks do what our configuration says, without nodes",
    ),
    Stage(
        "agent",
        300,
        (INSTALL, _part("system", "agent", "tests/agent")),
        needs=("programs",),
        cpus=0.5,
        proves="two releases of Volcano's agent do what our manifest and configuration say, for Nodes of plain files of"
        " four kinds",
    ),
    Stage(
        "scenarios",
        1000,
        (INSTALL, _part("scenarios", "scenarios")),
        needs=("lab",),
        burst=2,
        proves="the four combinations of cgroup version and driver on real kernels, by Molecule",
    ),
    Stage(
        "system",
        800,
        (INSTALL, _part("system", "system", "tests/system", f"--ignore={KINDS}")),
        needs=("lab",),
        cpus=0.5,
        proves="failures, bad input, restore and secrets on a real node",
    ),
    Stage(
        "kinds",
        900,
        (INSTALL, _part("system", "kinds", KINDS)),
        needs=("lab",),
        cpus=0.5,
        proves="nodes of other kinds: hybrid, containerd 2, other layouts and settings, images, slices on v1, a node of"
        " a cluster",
    ),
    Stage(
        "faults",
        350,
        (INSTALL, *_faults("v1", "v2")),
        needs=("lab",),
        cpus=0.5,
        proves="three rows of the [fault suite](faults.md) on each cgroup version",
    ),
    Stage(
        "cluster",
        300,
        (INSTALL, _part("scenarios", "cluster", "cluster")),
        needs=("lab",),
        cpus=0.5,
        burst=1.5,
        proves="a change rolled over two nodes of two kinds whose workload has a PodDisruptionBudget",
    ),
    Stage(
        "agent-nodes",
        480,
        (INSTALL, _part("scenarios", "agent-nodes", "agent")),
        needs=("lab",),
        cpus=0.5,
        proves="Volcano's agent on two nodes of two kinds: values of offline pods, faults, eviction under load, a"
        " change of the driver",
    ),
    Stage(
        "demo",
        120,
        (("python", "tests/demo"),),
        needs=("lab",),
        cpus=0.5,
        proves="`make demo`: the commands of the tutorial run on a node, and print its screens",
    ),
)

MATRIX = (
    *BUILDS,
    Stage(
        "matrix-programs",
        6800,
        (("python", "tests/lab", "programs", "--build", "matrix"),),
        # Only because two builds in parallel need twice the memory.
        needs=("programs",),
        burst=2,
        warm=15,
        proves="older and newer releases of each program, and Debian's kubelet 1.20, can be built",
    ),
    Stage(
        "matrix-nodes",
        900,
        (INSTALL, _part("system", "matrix-nodes", "tests/matrix")),
        needs=("lab", "matrix-programs"),
        proves="kubelet 1.20, 1.34, 1.36 and 1.37 with containerd 1.6 to 2.4: provision, verify and restore on a node;"
        " facts agree with containerd 1.7.35 and 2.2",
    ),
    Stage(
        "matrix-volcano",
        800,
        (
            INSTALL,
            *(
                _part("system", "matrix-volcano", "tests/volcano", "--kubernetes", release)
                for release in ("1.34", "1.37")
            ),
        ),
        needs=("programs", "matrix-programs"),
        cpus=0.5,
        proves="the stage `volcano` on control planes of Kubernetes 1.34 and 1.37",
    ),
    Stage(
        "matrix-sanity",
        1200,
        (_part("sanity", "--releases"),),
        proves="the checks of `ansible-test` on ansible-core 2.17, 2.18, 2.20 and 2.21, also of the tests; none is"
        " ignored",
    ),
)

LONG = (
    *BUILDS,
    Stage(
        "all-faults",
        10800,
        (INSTALL, ("python", "tests/faults")),
        needs=("lab",),
        cpus=2,
        burst=2,
        proves="every row of the [fault suite](faults.md) that has no result for this code",
    ),
    Stage(
        "repeated-scenarios",
        3 * 1000,
        (INSTALL, *3 * (_part("scenarios", "repeated-scenarios"),)),
        needs=("lab",),
        cpus=2,
        burst=2,
        proves="each Molecule scenario with one node passes three times in a row",
    ),
    Stage(
        "exhaustive",
        1800,
        (_part("matrix", "exhaustive"),),
        proves="interruptions at every call of the engine, on Python 3.7",
    ),
    Stage(
        "control-plane",
        540,
        (_part("system", "control-plane", "tests/cluster"),),
        needs=("programs",),
        proves="the lab's control plane itself",
    ),
    Stage(
        "mutation",
        3600,
        (("python", "-m", MUTATION),),
        cpus=2,
        burst=2,
        proves="unit tests find at least 90 % of 200 changes each in `plugin_utils` and `module_utils`",
    ),
)


def select(names: Sequence[str], stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """The named stages in the order of the table, or all without names; UnknownStageError for any other name."""
    known = [stage.name for stage in stages]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UnknownStageError(f"no stage is called {', '.join(unknown)}; there are: {' '.join(known)}")
    return tuple(stage for stage in stages if not names or stage.name in names)
