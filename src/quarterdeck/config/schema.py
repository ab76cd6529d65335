"""Every setting: its type, its default and what it means. Help, documents and schema are made from this."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.fields import FieldInfo

from quarterdeck.core.model.unattended_policy import read_hours

DEFAULT_PORT = 4180
SMALLEST_LOG = 1024 * 1024
LONGEST_WAIT = 2_000_000
SECRET_URLS = ("notify.webhook_url", "notify.push_url")
"""Addresses that may be secrets themselves, as the topic of a push service is."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _from_the_root(value: str) -> str:
    """A relative path would depend on the folder somebody stands in, and that may be a stranger's repository."""
    if not value.startswith(("/", "~")):
        raise ValueError("a path from the root, like ~/name")
    return value


def _program(value: str) -> str:
    return _from_the_root(value) if "/" in value else value


def _split(value: object) -> object:
    """In the environment a list is written with commas."""
    return [part for part in map(str.strip, value.split(",")) if part] if isinstance(value, str) else value


def _hours(value: str) -> str:
    read_hours(value)
    return value


def _zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (KeyError, OSError, ValueError):
        raise ValueError("a time zone like Europe/Berlin") from None
    return value


def _log_size(value: int) -> int:
    if 0 < value < SMALLEST_LOG:
        raise ValueError(f"0 or at least {SMALLEST_LOG}")
    return value


PathText = Annotated[str, AfterValidator(_from_the_root)]
Program = Annotated[str, AfterValidator(_program)]
Port = Annotated[int, Field(ge=0, le=65535)]
Seconds = Annotated[float, Field(gt=0, le=LONGEST_WAIT)]
SecondsOrNone = Annotated[float, Field(ge=0, le=LONGEST_WAIT)]
Listed = BeforeValidator(_split)
Unanswered = Literal["hold", "deny", "pass"]
RiskLevel = Literal["low", "medium", "high", "critical"]


class RunnerSettings(Section):
    """Where the daemon is reached."""

    name: str = Field(default="", description="What this machine is called; empty: its host name.")
    host: str = Field(
        default="127.0.0.1", description="The address the daemon listens on; beyond this machine it needs TLS."
    )
    port: Port = Field(default=DEFAULT_PORT, description="Its port; 0 picks a free one once and keeps it.")
    hosts: Annotated[list[str], Listed] = Field(default=[], description="More names under which a browser may call it.")
    tls_port: Port = Field(default=DEFAULT_PORT + 1, description="The port it is reached at beyond this machine.")
    tls_cert: PathText | None = Field(default=None, description="The certificate used there, in PEM.")
    tls_key: PathText | None = Field(default=None, description="The key of that certificate.")
    tls_self_signed: bool = Field(default=False, description="Use a certificate of our own making there.")


class DecideSettings(Section):
    """How requests are held."""

    hold: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="Hold requests: auto when the session has its own dialog or someone attends; always; never.",
    )
    wait_seconds: Seconds = Field(default=86400, description="How long a request waits for you.")
    hold_stop: bool = Field(
        default=False, description="Also ask before an agent stops; after a change run `qd install` again."
    )


class UnattendedSettings(Section):
    """What becomes of a request that nobody answers, by risk; in quiet hours as otherwise unless said."""

    after_seconds: Seconds = Field(default=300, description="After how long a request counts as not answered.")
    low: Unanswered = Field(default="hold", description="What becomes of a request of low risk: hold, deny or pass.")
    medium: Unanswered = Field(default="hold", description="The same for medium risk.")
    high: Unanswered = Field(default="hold", description="The same for high risk.")
    critical: Unanswered = Field(default="hold", description="The same for critical risk.")
    quiet_hours: Annotated[str, AfterValidator(_hours)] = Field(
        default="", description="Parts of the day like 22:00-07:00; empty: none."
    )
    quiet_low: Unanswered | None = Field(default=None, description="What becomes of low risk in quiet hours.")
    quiet_medium: Unanswered | None = Field(default=None, description="The same for medium risk.")
    quiet_high: Unanswered | None = Field(default=None, description="The same for high risk.")
    quiet_critical: Unanswered | None = Field(default=None, description="The same for critical risk.")
    timezone: Annotated[str, AfterValidator(_zone)] | None = Field(
        default=None, description="Whose day it is, like Europe/Berlin; none: this machine's."
    )


class NotifySettings(Section):
    """Who is told of a request that nobody answered within the grace. Secrets stand in files of their own."""

    desktop: bool = Field(default=False, description="Tell by a notification on this desktop.")
    webhook_url: str | None = Field(default=None, description="Tell by a signed webhook to this address.")
    webhook_secret_file: PathText | None = Field(
        default=None, description="A file of mode 0600 with the webhook's secret."
    )
    push_url: str | None = Field(default=None, description="Tell by a push to this topic of ntfy.")
    push_token_file: PathText | None = Field(default=None, description="A file of mode 0600 with the topic's token.")
    grace_seconds: SecondsOrNone = Field(default=10, description="How long a request waits before anybody is told.")
    min_risk: RiskLevel = Field(default="low", description="How risky it must be.")
    quiet: Literal["none", "critical", "all"] = Field(
        default="none", description="Of which requests people are told in quiet hours."
    )
    include_input: bool = Field(default=False, description="Also tell what the tool was asked to do.")


class StoreSettings(Section):
    """How the log is kept."""

    durability: Literal["full", "normal"] = Field(
        default="full", description="normal trades the last moment before a power cut for speed."
    )
    retention_days: float = Field(default=0, ge=0, le=36_500, description="Trim the log by age; 0 keeps everything.")
    max_bytes: Annotated[int, AfterValidator(_log_size)] = Field(
        default=0, ge=0, description=f"Trim the log by size; 0 keeps everything, else at least {SMALLEST_LOG}."
    )


class ClaudeSettings(Section):
    """Which Claude Code."""

    path: Program | None = Field(
        default=None, description="Its program; none: claude on PATH, else the Agent SDK's own."
    )
    config_dir: PathText | None = Field(
        default=None, description="Its settings; none: CLAUDE_CONFIG_DIR, else ~/.claude."
    )


class ProjectsSettings(Section):
    """Where projects are looked for."""

    roots: Annotated[list[PathText], Listed] = Field(
        default=[], description="Folders to look for projects in, like ~/code."
    )
    scan_claude: bool = Field(default=True, description="Also list the folders of Claude Code's earlier sessions.")
    exclude: Annotated[list[str], Listed] = Field(
        default=["node_modules", ".git"], description="Names (or, with a slash, paths) that are left out, like build*."
    )


class SdkSettings(Section):
    """Sessions that we run through the Agent SDK."""

    setting_sources: Annotated[list[Literal["user", "project", "local"]], Listed] = Field(
        default=["user", "project", "local"], description="Which of Claude Code's own settings such a session reads."
    )
    max_turns: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="End a run after so many turns of the agent; none: never."
    )
    approval_seconds: Seconds = Field(default=86400, description="How long such a session waits for your decision.")
    max_sessions: int = Field(default=20, ge=1, le=1000, description="How many run at once; one more is refused.")
    idle_seconds: SecondsOrNone = Field(default=0, description="End one that nobody spoke to for so long; 0: never.")


class PtySettings(Section):
    """Sessions that we run in a terminal of ours."""

    shell: PathText | None = Field(default=None, description="The shell of such a terminal; none: $SHELL.")
    cols: int = Field(default=120, ge=20, le=1000, description="Its columns until a face says otherwise.")
    rows: int = Field(default=40, ge=5, le=1000, description="Its rows until a face says otherwise.")
    scrollback_lines: int = Field(
        default=10_000, ge=0, le=1_000_000, description="How many lines above the screen tmux keeps; a pty keeps 2 MiB."
    )
    use_tmux: bool = Field(default=False, description="Run terminals in tmux, where they outlive the daemon.")
    tmux_socket: PathText | None = Field(default=None, description="The socket of that tmux; none: one in the home.")


class LogSettings(Section):
    """What the daemon says of itself."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="How much is logged; only debug may show what agents read and write."
    )


class OtelSettings(Section):
    """Spans of runs and tool calls, for a collector; needs the extra otel."""

    endpoint: str | None = Field(default=None, description="Where they go, like http://127.0.0.1:4318; none: nowhere.")
    service_name: str = Field(default="quarterdeck", description="What the collector calls us.")
    headers_file: PathText | None = Field(
        default=None, description="A file of mode 0600 with Name: value lines for the collector."
    )
    include_content: bool = Field(default=False, description="Also send what tools are given and what they answer.")


class Config(Section):
    """Every setting of Quarterdeck, with its default."""

    runner: RunnerSettings = RunnerSettings()
    decide: DecideSettings = DecideSettings()
    unattended: UnattendedSettings = UnattendedSettings()
    notify: NotifySettings = NotifySettings()
    store: StoreSettings = StoreSettings()
    claude: ClaudeSettings = ClaudeSettings()
    projects: ProjectsSettings = ProjectsSettings()
    sdk: SdkSettings = SdkSettings()
    pty: PtySettings = PtySettings()
    log: LogSettings = LogSettings()
    otel: OtelSettings = OtelSettings()


def sections() -> Iterator[tuple[str, type[Section]]]:
    """Each section and its name, in the order in which they are shown."""
    for name, field in Config.model_fields.items():
        kind = field.annotation
        assert isinstance(kind, type)
        assert issubclass(kind, Section)
        yield name, kind


def fields() -> Iterator[tuple[str, FieldInfo]]:
    """Each setting and its key, like decide.hold."""
    for section, kind in sections():
        for name, field in kind.model_fields.items():
            yield f"{section}.{name}", field


FIELDS = dict(fields())
KEYS = tuple(FIELDS)


def default_of(key: str) -> Any:
    """What holds when nobody says otherwise."""
    return FIELDS[key].default


def variable_of(key: str) -> str:
    """The environment's name for a setting."""
    return "QUARTERDECK_" + key.replace(".", "_").upper()


VARIABLES = {**{variable_of(key): key for key in KEYS}, "QUARTERDECK_PORT": "runner.port"}
