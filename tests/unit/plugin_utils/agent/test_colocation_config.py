# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The agent's ConfigMap: managed values are merged and removed again, foreign ones remain, the result is valid."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.colocation_config import (
    UNSET,
    DesiredConfig,
    is_written_by_agents,
    merge_config,
    parse_config,
    pool_of,
    restore_config,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.colocation_schema import (
    ConfigPath,
    find_problems,
    selector_matches,
    shadowed_nodes,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.agent.owned_objects import POOL_LABEL
from ansible_collections.volcano.colocation.plugins.plugin_utils.kube.api_errors import ClusterError

HIGH: ConfigPath = ("evictingConfig", "evictingCPUHighWatermark")
LOW: ConfigPath = ("evictingConfig", "evictingCPULowWatermark")
BURST: ConfigPath = ("cpuBurstConfig", "enable")

# A configuration of an agent, with keys that the agent does not know.
FOREIGN = """{
    "globalConfig":{
        "cpuBurstConfig":{"enable":false},
        "evictingConfig":{"evictingCPUHighWatermark":80, "monitorInterval":10},
        "somethingNew":{"deep":[1, 2.50, {"a":null}]}
    },
    "nodesConfig":[{"selector":{"matchLabels":{"zone":"b"}}, "evictingConfig":{"evictingCPUHighWatermark":90}}],
    "owner":"Ada"
}
"""


def desired(common: dict[ConfigPath, Any] | None = None, **pools: dict[ConfigPath, Any]) -> DesiredConfig:
    return DesiredConfig(common or {}, pools, frozenset())


def entry(pool: str, **sections: Any) -> dict[str, Any]:
    return {"selector": {"matchLabels": {POOL_LABEL: pool}}, **sections}


def test_foreign_values_keep_their_order_and_unknown_keys() -> None:
    text = merge_config(FOREIGN, desired({HIGH: 70}, a={BURST: True}), ()).text
    before, after = json.loads(FOREIGN), json.loads(text)
    assert list(after) == ["globalConfig", "nodesConfig", "owner"]
    assert list(after["globalConfig"]) == list(before["globalConfig"])
    assert after["globalConfig"]["somethingNew"] == before["globalConfig"]["somethingNew"]
    assert after["globalConfig"]["evictingConfig"] == {"evictingCPUHighWatermark": 70, "monitorInterval": 10}
    assert after["nodesConfig"] == [before["nodesConfig"][0], entry("a", cpuBurstConfig={"enable": True})]


def test_existing_values_do_not_change_the_text() -> None:
    assert merge_config(FOREIGN, desired({HIGH: 80}), ()).text == FOREIGN
    once = merge_config(FOREIGN, desired({HIGH: 70}, a={BURST: True}), ())
    again = merge_config(once.text, desired({HIGH: 70}, a={BURST: True}), once.preserved)
    assert (again.text, again.preserved) == (once.text, once.preserved)


def test_a_new_configuration_has_a_global_part() -> None:
    """MergerCfg uses its defaults, and ignores nodesConfig, if globalConfig is missing."""
    assert json.loads(merge_config(None, desired(a={BURST: True}), ()).text) == {
        "globalConfig": {},
        "nodesConfig": [entry("a", cpuBurstConfig={"enable": True})],
    }


def test_values_that_are_no_longer_set_are_restored() -> None:
    first = merge_config(FOREIGN, desired({HIGH: 70, LOW: 20}), ())
    second = merge_config(first.text, desired({LOW: 20}), first.preserved)
    assert json.loads(second.text)["globalConfig"]["evictingConfig"] == {
        "evictingCPUHighWatermark": 80,
        "monitorInterval": 10,
        "evictingCPULowWatermark": 20,
    }
    third = merge_config(second.text, desired(), second.preserved)
    assert json.loads(third.text) == json.loads(FOREIGN)


def test_foreign_changes_of_managed_values_remain_and_are_reported() -> None:
    first = merge_config(FOREIGN, desired({HIGH: 70}), ())
    changed = first.text.replace("70", "75")
    merged = merge_config(changed, desired(), first.preserved)
    assert json.loads(merged.text)["globalConfig"]["evictingConfig"]["evictingCPUHighWatermark"] == 75
    assert merged.foreign == (
        "globalConfig.evictingConfig.evictingCPUHighWatermark was 80, the collection made it 70, now it is 75",
    )


def test_entries_keep_their_position_and_are_removed_with_their_pool() -> None:
    first = merge_config(FOREIGN, desired(a={BURST: True}, b={BURST: True}), ()).text
    second = json.loads(merge_config(first, desired(b={BURST: False}), ()).text)
    assert [pool_of(item) for item in second["nodesConfig"]] == [None, "b"]
    assert second["nodesConfig"][1]["cpuBurstConfig"] == {"enable": False}
    other_pool = DesiredConfig({}, {"c": {}}, frozenset({"a"}))
    assert [pool_of(item) for item in json.loads(merge_config(first, other_pool, ()).text)["nodesConfig"]] == [
        None,
        "a",
        "c",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", ":1: a key without double quotes, a comment, or a comma after the last entry"),
        ('{"a": 1, "a": 2}', ":1: key 'a' is set twice"),
        ("[]", "not a mapping of keys to values"),
        ('{"globalConfig": 1}', "globalConfig is not an object"),
        ('{"nodesConfig": {"a": 1}}', "nodesConfig is not a list"),
    ],
)
def test_a_text_that_the_agent_cannot_read_is_refused(text: str, message: str) -> None:
    with pytest.raises(ClusterError) as refused:
        merge_config(text, desired({HIGH: 70}, a={}), ())
    assert message in str(refused.value)
    assert "Nothing was changed." in str(refused.value)


def test_a_configuration_in_another_order_is_not_changed() -> None:
    """An agent that starts may write the whole document again."""
    desired_config = desired({HIGH: 70}, a={BURST: True, HIGH: 60})
    merged = merge_config(None, desired_config, ())
    reordered = json.dumps(json.loads(merged.text, object_pairs_hook=lambda pairs: dict(reversed(pairs))))
    assert reordered != merged.text
    assert merge_config(reordered, desired_config, merged.preserved).text == reordered


def test_what_an_agent_adds_by_itself_is_known() -> None:
    watermarks = {
        "evictingCPUHighWatermark": 80,
        "evictingMemoryHighWatermark": 60,
        "evictingCPULowWatermark": 30,
        "evictingMemoryLowWatermark": 30,
    }
    sections = {
        "overSubscriptionConfig": {"enable": True, "overSubscriptionTypes": "cpu,memory"},
        "evictingConfig": watermarks,
    }
    assert is_written_by_agents(json.dumps({"globalConfig": sections}))
    assert not is_written_by_agents(json.dumps({"globalConfig": {**sections, "cpuQosConfig": {"enable": True}}}))
    assert not is_written_by_agents(json.dumps({"globalConfig": sections, "nodesConfig": []}))


def test_the_original_text_is_restored_byte_for_byte() -> None:
    merged = merge_config(FOREIGN, desired({HIGH: 70}, a={BURST: True}), ())
    assert restore_config(merged.text, FOREIGN, merged.text, merged.preserved) == (FOREIGN, ())
    fresh = merge_config(None, desired({HIGH: 70}, a={BURST: True}), ())
    assert restore_config(fresh.text, None, fresh.text, fresh.preserved) == (None, ())


def test_foreign_changes_remain_after_the_removal() -> None:
    merged = merge_config(FOREIGN, desired({HIGH: 70, LOW: 20}, a={BURST: True}), ())
    document = {**json.loads(merged.text), "added": True}
    document["globalConfig"]["evictingConfig"]["evictingCPULowWatermark"] = 25
    text, foreign = restore_config(json.dumps(document), FOREIGN, merged.text, merged.preserved)
    assert json.loads(text or "") == {
        **json.loads(FOREIGN),
        "globalConfig": {
            **json.loads(FOREIGN)["globalConfig"],
            "evictingConfig": {"evictingCPUHighWatermark": 80, "monitorInterval": 10, "evictingCPULowWatermark": 25},
        },
        "added": True,
    }
    assert foreign == (
        "globalConfig.evictingConfig.evictingCPULowWatermark was unset, the collection made it 20, now it is 25",
    )


def test_a_reformatted_managed_configuration_is_removed_completely() -> None:
    merged = merge_config(None, desired({HIGH: 70}, a={BURST: True}), ())
    text = json.dumps(json.loads(merged.text))
    assert restore_config(text, None, merged.text, merged.preserved) == (None, ())


VALUES = st.dictionaries(st.sampled_from([HIGH, LOW, BURST]), st.integers(1, 9), max_size=3)
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "globalConfig": st.fixed_dictionaries(
            {},
            optional={
                "evictingConfig": st.dictionaries(
                    st.sampled_from([HIGH[1], LOW[1], "x"]), st.integers(1, 9), min_size=1
                ),
                "other": st.integers(),
            },
        ),
        "nodesConfig": st.lists(st.fixed_dictionaries({"selector": st.just({}), "x": st.integers()}), max_size=2),
        "y": st.none(),
    },
)


@given(DOCUMENTS, VALUES, VALUES)
@settings(deadline=None)
def test_all_previous_values_are_restored(
    document: dict[str, Any], first: dict[ConfigPath, Any], second: dict[ConfigPath, Any]
) -> None:
    original = json.dumps(document)
    once = merge_config(original, desired(first, a=first), ())
    twice = merge_config(once.text, desired(second, b=second), once.preserved)
    reformatted = json.dumps(json.loads(twice.text))
    text, foreign = restore_config(reformatted, original, twice.text, twice.preserved)
    assert json.loads(text or "{}") == document
    assert foreign == ()


def test_absent_is_not_null() -> None:
    merged = merge_config(
        '{"globalConfig": {"evictingConfig": {"evictingCPUHighWatermark": null}}}', desired({HIGH: 70}), ()
    )
    assert merged.preserved[0].before is None
    assert merge_config("{}", desired({HIGH: 70}), ()).preserved[0].before is UNSET
    assert repr(UNSET) == "unset"


@pytest.mark.parametrize("text", [None, "", " "])
def test_an_empty_text_is_an_empty_document(text: str | None) -> None:
    assert parse_config(text) == {}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"globalConfig": []}, "globalConfig is not an object"),
        ({"nodesConfig": {}}, "nodesConfig is not a list"),
        ({"nodesConfig": [1]}, "nodesConfig[0] is not an object"),
        ({"nodesConfig": [{"selector": "x"}]}, "nodesConfig[0].selector is not an object"),
        ({"globalConfig": {"evictingConfig": 1}}, "globalConfig.evictingConfig is not an object"),
        (
            {"globalConfig": {"evictingConfig": {"evictingCPUHighWatermark": "80"}}},
            "globalConfig.evictingConfig.evictingCPUHighWatermark: '80' is not a whole number",
        ),
        (
            {"globalConfig": {"cpuBurstConfig": {"enable": 1}}},
            "globalConfig.cpuBurstConfig.enable: 1 is neither true nor false",
        ),
        (
            {"globalConfig": {"overSubscriptionConfig": {"overSubscriptionTypes": "cpu, memory"}}},
            "globalConfig.overSubscriptionConfig.overSubscriptionTypes: 'cpu, memory' is not cpu, memory or cpu,memory",
        ),
        (
            {"globalConfig": {"networkQosConfig": {"offlineLowBandwidthPercent": 1001}}},
            "globalConfig.networkQosConfig.offlineLowBandwidthPercent: 1001 is not from 1 to 1000",
        ),
        (
            {"globalConfig": {"evictingConfig": {"evictingCPULowWatermark": 85}}},
            "globalConfig: evictingCPULowWatermark 85 has to be less than evictingCPUHighWatermark 80",
        ),
        (
            {
                "globalConfig": {"evictingConfig": {"evictingMemoryLowWatermark": 50}},
                "nodesConfig": [{"selector": {}, "evictingConfig": {"evictingMemoryHighWatermark": 40}}],
            },
            "nodesConfig[0]: evictingMemoryLowWatermark 50 has to be less than evictingMemoryHighWatermark 40",
        ),
        (
            {"globalConfig": {"networkQosConfig": {"offlineLowBandwidthPercent": 50}}},
            "globalConfig: offlineLowBandwidthPercent 50 has to be less than offlineHighBandwidthPercent 40",
        ),
    ],
)
def test_values_that_the_agent_refuses_are_named(document: dict[str, Any], message: str) -> None:
    assert message in find_problems(document)


def test_a_configuration_of_the_agent_is_valid() -> None:
    assert find_problems(json.loads(FOREIGN)) == ()
    assert find_problems({}) == ()
    equal = {"offlineLowBandwidthPercent": 40, "offlineHighBandwidthPercent": 40}
    assert find_problems({"globalConfig": {"networkQosConfig": equal}}) == ()


@pytest.mark.parametrize(
    ("selector", "hit"),
    [
        ({}, True),
        ({"matchLabels": {"zone": "b"}}, True),
        ({"matchLabels": {"zone": "c"}}, False),
        ({"matchLabels": {"zone": "b"}, "matchExpressions": [{"key": "gpu", "operator": "Exists"}]}, False),
        ({"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}, True),
        ({"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["a", "b"]}]}, False),
        ({"matchExpressions": [{"key": "gpu", "operator": "NotIn", "values": ["a"]}]}, True),
        ({"matchExpressions": [{"key": "gpu", "operator": "DoesNotExist"}]}, True),
        ({"matchExpressions": [{"key": "zone", "operator": "Gt", "values": ["1"]}]}, False),
    ],
)
def test_selectors_match_as_the_api_says(selector: dict[str, Any], hit: bool) -> None:
    assert selector_matches(selector, {"zone": "b"}) is hit


def test_a_foreign_entry_for_a_node_of_a_pool_is_detected() -> None:
    document = json.loads(FOREIGN)
    document["nodesConfig"].append(entry("a"))
    nodes = {"n1": {"zone": "a", POOL_LABEL: "a"}, "n2": {"zone": "b", POOL_LABEL: "a"}}
    assert shadowed_nodes(document, [False, True], nodes) == ("nodesConfig[0] matches n2",)
    assert shadowed_nodes(document, [False, True], {"n1": nodes["n1"]}) == ()
