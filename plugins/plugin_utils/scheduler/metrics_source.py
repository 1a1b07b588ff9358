# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where in the cluster the source of metrics has to be, so that load-aware scheduling has something to go by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ..edit.readers import read_yaml
from ..edit.text_errors import EditError
from ..kube.objects import Object, Ref
from .conf import Metrics, WantedConf, edit_conf

ADAPTOR = Ref("apiregistration.k8s.io/v1", "APIService", "v1beta1.custom.metrics.k8s.io")


@dataclass(frozen=True)
class Place:
    """An object of the cluster that has to be there."""

    ref: Ref
    told: str


def source_of(wanted: WantedConf | None, text: str | None) -> Metrics | None:
    """Where a scheduler that is to go by load reads it, once its configuration is edited: given now, or there before.

    None where nothing of that is wanted, or where the configuration cannot be read, which the plan refuses.
    """
    if wanted is None or text is None or not (wanted.usage or wanted.metrics):
        return None
    try:
        return _metrics(read_yaml(edit_conf(text, wanted)))
    except EditError:
        return None


def _metrics(document: Mapping[str, Any]) -> Metrics | None:
    found = document.get("metrics")
    if not isinstance(found, Mapping):
        return None
    return Metrics(str(found.get("type") or ""), str(found.get("address") or ""))


def place_of(metrics: Metrics) -> Place | None:
    """The Service that an address names, or the API of the adaptor; None for an address outside of the cluster."""
    if metrics.kind == "prometheus_adaptor":
        return Place(ADAPTOR, "prometheus_adaptor is asked through the custom metrics API")
    labels = (urlsplit(metrics.address).hostname or "").split(".")
    if labels[2:3] == ["svc"] and labels[3:] in ([], ["cluster", "local"]):
        return Place(Ref("v1", "Service", labels[0], labels[1]), f"the metrics' address is {metrics.address}")
    return None


def missing(place: Place, found: Object | None) -> str:
    """What is wrong with it; '' where nothing is."""
    if found is None:
        return f"{place.told}, and the cluster has no {place.ref.place}"
    conditions = (found.get("status") or {}).get("conditions") or ()
    states = {each.get("type"): each for each in conditions}
    available = states.get("Available", {})
    if place.ref.kind == "APIService" and available.get("status") != "True":
        return f"{place.told}, and {place.ref.place} is not available: {available.get('message', 'no reason given')}"
    return ""
