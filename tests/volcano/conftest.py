# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One cluster for all tests, with Volcano as the role installs it. Each test deletes the objects that it created."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from ansible_collections.volcano.colocation.tests.api.apiserver import ApiServer
from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.cluster import control_plane, volcano
from ansible_collections.volcano.colocation.tests.lab.cluster.programs import DEFAULT, FAMILIES
from ansible_collections.volcano.colocation.tests.lab.cluster.volcano import Volcano, fake_node
from ansible_collections.volcano.colocation.tests.lab.paths import cache_root
from ansible_collections.volcano.colocation.tests.volcano.cluster import Cluster
from ansible_collections.volcano.colocation.tests.volcano.installation import install
from ansible_collections.volcano.colocation.tests.volcano.objects import POOL, namespace
from ansible_collections.volcano.colocation.tests.volcano.space import Space

SYSTEM_NODE = fake_node("system", cpu="100m", memory="100Mi")
"""Runs the pods of Volcano's Deployments, which request nothing, and has no room for others."""

NUMBERS = itertools.count()
"""A deleted namespace exists for some seconds, so each has another name."""

LAST = "test_removal.py"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The release of Kubernetes; the stage of ``make test-matrix`` names others than the default."""
    parser.addoption("--kubernetes", default=DEFAULT, choices=sorted(FAMILIES), help="the control plane's release")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The removal of Volcano comes last."""
    items.sort(key=lambda item: item.path.name == LAST)


@pytest.fixture(scope="session", name="cluster")
def _cluster(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Cluster]:
    control_plane.down()
    programs = volcano.obtain(Cache(cache_root()))
    release = str(pytestconfig.getoption("--kubernetes"))
    plane = control_plane.up(release)
    assert plane.release.startswith(f"{release}.")
    server = ApiServer(tuple(control_plane.kubectl_argv(plane)), str(plane.kubeconfig), tmp_path_factory.mktemp("runs"))
    cluster = Cluster(server, Volcano(plane, programs))
    cluster.volcano.start_kwok()
    cluster.volcano.create_nodes([SYSTEM_NODE])
    install(cluster)
    cluster.volcano.start()
    yield cluster
    control_plane.down()


@pytest.fixture(name="space")
def _space(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Callable[..., Space]]:
    """Makes a namespace with separate Nodes; all objects of the test are deleted at its end."""
    made: list[Space] = []

    def make(cpus: int = 4, nodes: int = 1, **capacity: str) -> Space:
        words = request.node.originalname.removeprefix("test_")[:40].strip("_").replace("_", "-")
        name = f"t{next(NUMBERS)}-{words}"
        cluster.create(namespace(name))
        new = [fake_node(f"{name}-{number}", {POOL: name}, cpu=str(cpus), **capacity) for number in range(nodes)]
        if new:
            cluster.volcano.create_nodes(new)
        made.append(Space(cluster, name))
        return made[-1]

    yield make
    for space in reversed(made):
        space.delete()
