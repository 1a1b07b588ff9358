# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One control plane for all tests of a process. Each module deletes the objects that it created."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.volcano.colocation.tests.api.apiserver import ApiServer
from ansible_collections.volcano.colocation.tests.system.node import lab


@pytest.fixture(scope="session", name="plane")
def _plane() -> Iterator[dict[str, Any]]:
    """The facts of ``cluster up`` on a control plane that no earlier run has used."""
    lab("cluster", "down")
    yield json.loads(lab("cluster", "up", "--json"))
    lab("cluster", "down")


@pytest.fixture(scope="session", name="api_server")
def _api_server(plane: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ApiServer]:
    """The API server for the module of that name, with a separate directory."""
    kubeconfig = plane["kubeconfig"]
    argv = (plane["kubectl"], f"--kubeconfig={kubeconfig}", f"--cache-dir={plane['folder']}/kubectl")
    return lambda name: ApiServer(argv, kubeconfig, tmp_path_factory.mktemp(name))
