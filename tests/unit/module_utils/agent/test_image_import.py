# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An image from an archive on a node: imported if it is missing, not changed if it exists, removed if imported."""

from __future__ import annotations

import hashlib
import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.agent.image_import import (
    ensure_absent,
    ensure_present,
    image_architecture,
)
from ansible_collections.volcano.colocation.plugins.module_utils.errors import ColocationError
from ansible_collections.volcano.colocation.plugins.module_utils.host import Clock
from ansible_collections.volcano.colocation.plugins.module_utils.state import image_record
from ansible_collections.volcano.colocation.plugins.module_utils.state.node_lock import LockHeld, hold
from ansible_collections.volcano.colocation.tests.unit.module_utils.agent.images import (
    ID,
    NAME,
    OTHER_ID,
    Image,
    ImageNode,
    ImageRuntime,
    Made,
    node,
    refuses,
)

RECORD = "/var/lib/volcano-colocation/images.json"
ARCHIVE = b"an archive"
HOLDS = [{"architecture": "amd64", "id": ID, "digests": [ID]}]


def bring(on: ImageNode, *, look: bool = False, machine: str = "x86_64", **options: Any) -> dict[str, Any]:
    """Run the module's code on the node; with ``look``, only the check before an import and in check mode."""
    archive = None if look else str(on.write("/home/ansible/image.tar", ARCHIVE))
    sha256 = hashlib.sha256(ARCHIVE).hexdigest()
    arguments = {"image": NAME, "owner": "agent", "images": HOLDS, "archive": archive, "sha256": sha256}
    return ensure_present(on.host, {**arguments, **options}, machine, on.clock)


def remove(on: ImageNode, clock: Clock | None = None, *, check: bool = False, **options: Any) -> dict[str, Any]:
    """Remove imported images, those of the agent by default."""
    arguments = {"owner": "agent", "ignore_containers": [], "timeout": 0}
    return ensure_absent(on.host, {**arguments, **options}, clock or Clock(), check=check)


def record(on: ImageNode) -> list[dict[str, str]]:
    path = Path(on.host.path(RECORD))
    images: list[dict[str, str]] = json.loads(path.read_text())["images"] if path.exists() else []
    return images


def test_a_missing_image_is_imported_once(tmp_path: Path) -> None:
    with node(tmp_path, ImageRuntime(deaf=3)) as on:
        looked = bring(on, look=True)
        assert not on.imports()
        assert not Path(on.host.path("/var")).exists()
        done = bring(on)
        again = bring(on)
    assert looked["changed"]
    assert looked == done
    assert done["image"] == {"name": NAME, "id": ID, "before": ""}
    assert done["diff"]["after"] == f"{NAME} {ID}\n"
    assert (again["changed"], again["image"]) == (False, {"name": NAME, "id": ID, "before": ID})
    assert again["diff"]["before"] == again["diff"]["after"]
    assert on.imports() == [
        (
            "/usr/bin/ctr",
            *("--address", "/run/containerd/containerd.sock", "--namespace", "k8s.io"),
            *(
                "images",
                "import",
                "--base-name",
                "docker.io/volcanosh/vc-agent",
                on.host.path("/home/ansible/image.tar"),
            ),
        )
    ]


def test_imported_images_are_recorded_for_root_only(tmp_path: Path) -> None:
    with node(tmp_path, ImageRuntime()) as on:
        bring(on)
    assert record(on) == [{"name": NAME, "id": ID}]
    modes = [stat.S_IMODE(Path(on.host.path(path)).stat().st_mode) for path in (RECORD, str(Path(RECORD).parent))]
    assert modes == [0o600, 0o700]


def test_an_existing_image_is_not_recorded(tmp_path: Path) -> None:
    with node(tmp_path, ImageRuntime(images=[Image(ID, [NAME])])) as on:
        assert not bring(on)["changed"]
        assert remove(on) == {"changed": False, "removed": [], "remaining": []}
        assert on.runtime.images
    assert not Path(on.host.path("/var")).exists()


@pytest.mark.parametrize(
    "existing", [Image(OTHER_ID, [NAME]), Image(ID, ["docker.io/volcanosh/vc-agent:v1"])], ids=["another id", "no name"]
)
def test_name_and_id_both_count(tmp_path: Path, existing: Image) -> None:
    with node(tmp_path, ImageRuntime(images=[existing])) as on:
        before = existing.id if NAME in existing.tags else ""
        done = bring(on)
    assert done["image"] == {"name": NAME, "id": ID, "before": before}


def test_only_ids_of_this_architecture_count(tmp_path: Path) -> None:
    holds = [{"architecture": "arm64", "id": OTHER_ID, "digests": []}, *HOLDS]
    with node(tmp_path, ImageRuntime(images=[Image(OTHER_ID, [NAME])])) as on:
        assert bring(on, look=True, images=holds, machine="x86_64")["import_required"]
        assert not bring(on, look=True, images=holds, machine="aarch64")["import_required"]
        with pytest.raises(
            ColocationError, match=r"this node is arm64, and the archive contains .* for amd64\. Nothing"
        ):
            bring(on, look=True, machine="aarch64")
    assert image_architecture("riscv64") == "riscv64"


def test_a_file_that_changed_during_the_transfer_is_not_imported(tmp_path: Path) -> None:
    with node(tmp_path, ImageRuntime()) as on:
        with pytest.raises(ColocationError, match="the file differs from the file that was read on the controller"):
            bring(on, sha256="0" * 64)
        with pytest.raises(ColocationError, match="cannot be read"):
            bring(on, archive="/nowhere/image.tar")
        assert not on.imports()


def test_a_failed_import_is_reported_and_not_recorded(tmp_path: Path) -> None:
    message = r"could not import .*no space left on device\. Check the log"
    with node(tmp_path, ImageRuntime(), refuses) as on, pytest.raises(ColocationError, match=message):
        bring(on)
    assert not record(on)


def test_an_import_that_the_runtime_does_not_report_is_an_error_and_remains_recorded(tmp_path: Path) -> None:
    with node(tmp_path, ImageRuntime(deaf=10_000)) as on, pytest.raises(
        ColocationError, match=rf"after 30 s the CRI reports {NAME} as missing, expected {ID}"
    ):
        bring(on)
    assert record(on) == [{"name": NAME, "id": ID}]


def test_another_process_with_the_lock_prevents_the_import(tmp_path: Path) -> None:
    with node(tmp_path, ImageRuntime()) as on, hold(on.host.path("/var/lib/volcano-colocation/lock"), "another run"):
        with pytest.raises(LockHeld, match="another run"):
            bring(on)
        assert not on.imports()


@pytest.mark.parametrize(
    ("name", "by_hand"),
    [("cri-o", "skopeo copy oci-archive:FILE"), ("docker", "docker load"), ("x", "its own program")],
)
def test_other_runtimes_are_refused_before_anything_is_sent(tmp_path: Path, name: str, by_hand: str) -> None:
    with node(tmp_path, ImageRuntime(name=name)) as on, pytest.raises(
        ColocationError, match=f"kubelet uses {name}, and archives can be imported only into containerd"
    ) as e:
        bring(on, look=True)
    assert by_hand in str(e.value)


def test_an_image_that_was_loaded_into_another_runtime_is_enough(tmp_path: Path) -> None:
    with node(tmp_path, ImageRuntime(name="cri-o", images=[Image(ID, [NAME])], bare_ids=True)) as on:
        assert not bring(on, look=True)["import_required"]


def test_a_node_without_ctr_is_refused_and_k3s_has_its_own(tmp_path: Path) -> None:
    with node(tmp_path, ImageRuntime(), program="") as on:
        with pytest.raises(ColocationError, match="the program ctr is not in the directory of containerd"):
            bring(on, look=True)
        rancher = "/var/lib/rancher/k3s/data/current/bin"
        on.write(f"{rancher}/containerd")
        on.write(f"{rancher}/ctr")
        bring(on)
        assert on.imports()[0][0] == f"{rancher}/ctr"


def container(asked: str = "", reference: str = "", image: str = "") -> Made:
    return Made("c" * 64, "s", "main", asked=asked, reference=reference, image=image)


@pytest.mark.parametrize(
    "use",
    [container(asked=NAME), container(reference=ID), container(image=ID), container(reference=ID[7:])],
    ids=["by name", "by reference", "by id", "CRI-O"],
)
def test_an_image_that_a_container_uses_remains(tmp_path: Path, use: Made) -> None:
    with node(tmp_path, ImageRuntime()) as on:
        bring(on)
        on.runtime.containers = [use]
        result = remove(on)
        assert [image["reason"] for image in result["remaining"]] == ["the container main (cccccccccccc) uses it"]
        assert not result["changed"]
        assert remove(on, check=True, ignore_containers=["main"])["removed"] == [NAME]
        on.runtime.containers = [container(asked="docker.io/library/x:1", reference=OTHER_ID)]
        predicted = remove(on, check=True)
        assert on.runtime.images
        done = remove(on)
        again = remove(on)
        assert not on.runtime.images
    assert predicted == done
    assert (done["removed"], done["diff"]["before"]) == ([NAME], f"{NAME} {ID}\n")
    assert not again["changed"]
    assert not Path(on.host.path(RECORD)).exists()


def test_the_end_of_a_container_is_waited_for(tmp_path: Path) -> None:
    """kubelet removes an ended container some time later."""
    with node(tmp_path, ImageRuntime()) as on:
        bring(on)
        on.runtime.containers = [container(asked=NAME)]

        class Passing(Clock):
            seconds = 0.0

            def monotonic(self) -> float:
                return self.seconds

            def sleep(self, seconds: float) -> None:
                self.seconds += seconds
                if self.seconds >= 60:
                    on.runtime.containers = []

        assert remove(on, Passing(), timeout=50)["remaining"]
        clock = Passing()
        assert remove(on, clock, timeout=120)["removed"] == [NAME]
        assert clock.seconds == 60


def test_an_image_with_another_name_remains(tmp_path: Path) -> None:
    with node(tmp_path, ImageRuntime()) as on:
        bring(on)
        on.runtime.images[0].digests.append("docker.io/volcanosh/vc-agent@" + OTHER_ID)
        (remaining,) = remove(on)["remaining"]
        assert remaining["reason"].startswith("it also has another name, docker.io/volcanosh/vc-agent@sha256:")
        assert on.runtime.images
    assert record(on)


def test_only_images_of_the_owner_are_removed(tmp_path: Path) -> None:
    with node(tmp_path, ImageRuntime()) as on:
        bring(on, owner="volcano")
        assert record(on) == [{"name": NAME, "id": ID, "owner": "volcano"}]
        for check in (True, False):
            assert remove(on, check=check) == {"changed": False, "removed": [], "remaining": []}
        assert on.runtime.images
        assert remove(on, owner="volcano")["removed"] == [NAME]
        assert not on.runtime.images
    assert not record(on)


def test_an_image_that_replaced_the_imported_one_remains(tmp_path: Path) -> None:
    with node(tmp_path, ImageRuntime()) as on:
        bring(on)
        on.runtime.images = [Image(OTHER_ID, [NAME])]
        assert remove(on)["removed"] == [NAME]
        assert on.runtime.images
    assert not record(on)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "it is damaged"),
        ('{"schema": 1, "images": [{"name": 7, "id": ""}]}', r"it is damaged \(images\[0\].name\)"),
        ('{"schema": 2, "images": []}', "it has schema 2, and this version reads 1"),
        ("[]", "it is damaged"),
    ],
)
def test_an_invalid_record_is_reported(tmp_path: Path, text: str, message: str) -> None:
    with node(tmp_path, ImageRuntime()) as on:
        on.write(RECORD, text.encode())
        with pytest.raises(ColocationError, match=message):
            remove(on)
        with pytest.raises(ColocationError, match=message):
            bring(on)
        assert not on.imports()


def test_a_record_behind_a_link_is_not_read(tmp_path: Path) -> None:
    with node(tmp_path, ImageRuntime()) as on:
        on.write("/elsewhere", b'{"schema": 1, "images": []}')
        directory = Path(on.host.path(RECORD)).parent
        directory.mkdir(parents=True)
        (directory / "images.json").symlink_to(on.host.path("/elsewhere"))
        with pytest.raises(ColocationError, match="cannot read it"):
            image_record.load(on.host)


@pytest.mark.parametrize("look", [True, False])
def test_nothing_is_imported_on_a_system_without_a_record(tmp_path: Path, look: bool) -> None:
    with node(tmp_path, ImageRuntime()) as on:
        on.write("/usr/lib/os-release", b"ID=bottlerocket\n")
        with pytest.raises(ColocationError, match=r"^Bottlerocket is not changed by this collection"):
            bring(on, look=look)
        assert not on.imports()
        assert not Path(on.host.path("/var")).exists()


def test_an_existing_image_is_enough_on_any_system(tmp_path: Path) -> None:
    with node(tmp_path, ImageRuntime(images=[Image(ID, [NAME])])) as on:
        on.write("/usr/lib/os-release", b"ID=bottlerocket\n")
        assert not bring(on, look=True)["changed"]


def test_an_image_is_imported_on_an_immutable_system_with_a_record(tmp_path: Path) -> None:
    with node(tmp_path, ImageRuntime()) as on:
        on.write("/usr/lib/os-release", b"ID=flatcar\n")
        assert bring(on)["changed"]


@pytest.mark.parametrize("look", [True, False])
@pytest.mark.parametrize(
    ("path", "message"),
    [(RECORD, "images.json: it is damaged"), ("/var/lib/volcano-colocation/lock/x", "lock: cannot lock this node")],
)
def test_an_image_that_cannot_be_recorded_is_not_imported(tmp_path: Path, path: str, message: str, look: bool) -> None:
    with node(tmp_path, ImageRuntime()) as on:
        on.write(path, b"{")
        with pytest.raises(ColocationError, match=re.escape(message)):
            bring(on, look=look)
        assert not on.imports()
