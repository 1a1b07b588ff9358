# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Galaxy server with one collection, as far as `ansible-galaxy collection install` sends requests to it (API v3)."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

COLLECTION = "/api/v3/collections/volcano/colocation"


@contextmanager
def galaxy_server(tarball: Path, version: str) -> Iterator[str]:
    """Serve the tarball; yields the URL of the API."""
    data = tarball.read_bytes()
    path = f"{COLLECTION}/versions/{version}/"
    pages: Mapping[str, Any] = {
        "/api/": {"available_versions": {"v3": "v3/"}},
        f"{COLLECTION}/": {"updated_at": "2027-01-15T08:00:00Z", "created_at": "2027-01-15T08:00:00Z"},
        f"{COLLECTION}/versions/": {"data": [{"version": version, "href": path}], "links": {"next": None}},
        path: {
            "version": version,
            "href": path,
            "namespace": {"name": "volcano"},
            "collection": {"name": "colocation"},
            "artifact": {"sha256": hashlib.sha256(data).hexdigest()},
            "download_url": "/download",
            "metadata": {"dependencies": {}},
            "signatures": [],
        },
    }

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.partition("?")[0]
            page = pages.get(name)
            body = data if name == "/download" else json.dumps(page).encode()
            self.send_response(200 if page is not None or name == "/download" else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Print no requests."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/api/"
        finally:
            server.shutdown()
