# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes by which tokens of vendors are known: for redaction on the controller, and for log lines on the node."""

from __future__ import annotations

# docs.gitlab.com/security/tokens, api.slack.com/authentication/token-types, docs.stripe.com/keys
VENDORS = (
    r"(?<![A-Za-z0-9])(?:"
    r"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|imt|agent|oas|ffct)-[\w.-]{16,}"
    r"|xox[a-z](?:\.xox[a-z])?-[\w-]{10,}|xapp-\d-[\w-]{10,}"
    r"|AIza[\w-]{20,}|(?:npm|hf)_[A-Za-z0-9]{20,}|[rs]k_(?:live|test)_[A-Za-z0-9]{10,})"
)
# Signatures of URLs: Azure's SAS, CloudFront's, those of S3 and Cloud Storage. Go writes & in JSON as \u0026.
SIGNATURES = (
    r"(?:(?<=[?&;][Ss]ig=)|(?<=\\u0026sig=)|(?<=[?&;]Signature=)|(?<=\\u0026Signature=)"
    r"|(?<=X-Amz-Signature=)|(?<=X-Goog-Signature=))[^\s&\"'\\<>\#]+"
)
