"""One typed tree of settings: config.yaml, then QUARTERDECK_* variables, then flags. Fails fast, naming the key."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quarterdeck.config.addresses import host_of, is_loopback
    from quarterdeck.config.home import claude_config_dir, home_path, prepare_home
    from quarterdeck.config.loader import Loaded, config_file, load_config, look
    from quarterdeck.config.redacted import changed_settings
    from quarterdeck.config.schema import (
        SMALLEST_LOG,
        Config,
        NotifySettings,
        OtelSettings,
        ProjectsSettings,
        PtySettings,
        SdkSettings,
        StoreSettings,
    )

__all__ = [
    "SMALLEST_LOG",
    "Config",
    "Loaded",
    "NotifySettings",
    "OtelSettings",
    "ProjectsSettings",
    "PtySettings",
    "SdkSettings",
    "StoreSettings",
    "changed_settings",
    "claude_config_dir",
    "config_file",
    "home_path",
    "host_of",
    "is_loopback",
    "load_config",
    "look",
    "prepare_home",
]

_PLACES = {
    "addresses": ("host_of", "is_loopback"),
    "home": ("claude_config_dir", "home_path", "prepare_home"),
    "loader": ("Loaded", "config_file", "load_config", "look"),
    "redacted": ("changed_settings",),
}
_WHERE = {name: module for module, names in _PLACES.items() for name in names}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Read what is asked for and no more: most commands need the home alone, and the tree takes longer to read than
        all the rest of them."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_WHERE.get(name, 'schema')}"), name)
