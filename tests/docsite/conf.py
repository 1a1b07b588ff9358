# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of Sphinx for the site. It is built without access to other sites."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

project = "volcano.colocation"
author = "the volcano.colocation authors"
title = html_short_title = "volcano.colocation"

extensions = ["myst_parser", "sphinx_antsibull_ext"]
nitpicky = True
default_role = "any"
highlight_language = "text"
pygments_style = "ansible"

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4

html_theme = "sphinx_ansible_theme"
html_theme_options = {"documentation_home_url": "index.html", "topbar_links": {}, "vcs_pageview_mode": "edit"}
html_show_sphinx = False
html_copy_source = False
html_use_index = False

ANSIBLE = "https://docs.ansible.com/ansible/latest"
ANSIBLE_PAGES = {
    "action_plugins": "plugins/action.html",
    "ansible_collections.ansible.builtin.default_callback": "collections/ansible/builtin/default_callback.html",
    "ansible_configuration_settings": "reference_appendices/config.html",
    "callback_plugins": "plugins/callback.html",
    "common_return_values": "reference_appendices/common_return_values.html",
}
"""Labels of Ansible's own documentation to which the generated pages refer."""


def resolve_ansible_label(_app: Sphinx, _env: Any, reference: nodes.Element, content: nodes.TextElement) -> Any:
    """A link to Ansible's page. None for any other label, which is then a warning."""
    target = reference["reftarget"]
    page = ANSIBLE_PAGES.get(target) if reference["reftype"] == "ref" else None
    if reference["reftype"] == "envvar" and target.startswith("ANSIBLE_"):
        page = f"reference_appendices/config.html#envvar-{target}"
    if page is None:
        return None
    return nodes.reference("", "", content, internal=False, refuri=f"{ANSIBLE}/{page}")


def setup(app: Sphinx) -> None:
    app.connect("missing-reference", resolve_ansible_label)
