# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
import tomlkit

from ansible_collections.volcano.colocation.tests.lab.errors import LabError
from ansible_collections.volcano.colocation.tests.lab.node_files import (
    Identity,
    containerd_config,
    fixed_files,
    links,
    own_files,
)
from ansible_collections.volcano.colocation.tests.lab.spec import Driver, Layout, Nri, Suite
from ansible_collections.volcano.colocation.tests.support.lab.paper_nodes import SPEC

PACKAGED = """version = 2

[plugins]
  [plugins."io.containerd.grpc.v1.cri"]
    [plugins."io.containerd.grpc.v1.cri".cni]
      bin_dir = "/usr/lib/cni"
"""
RECORDED = Path(__file__).parents[3] / "unit" / "fixtures" / "config_files"
PRINTED = {
    "io.containerd.cri.v1.runtime": (RECORDED / "containerd-2.4.2-default.toml").read_text(),
    "io.containerd.grpc.v1.cri": (RECORDED / "containerd-1.7.24-default.toml").read_text(),
}
"""`containerd config default`, by the plugin with the options of runc."""
DEBIAN = (1, 20)
IDENTITY = Identity("10.0.9.15", "10.0.9.3", "0" * 32, "key")


def test_by_default_containerds_file_is_debians() -> None:
    assert containerd_config(SPEC, PACKAGED) == PACKAGED


def test_containerds_file_has_the_requested_settings() -> None:
    spec = dataclasses.replace(SPEC, runtime_driver=Driver.SYSTEMD, nri=Nri.ON)
    text = containerd_config(spec, PACKAGED)
    plugins = tomlkit.parse(text).unwrap()["plugins"]
    cri = plugins["io.containerd.grpc.v1.cri"]
    assert cri["cni"]["bin_dir"] == "/usr/lib/cni"
    runc = cri["containerd"]["runtimes"]["runc"]
    assert runc == {"runtime_type": "io.containerd.runc.v2", "options": {"SystemdCgroup": True}}
    assert plugins["io.containerd.nri.v1.nri"] == {"disable": False}


@pytest.mark.parametrize(
    ("suite", "nri", "expected_table"),
    [
        (Suite.TRIXIE, Nri.OFF, None),
        (Suite.TRIXIE, Nri.ON, {"disable": False}),
        (Suite.FORKY, Nri.ON, None),
        (Suite.FORKY, Nri.OFF, {"disable": True}),
    ],
)
def test_nri_is_written_where_containerds_default_is_another(
    suite: Suite, nri: Nri, expected_table: dict[str, bool] | None
) -> None:
    text = containerd_config(dataclasses.replace(SPEC, suite=suite, nri=nri), PACKAGED)
    assert tomlkit.parse(text).unwrap()["plugins"].get("io.containerd.nri.v1.nri") == expected_table


@pytest.mark.parametrize(("driver", "systemd"), [(Driver.SYSTEMD, True), (Driver.CGROUPFS, False)])
@pytest.mark.parametrize("plugin", PRINTED)
@pytest.mark.parametrize("nri", Nri)
def test_the_printed_file_of_another_containerd_is_edited(plugin: str, nri: Nri, driver: Driver, systemd: bool) -> None:
    """containerd refuses a file that has a table twice."""
    printed = PRINTED[plugin]
    spec = dataclasses.replace(SPEC, containerd="2.4", nri=nri, runtime_driver=driver)
    text = containerd_config(spec, printed)
    expected = tomlkit.parse(printed).unwrap()
    expected["plugins"][plugin]["containerd"]["runtimes"]["runc"]["options"]["SystemdCgroup"] = systemd
    expected["plugins"]["io.containerd.nri.v1.nri"]["disable"] = nri is Nri.OFF
    assert tomlkit.parse(text).unwrap() == expected


def test_a_containerd_without_nri_is_refused_when_nri_is_on() -> None:
    document = tomlkit.parse(PRINTED["io.containerd.grpc.v1.cri"])
    del document["plugins"]["io.containerd.nri.v1.nri"]
    printed = document.as_string()
    spec = dataclasses.replace(SPEC, containerd="/opt/containerd")
    assert containerd_config(spec, printed) == printed
    with pytest.raises(LabError, match="has no NRI"):
        containerd_config(dataclasses.replace(spec, nri=Nri.ON), printed)


def test_a_file_that_the_lab_does_not_know_is_not_edited() -> None:
    with pytest.raises(LabError, match="no options of runc"):
        containerd_config(dataclasses.replace(SPEC, containerd="2.4"), "version = 9\n")


@pytest.mark.parametrize("layout", Layout)
def test_what_nodes_share_is_without_their_names_and_addresses(layout: Layout) -> None:
    spec = dataclasses.replace(SPEC, name="onlyme", layout=layout)
    assert not any("onlyme" in text or "10.0.9." in text for text in fixed_files(spec, PACKAGED, DEBIAN).values())
    own = own_files(spec, IDENTITY, DEBIAN)
    assert own["/etc/hostname"] == "onlyme\n"
    assert own["/etc/hosts"].endswith("10.0.9.15 onlyme\n")


@pytest.mark.parametrize("layout", Layout)
def test_an_image_keeps_its_prepared_files(layout: Layout) -> None:
    """The first boot writes none of the files that every node has."""
    spec = dataclasses.replace(SPEC, layout=layout)
    assert not set(own_files(spec, IDENTITY, DEBIAN)) & set(fixed_files(spec, PACKAGED, DEBIAN))


def test_without_kubelet_there_are_pods_and_no_file_of_kubelets() -> None:
    files = {**fixed_files(SPEC, PACKAGED, None), **own_files(SPEC, IDENTITY, None)}
    assert not [path for path in files if "kube" in path]
    assert links(SPEC, None) == {}
    settings = json.loads(files["/etc/lab/pods.json"])
    assert settings["driver"] == "systemd"
    assert [pod["name"] for pod in settings["pods"]] == ["guaranteed", "burstable", "besteffort"]
