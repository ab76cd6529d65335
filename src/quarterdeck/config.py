"""One typed tree of settings: config.yaml, then QUARTERDECK_* variables, then flags. Fails fast, naming the key."""

from __future__ import annotations

import difflib
import hashlib
import ipaddress
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import platformdirs
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from quarterdeck.core.unattended import read_hours
from quarterdeck.errors import ConfigError, HomeError

DEFAULT_PORT = 4180
SMALLEST_LOG = 1024 * 1024


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RunnerSettings(Section):
    name: str = ""
    host: str = "127.0.0.1"
    port: int = Field(default=DEFAULT_PORT, ge=0, le=65535)
    hosts: list[str] = []
    tls_port: int = Field(default=DEFAULT_PORT + 1, ge=0, le=65535)
    tls_cert: str | None = None
    tls_key: str | None = None
    tls_self_signed: bool = False


class DecideSettings(Section):
    hold: Literal["auto", "always", "never"] = "auto"
    wait_seconds: float = Field(default=86400, gt=0, le=2_000_000)
    hold_stop: bool = False


Unanswered = Literal["hold", "deny", "pass"]
RiskLevel = Literal["low", "medium", "high", "critical"]


class UnattendedSettings(Section):
    """What becomes of a request that nobody answers, by risk; in quiet hours as otherwise unless said."""

    after_seconds: float = Field(default=300, gt=0, le=2_000_000)
    low: Unanswered = "hold"
    medium: Unanswered = "hold"
    high: Unanswered = "hold"
    critical: Unanswered = "hold"
    quiet_hours: str = ""
    quiet_low: Unanswered | None = None
    quiet_medium: Unanswered | None = None
    quiet_high: Unanswered | None = None
    quiet_critical: Unanswered | None = None
    timezone: str | None = None

    @field_validator("quiet_hours")
    @classmethod
    def _are_hours(cls, value: str) -> str:
        read_hours(value)
        return value

    @field_validator("timezone")
    @classmethod
    def _is_a_zone(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                ZoneInfo(value)
            except (KeyError, OSError, ValueError):
                raise ValueError("a time zone like Europe/Berlin") from None
        return value


class NotifySettings(Section):
    """Who is told of a request that nobody answered within the grace. Secrets stand in files of their own."""

    desktop: bool = False
    webhook_url: str | None = None
    webhook_secret_file: str | None = None
    push_url: str | None = None
    push_token_file: str | None = None
    grace_seconds: float = Field(default=10, ge=0, le=2_000_000)
    min_risk: RiskLevel = "low"
    quiet: Literal["none", "critical", "all"] = "none"
    include_input: bool = False


class StoreSettings(Section):
    durability: Literal["full", "normal"] = "full"
    retention_days: float = Field(default=0, ge=0, le=36_500)
    max_bytes: int = Field(default=0, ge=0)

    @field_validator("max_bytes")
    @classmethod
    def _can_hold_a_log(cls, value: int) -> int:
        if 0 < value < SMALLEST_LOG:
            raise ValueError(f"0 or at least {SMALLEST_LOG}")
        return value


class ClaudeSettings(Section):
    path: str | None = None
    config_dir: str | None = None


class ProjectsSettings(Section):
    """Where projects are looked for. In the environment a list is written with commas."""

    roots: list[str] = []
    scan_claude: bool = True
    exclude: list[str] = ["node_modules", ".git"]

    @field_validator("roots", "exclude", mode="before")
    @classmethod
    def _is_a_list(cls, value: object) -> object:
        return [part for part in map(str.strip, value.split(",")) if part] if isinstance(value, str) else value

    @field_validator("roots")
    @classmethod
    def _are_from_the_root(cls, value: list[str]) -> list[str]:
        if not all(root.startswith(("/", "~")) for root in value):
            raise ValueError("folders from the root, like ~/code")
        return value


class LogSettings(Section):
    level: Literal["debug", "info", "warning", "error"] = "info"


class OtelSettings(Section):
    endpoint: str | None = None
    service_name: str = "quarterdeck"
    headers_file: str | None = None
    include_content: bool = False


class Config(Section):
    """Every setting, with its default."""

    runner: RunnerSettings = RunnerSettings()
    decide: DecideSettings = DecideSettings()
    unattended: UnattendedSettings = UnattendedSettings()
    notify: NotifySettings = NotifySettings()
    store: StoreSettings = StoreSettings()
    claude: ClaudeSettings = ClaudeSettings()
    projects: ProjectsSettings = ProjectsSettings()
    log: LogSettings = LogSettings()
    otel: OtelSettings = OtelSettings()


def is_loopback(host: str) -> bool:
    """Whether an address or name is this machine's own; one that is neither is not."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def changed_settings(config: Config) -> dict[str, str]:
    """Every setting that differs from its default, as JSON text. An address may be a secret itself, as the topic of a
    push service is: of that the record tells the host, and a mark by which a change is seen."""
    standard = Config()
    return {
        f"{section}.{key}": json.dumps(_told(value) if f"{section}.{key}" in SECRET_URLS else value)
        for section, keys in config.model_dump(mode="json").items()
        for key, value in keys.items()
        if value != getattr(getattr(standard, section), key)
    }


SECRET_URLS = ("notify.webhook_url", "notify.push_url")


def _told(url: str) -> str:
    mark = hashlib.sha256(url.encode()).hexdigest()[:8]
    return f"{host_of(url)} (address {mark})"


def host_of(url: str) -> str:
    """The part of an address that is no secret."""
    try:
        where = urlsplit(url)
        return f"{where.scheme}://{where.hostname or ''}" + (f":{where.port}" if where.port else "")
    except ValueError:
        return "an address that cannot be read"


def home_path(environ: dict[str, str] | None = None) -> Path:
    """The one folder of this installation; never the working directory."""
    env = os.environ if environ is None else environ
    given = env.get("QUARTERDECK_HOME")
    if given:
        return Path(given).expanduser().absolute()
    return Path(platformdirs.user_data_dir("quarterdeck", appauthor=False))


def claude_config_dir(config: Config) -> Path:
    """Where Claude Code keeps its settings and sessions."""
    given = config.claude.config_dir or os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(given).expanduser() if given else Path.home() / ".claude"


def prepare_home(home: Path) -> None:
    """Make the home and its folders ours alone, or say what is wrong with them."""
    for folder in (home, home / "run", home / "log"):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise HomeError(f"{folder}: cannot be made ({error.strerror}); choose another QUARTERDECK_HOME") from None
        _check_folder(folder, is_home=folder == home)


def _check_folder(folder: Path, *, is_home: bool) -> None:
    found = folder.stat() if is_home else folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise HomeError(f"{folder}: is not a folder (a symlink is refused); remove it")
    if found.st_uid != os.getuid():
        raise HomeError(f"{folder}: belongs to user {found.st_uid}; choose another QUARTERDECK_HOME")
    if stat.S_IMODE(found.st_mode) & 0o077:
        folder.chmod(0o700)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise HomeError(f"{folder}: is not writable; choose another QUARTERDECK_HOME or mend its mode")


def load_config(
    home: Path,
    file: Path | None = None,
    environ: dict[str, str] | None = None,
    flags: Mapping[str, dict[str, Any]] | None = None,
) -> Config:
    """The settings in force."""
    path = file or home / "config.yaml"
    tree = _read_yaml(path, required=file is not None)
    env = dict(os.environ) if environ is None else environ
    _add_environment(tree, env)
    for section, given in (flags or {}).items():
        tree.setdefault(section, {}).update(given)
    try:
        return Config.model_validate(tree)
    except ValidationError as error:
        raise ConfigError(_explain(path, error, env)) from None


def _read_yaml(path: Path, *, required: bool) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if required:
            raise ConfigError(f"{path}: there is no such file") from None
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read ({error})") from None
    try:
        tree = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{path}: is not YAML: {str(error).splitlines()[0]}") from None
    if tree is None:
        return {}
    if not isinstance(tree, dict) or not all(isinstance(v, dict | None) for v in tree.values()):
        raise ConfigError(f"{path}: must hold sections with keys, like 'decide:' with 'hold: auto' under it")
    return {str(k): dict(v or {}) for k, v in tree.items()}


def _add_environment(tree: dict[str, Any], environ: dict[str, str]) -> None:
    if environ.get("QUARTERDECK_PORT"):
        tree.setdefault("runner", {})["port"] = environ["QUARTERDECK_PORT"]
    for name, value in environ.items():
        section, _, key = name.removeprefix("QUARTERDECK_").lower().partition("_")
        if name.startswith("QUARTERDECK_") and key and section in Config.model_fields:
            tree.setdefault(section, {})[key] = value


def _explain(path: Path, error: ValidationError, environ: Mapping[str, str]) -> str:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    place = _place(path, where, environ)
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(where, _known_keys(), n=1)
        hint = f"; did you mean {near[0]}?" if near else f"; known: {', '.join(_known_keys())}"
        return f"{place}: {where} is not a setting{hint}"
    message = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    return f"{place}: {where} must be {message}, is {first['input']!r}"


def _place(path: Path, where: str, environ: Mapping[str, str]) -> str:
    """Who said it: a variable, or the file."""
    name = "QUARTERDECK_" + where.replace(".", "_").upper()
    if where == "runner.port" and name not in environ:
        name = "QUARTERDECK_PORT"
    return name if environ.get(name) else path.name


def _known_keys() -> list[str]:
    return [
        f"{section}.{key}"
        for section, field in Config.model_fields.items()
        for key in getattr(field.annotation, "model_fields", {})
    ]
