# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import hashlib
import io
import json
import tarfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.tests.lab.agent_image import DAC_OVERRIDE
from ansible_collections.volcano.colocation.tests.lab.images import archive as node_images
from ansible_collections.volcano.colocation.tests.lab.oci import File, Image, Link, archive

IMAGE = Image(
    ("registry.example/a:1", "registry.example/a:2"),
    (File("bin/tool", b"tool"),),
    ("/bin/tool",),
    (Link("bin/alias", "tool"),),
)


def members(blob: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(blob)) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar if member.isreg()}  # type: ignore[union-attr]


def blob_of(files: dict[str, bytes], descriptor: dict[str, Any]) -> bytes:
    """The blob that a descriptor points to; its digest and size must be the blob's."""
    algorithm, value = descriptor["digest"].split(":")
    blob = files[f"blobs/{algorithm}/{value}"]
    assert hashlib.new(algorithm, blob).hexdigest() == value
    assert len(blob) == descriptor["size"]
    return blob


@given(st.binary(max_size=2000), st.binary(max_size=2000))
def test_every_descriptor_leads_to_its_blob(one: bytes, two: bytes) -> None:
    files = members(archive([Image(("a:1",), (File("a", one), File("b/c", two)), ("/a",))]))
    index = json.loads(files["index.json"])
    reached = set()
    for entry in index["manifests"]:
        manifest = json.loads(blob_of(files, entry))
        config = json.loads(blob_of(files, manifest["config"]))
        layers = [blob_of(files, layer) for layer in manifest["layers"]]
        assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(layer).hexdigest()}" for layer in layers]
        assert members(layers[0]) == {"a": one, "b/c": two}
        reached |= {
            descriptor["digest"].split(":")[1] for descriptor in (entry, manifest["config"], *manifest["layers"])
        }
    assert {name.rsplit("/", 1)[1] for name in files if name.startswith("blobs/")} == reached


def test_the_same_images_give_the_same_bytes() -> None:
    assert archive([IMAGE]) == archive([IMAGE])


def test_an_image_is_known_under_each_of_its_names() -> None:
    index = json.loads(members(archive([IMAGE]))["index.json"])
    names = [entry["annotations"]["io.containerd.image.name"] for entry in index["manifests"]]
    assert names == list(IMAGE.names)
    assert len({entry["digest"] for entry in index["manifests"]}) == 1


def test_links_and_modes_are_in_the_layer() -> None:
    files = members(archive([IMAGE]))
    manifest = json.loads(blob_of(files, json.loads(files["index.json"])["manifests"][0]))
    with tarfile.open(fileobj=io.BytesIO(blob_of(files, manifest["layers"][0]))) as tar:
        assert tar.getmember("bin/alias").linkname == "tool"
        assert tar.getmember("bin/tool").mode == 0o755


@pytest.mark.parametrize("name", ["registry.k8s.io/pause:3.6", "registry.k8s.io/pause:3.8"])
def test_a_node_has_the_sandbox_its_containerd_asks_for(name: str) -> None:
    index = json.loads(members(node_images(b"pause", b"busybox"))["index.json"])
    assert name in [entry["annotations"]["io.containerd.image.name"] for entry in index["manifests"]]


def test_a_file_has_its_capabilities() -> None:
    """GNU tar extracts them; containerd reads the same record (pkg/archive/tar.go)."""
    capable = Image(("a:1",), (File("plain", b"1"), File("capable", b"2", capabilities=DAC_OVERRIDE)), ("/a",))
    files = members(archive([capable]))
    (entry,) = json.loads(files["index.json"])["manifests"]
    (layer,) = json.loads(blob_of(files, entry))["layers"]
    with tarfile.open(fileobj=io.BytesIO(blob_of(files, layer))) as tar:
        attributes = {member.name: member.pax_headers for member in tar}
    assert attributes["plain"] == {}
    assert attributes["capable"]["SCHILY.xattr.security.capability"].encode() == DAC_OVERRIDE


def test_the_capability_is_that_of_setcap() -> None:
    """Recorded: the attribute that `setcap cap_dac_override=eip` of Debian 12 wrote."""
    assert DAC_OVERRIDE.hex() == "0100000202000000020000000000000000000000"
