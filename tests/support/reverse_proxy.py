"""A real nginx with TLS of its own in front of a daemon."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from quarterdeck.daemon.setup.certificates import authority_in, self_signed
from tests.support.daemon import until

NAME = "desk.example.org"
needs_nginx = pytest.mark.skipif(not (shutil.which("nginx") or os.environ.get("CI")), reason="nginx is not here")

CONFIG = """
daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes 1;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  map $http_upgrade $connection_upgrade {{ default upgrade; "" close; }}
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {cert}; ssl_certificate_key {key};
    location / {{
      proxy_pass http://127.0.0.1:{daemon_port};
      proxy_http_version 1.1;
      proxy_set_header Host $host:$server_port;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
    }}
  }}
}}
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def reverse_proxy(folder: Path, port: int, daemon_port: int) -> Iterator[ssl.SSLContext]:
    """Run nginx on a port; returns a context that trusts its certificate."""
    folder.mkdir(exist_ok=True)
    pair = self_signed(folder / "tls", [NAME])
    config = folder / "nginx.conf"
    config.write_text(CONFIG.format(folder=folder, port=port, daemon_port=daemon_port, cert=pair.cert, key=pair.key))
    nginx = subprocess.Popen(["nginx", "-c", str(config), "-p", str(folder)], stderr=subprocess.DEVNULL)
    try:
        until(lambda: _answers(port), what="nginx to listen")
        yield ssl.create_default_context(cafile=str(authority_in(folder / "tls").cert))
    finally:
        nginx.terminate()
        nginx.wait()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
