# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubeadm_config without an API server: the message names what is missing.

What a real one says is in tests/system.
"""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.tests.support.tasks.play_tasks import Run, checked, run, task


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Run:
    directory = tmp_path_factory.mktemp("kubeadm")
    kubeconfig = directory / "admin.conf"
    kubeconfig.write_text("apiVersion: v1\nkind: Config\n", encoding="utf-8")
    nodes = ["localhost"]
    return run(
        directory,
        [
            task("unnamed", "kubeadm_config", nodes=nodes, edit_configmap=True),
            task("gone", "kubeadm_config", nodes=nodes, kubeconfig=str(directory / "nowhere.conf")),
            task("bare", "kubeadm_config", nodes=nodes, kubeconfig=str(kubeconfig)),
            checked(task("bare_checked", "kubeadm_config", nodes=nodes, kubeconfig=str(kubeconfig))),
        ],
    )


def test_true_without_a_kubeconfig_says_what_is_missing(lived: Run) -> None:
    assert lived.results["unnamed"]["failed"]
    assert lived.results["unnamed"]["msg"] == (
        "edit_configmap is true, and kubeconfig is not set."
        " Nothing was changed. Set it to the path of a kubeconfig on the controller."
    )


def test_a_kubeconfig_that_is_not_there_is_named(lived: Run) -> None:
    assert lived.results["gone"]["failed"]
    assert lived.results["gone"]["msg"].endswith(
        "/nowhere.conf is not a file. Nothing was changed. Give the kubeconfig's path on the controller."
    )


@pytest.mark.parametrize("name", ["bare", "bare_checked"])
def test_a_file_that_is_no_kubeconfig_is_named(lived: Run, name: str) -> None:
    assert lived.results[name]["failed"]
    assert "/admin.conf is not a kubeconfig: " in lived.results[name]["msg"]
    assert lived.results[name]["msg"].endswith(" Nothing was changed. Give the path of a valid kubeconfig.")
