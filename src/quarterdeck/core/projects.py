"""Which project a folder is."""

from __future__ import annotations

import hashlib


def project_id_of(folder: str) -> str | None:
    """The same id for the same folder."""
    return "p_" + hashlib.sha256(folder.encode(errors="surrogatepass")).hexdigest()[:16] if folder else None
