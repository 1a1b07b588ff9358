# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of a manifest: annotations of its objects, and their inventory."""

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import Ref
from ansible_collections.volcano.colocation.plugins.plugin_utils.manifest.inventory import (
    Inventory,
    inventory_ref,
    parse_inventory,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.manifest.managed_objects import (
    LAST_APPLIED,
    comparable_fields,
    last_applied_fields,
    ownership_annotations,
)

CRD = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a", "namespace": "b"},
    "data": {"x": "1" * 300_000},
}


def test_the_annotation_has_the_last_applied_fields_and_is_small() -> None:
    own = ownership_annotations(CRD, "volcano", adopted=False)
    assert sum(map(len, own.values())) < 2000
    live = {**CRD, "metadata": {**CRD["metadata"], "annotations": own}}  # type: ignore[dict-item]
    assert last_applied_fields(live) == comparable_fields(live) | {"metadata": {}} == comparable_fields(CRD)


@pytest.mark.parametrize("note", ["", "%", "AAAA", "eJyLBQAANwA1"])
def test_an_invalid_annotation_is_refused(note: str) -> None:
    live = {**CRD, "metadata": {"name": "a", "annotations": {LAST_APPLIED: note}}}
    with pytest.raises(ClusterError, match="does not have the format of this version of the collection"):
        last_applied_fields(live)


def test_an_inventory_is_parsed_as_it_was_written() -> None:
    known = Inventory((Ref("v1", "ConfigMap", "a", "b"),), {"Job b/c": "sha256:0"})
    config_map = inventory_ref("x").header()
    assert parse_inventory({**config_map, "data": known.to_data()}) == known
    with pytest.raises(
        ClusterError, match="ConfigMap kube-system/volcano-colocation-manifest-x does not have the format"
    ):
        parse_inventory({**config_map, "data": {"inventory.json": '{"schema": 2}'}})
