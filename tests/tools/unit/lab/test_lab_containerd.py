# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.cache import Cache
from ansible_collections.volcano.colocation.tests.lab.containerd import obtain_containerd
from ansible_collections.volcano.colocation.tests.lab.errors import LabError

CONFIG_2 = "[plugins.'io.containerd.cri.v1.images'.pinned_images]\n  sandbox = 'registry.k8s.io/pause:3.10.2'\n"
CONFIG_1 = '[plugins."io.containerd.grpc.v1.cri"]\n    sandbox_image = "registry.k8s.io/pause:3.8"\n  sandboxer = ""\n'


def write(
    directory: Path, config: str, version: str = "containerd github.com/containerd/containerd/v2 v2.4.2 "
) -> Path:
    for name in ("containerd", "containerd-shim-runc-v2", "ctr"):
        path = directory / name
        path.write_text(f"#!/bin/sh\n[ \"$1\" = config ] || exec echo '{version}'\ncat <<'END'\n{config}END\n")
        path.chmod(0o755)
    return directory


@pytest.mark.parametrize(
    ("config", "image"), [(CONFIG_2, "registry.k8s.io/pause:3.10.2"), (CONFIG_1, "registry.k8s.io/pause:3.8")]
)
def test_a_containerd_in_a_directory_describes_itself(config: str, image: str, tmp_path: Path) -> None:
    containerd = obtain_containerd(Cache(tmp_path / "cache"), str(write(tmp_path, config)))
    assert containerd is not None
    assert (containerd.release, containerd.config, containerd.sandbox_images) == ("2.4.2", config, (image,))
    assert [path.name for path in containerd.paths] == ["containerd", "containerd-shim-runc-v2", "ctr"]


def test_each_of_the_programs_changes_the_digest(tmp_path: Path) -> None:
    before = obtain_containerd(Cache(tmp_path / "cache"), str(write(tmp_path, CONFIG_2)))
    (tmp_path / "ctr").write_text("#!/bin/sh\n")
    after = obtain_containerd(Cache(tmp_path / "cache"), str(tmp_path))
    assert before is not None
    assert after is not None
    assert before.digest != after.digest


def test_debians_is_not_replaced(tmp_path: Path) -> None:
    assert obtain_containerd(Cache(tmp_path / "cache"), "") is None


def test_a_directory_that_lacks_a_program_is_refused_with_its_name(tmp_path: Path) -> None:
    (write(tmp_path, CONFIG_2) / "ctr").chmod(0o644)
    with pytest.raises(LabError, match="has no program ctr: "):
        obtain_containerd(Cache(tmp_path / "cache"), str(tmp_path))


@pytest.mark.parametrize(
    ("config", "version", "message"),
    [("version = 9\n", "containerd v9.0.0", "names no sandbox image"), (CONFIG_2, "none", "not the version")],
)
def test_a_program_that_is_not_a_known_containerd_is_refused(
    config: str, version: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(LabError, match=message):
        obtain_containerd(Cache(tmp_path / "cache"), str(write(tmp_path, config, version)))
