# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ansible_collections.volcano.colocation.plugins.module_utils.cri import hpack

# RFC 7541, appendix C.3: requests without Huffman code, one connection.
PLAIN_REQUESTS = [
    (
        "828684410f7777772e6578616d706c652e636f6d",
        [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com")],
        57,
    ),
    (
        "828684be58086e6f2d6361636865",
        [
            (":method", "GET"),
            (":scheme", "http"),
            (":path", "/"),
            (":authority", "www.example.com"),
            ("cache-control", "no-cache"),
        ],
        110,
    ),
    (
        "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
        [
            (":method", "GET"),
            (":scheme", "https"),
            (":path", "/index.html"),
            (":authority", "www.example.com"),
            ("custom-key", "custom-value"),
        ],
        164,
    ),
]
# Appendix C.4: the same with Huffman code.
CODED_REQUESTS = [
    "828684418cf1e3c2e5f23a6ba0ab90f4ff",
    "828684be5886a8eb10649cbf",
    "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
]
DATE = "Mon, 21 Oct 2013 20:13:21 GMT"
LATER = "Mon, 21 Oct 2013 20:13:22 GMT"
SITE = "https://www.example.com"
COOKIE = "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"
# Appendix C.5 and C.6: responses with a dynamic table of 256 octets, so that entries are evicted.
RESPONSES = [
    (
        "4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d54"
        "6e1768747470733a2f2f7777772e6578616d706c652e636f6d",
        "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3",
        [(":status", "302"), ("cache-control", "private"), ("date", DATE), ("location", SITE)],
        222,
    ),
    (
        "4803333037c1c0bf",
        "4883640effc1c0bf",
        [(":status", "307"), ("cache-control", "private"), ("date", DATE), ("location", SITE)],
        222,
    ),
    (
        "88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a4b48514b42"
        "5a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31",
        "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f"
        "3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
        [
            (":status", "200"),
            ("cache-control", "private"),
            ("date", LATER),
            ("location", SITE),
            ("content-encoding", "gzip"),
            ("set-cookie", COOKIE),
        ],
        215,
    ),
]


def test_plain_requests_of_the_rfc_are_decoded() -> None:
    decoder = hpack.Decoder()
    for block, headers, size in PLAIN_REQUESTS:
        assert decoder.decode(bytes.fromhex(block)) == headers
        assert decoder.table_size == size


def test_huffman_requests_of_the_rfc_are_decoded() -> None:
    decoder = hpack.Decoder()
    for block, (_plain, headers, size) in zip(CODED_REQUESTS, PLAIN_REQUESTS):
        assert decoder.decode(bytes.fromhex(block)) == headers
        assert decoder.table_size == size


@pytest.mark.parametrize("form", [0, 1], ids=["plain", "huffman"])
def test_responses_of_the_rfc_are_decoded_while_entries_are_evicted(form: int) -> None:
    decoder = hpack.Decoder(256)
    for example in RESPONSES:
        block, headers, size = example[form], example[2], example[3]
        assert decoder.decode(bytes.fromhex(str(block))) == headers
        assert decoder.table_size == size


# Appendix C.1 and C.2.
@pytest.mark.parametrize(("value", "prefix", "coded"), [(10, 5, "0a"), (1337, 5, "1f9a0a"), (42, 8, "2a")])
def test_integers_of_the_rfc_are_encoded(value: int, prefix: int, coded: str) -> None:
    assert hpack.encode_integer(value, prefix).hex() == coded


def test_literals_of_the_rfc_are_decoded() -> None:
    decoder = hpack.Decoder()
    indexed = decoder.decode(bytes.fromhex("400a637573746f6d2d6b65790d637573746f6d2d686561646572"))
    plain = decoder.decode(bytes.fromhex("040c2f73616d706c652f70617468"))
    secret = decoder.decode(bytes.fromhex("100870617373776f726406736563726574"))
    assert indexed == [("custom-key", "custom-header")]
    assert plain == [(":path", "/sample/path")]
    assert secret == [("password", "secret")]
    assert decoder.table_size == 55


words = some.text(some.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=200)


@given(some.lists(some.tuples(words, words), max_size=8))
def test_what_is_encoded_is_decoded(headers: list[tuple[str, str]]) -> None:
    assert hpack.Decoder().decode(hpack.encode(headers)) == headers


@given(some.binary(max_size=60))
def test_garbage_is_refused_or_read_but_never_crashes(block: bytes) -> None:
    with suppress(hpack.HpackError):
        hpack.Decoder().decode(block)


def test_a_server_may_shrink_the_table_but_not_grow_it() -> None:
    decoder = hpack.Decoder(256)
    decoder.decode(bytes.fromhex("400a637573746f6d2d6b65790d637573746f6d2d686561646572"))
    decoder.decode(b"\x20")
    assert decoder.table_size == 0
    with pytest.raises(hpack.HpackError, match="over the limit"):
        decoder.decode(hpack.encode_integer(257, 5, 0x20))


@pytest.mark.parametrize(
    ("block", "message"),
    [("80", "index 0"), ("be", "index 62"), ("0003", "too early"), ("ff8080808080808080", "too large|too early")],
)
def test_broken_blocks_name_what_is_wrong(block: str, message: str) -> None:
    with pytest.raises(hpack.HpackError, match=message):
        hpack.Decoder().decode(bytes.fromhex(block))
