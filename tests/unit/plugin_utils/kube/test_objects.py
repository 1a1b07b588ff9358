# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The identity of an object, and its content that can be desired."""

from __future__ import annotations

from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.objects import Ref, body, project


def test_an_object_is_identified_by_its_group_without_the_version() -> None:
    one = Ref.of({"apiVersion": "g.io/v1beta1", "kind": "MutatingAdmissionPolicy", "metadata": {"name": "n"}})
    assert one.same(Ref("g.io/v1", "MutatingAdmissionPolicy", "n"))
    assert not one.same(Ref("g.io/v1", "MutatingAdmissionPolicyBinding", "n"))
    assert (one.group, one.resource, one.place) == ("g.io", "mutatingadmissionpolicies", "MutatingAdmissionPolicy n")
    config = Ref("v1", "ConfigMap", "c", "ns")
    assert (config.group, config.resource, config.place) == ("", "configmaps", "ConfigMap ns/c")
    assert Ref("scheduling.k8s.io/v1", "PriorityClass", "p").resource == "priorityclasses"
    assert config.header(resourceVersion="5") == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "ns", "resourceVersion": "5"},
    }


def test_the_body_has_neither_identity_nor_status() -> None:
    manifest = {
        "apiVersion": "v1",
        "kind": "K",
        "metadata": {"name": "n", "uid": "u"},
        "spec": {"a": 1},
        "status": {"b": 2},
    }
    assert body(manifest) == {"spec": {"a": 1}}
    labelled = {**manifest, "metadata": {"name": "n", "labels": {"x": "y"}}}
    assert body(labelled) == {"spec": {"a": 1}, "metadata": {"labels": {"x": "y"}}}
    assert project({"spec": {"a": 1, "b": 2}}, {"spec": {"a": 5, "c": 6}}) == {"spec": {"a": 1}}
