"""One typed tree of settings: config.yaml, then QUARTERDECK_* variables, then flags. Fails fast, naming the key."""

from quarterdeck.config.addresses import host_of, is_loopback
from quarterdeck.config.home import claude_config_dir, home_path, prepare_home
from quarterdeck.config.loading import Loaded, config_file, load_config, look
from quarterdeck.config.telling import changed_settings
from quarterdeck.config.tree import (
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
