"""Every setting: its type, its default and its meaning. Help, documents and schema are made from this."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.fields import FieldInfo

from quarterdeck.config.addresses import hub_url_problem, origin_problem
from quarterdeck.core.model.unattended_policy import read_hours

DEFAULT_PORT = 4180
SMALLEST_LOG = 1024 * 1024
LONGEST_WAIT = 2_000_000
SECRET_URLS = ("notify.webhook_url", "notify.push_url")
"""Addresses that may be secrets themselves, as the topic of a push service is."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _from_the_root(value: str) -> str:
    """Refuse a relative path: it would depend on the working directory, which may be a hostile repository."""
    if not value.startswith(("/", "~")):
        raise ValueError("a path from the root, like ~/name")
    return value


def _program(value: str) -> str:
    return _from_the_root(value) if "/" in value else value


def _split(value: object) -> object:
    """Read a list from the environment, where it is written with commas."""
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


def _origin(value: str) -> str:
    problem = origin_problem(value)
    if problem is not None:
        raise ValueError(f"an origin like https://desk.example.org: {value!r} {problem}")
    return value


def _network(value: str) -> str:
    try:
        ip_network(value, strict=False)
    except ValueError:
        raise ValueError("an IP address like 127.0.0.1, or a network like 10.0.0.0/8") from None
    return value


def _log_size(value: int) -> int:
    if 0 < value < SMALLEST_LOG:
        raise ValueError(f"0 or at least {SMALLEST_LOG}")
    return value


def _hub_url(value: str) -> str:
    problem = hub_url_problem(value)
    if problem is not None:
        raise ValueError(f"an address like https://hub.example.org: {value!r} {problem}")
    return value


Origin = Annotated[str, AfterValidator(_origin)]
Network = Annotated[str, AfterValidator(_network)]
PathText = Annotated[str, AfterValidator(_from_the_root)]
Program = Annotated[str, AfterValidator(_program)]
Port = Annotated[int, Field(ge=0, le=65535)]
Seconds = Annotated[float, Field(gt=0, le=LONGEST_WAIT)]
SecondsOrNone = Annotated[float, Field(ge=0, le=LONGEST_WAIT)]
Listed = BeforeValidator(_split)
Unanswered = Literal["hold", "deny", "pass"]
HubGrant = Literal["observe", "approve", "edit", "prompt", "launch", "terminals", "rules"]
RiskLevel = Literal["low", "medium", "high", "critical"]


class RunnerSettings(Section):
    """Where the daemon can be reached."""

    name: str = Field(default="", description="The name of this machine (default: its host name).")
    host: str = Field(
        default="127.0.0.1", description="The address the daemon listens on; beyond this machine it needs TLS."
    )
    port: Port = Field(default=DEFAULT_PORT, description="The daemon's port; 0 picks a free one once and keeps it.")
    hosts: Annotated[list[str], Listed] = Field(
        default=[], description="Additional host names of the daemon's own TLS port, which its certificate names too."
    )
    public_urls: Annotated[list[Origin], Listed] = Field(
        default=[],
        description="Origins under which a reverse proxy or a tailnet reaches the daemon, like https://desk.example.org.",
    )
    proxies: Annotated[list[Network], Listed] = Field(
        default=[], description="Addresses of proxies whose X-Forwarded-Proto is believed, like 127.0.0.1."
    )
    tls_port: Port = Field(default=DEFAULT_PORT + 1, description="The TLS port for other machines.")
    tls_cert: PathText | None = Field(default=None, description="The TLS certificate, in PEM.")
    tls_key: PathText | None = Field(default=None, description="The key of that certificate.")
    tls_self_signed: bool = Field(
        default=False, description="Use a certificate of the local authority that Quarterdeck makes (see `qd tls`)."
    )


class DecideSettings(Section):
    """How requests are held."""

    hold: Literal["auto", "always", "never"] = Field(
        default="auto",
        description=(
            "When to hold requests: auto (the session has its own dialog, or someone is watching), always or never."
        ),
    )
    wait_seconds: Seconds = Field(default=86400, description="How long a request waits for you.")
    hold_stop: bool = Field(
        default=False, description="Also ask before an agent stops; after a change run `qd install` again."
    )
    confirm_high: bool = Field(
        default=False, description="Ask for a second key before high risk is allowed, as for critical risk."
    )


class UnattendedSettings(Section):
    """What happens to an unanswered request, by risk. Quiet hours use the same values unless they have their own."""

    after_seconds: Seconds = Field(default=300, description="How long until a request counts as unanswered.")
    low: Unanswered = Field(default="hold", description="An unanswered request of low risk: hold, deny or pass it.")
    medium: Unanswered = Field(default="hold", description="The same for medium risk.")
    high: Unanswered = Field(default="hold", description="The same for high risk.")
    critical: Unanswered = Field(default="hold", description="The same for critical risk.")
    quiet_hours: Annotated[str, AfterValidator(_hours)] = Field(
        default="", description="Times of day like 22:00-07:00 (default: none)."
    )
    quiet_low: Unanswered | None = Field(default=None, description="Low risk in quiet hours: hold, deny or pass.")
    quiet_medium: Unanswered | None = Field(default=None, description="The same for medium risk.")
    quiet_high: Unanswered | None = Field(default=None, description="The same for high risk.")
    quiet_critical: Unanswered | None = Field(default=None, description="The same for critical risk.")
    timezone: Annotated[str, AfterValidator(_zone)] | None = Field(
        default=None, description="The time zone of quiet hours, like Europe/Berlin (default: this machine's)."
    )


class NotifySettings(Section):
    """How you are notified of requests that wait longer than the grace period. Each secret is in its own file."""

    desktop: bool = Field(default=False, description="Notify on this desktop.")
    webhook_url: str | None = Field(default=None, description="Notify by a signed webhook to this URL.")
    webhook_secret_file: PathText | None = Field(
        default=None, description="A file of mode 0600 with the webhook's secret."
    )
    push_url: str | None = Field(default=None, description="Notify by a push to this ntfy topic.")
    push_token_file: PathText | None = Field(default=None, description="A file of mode 0600 with the topic's token.")
    grace_seconds: SecondsOrNone = Field(default=10, description="How long a request waits before you are notified.")
    min_risk: RiskLevel = Field(default="low", description="The lowest risk to notify about.")
    quiet: Literal["none", "critical", "all"] = Field(
        default="none", description="Requests to notify about in quiet hours."
    )
    include_input: bool = Field(default=False, description="Also send the tool's input.")


class StoreSettings(Section):
    """How the log is kept."""

    durability: Literal["full", "normal"] = Field(
        default="full", description="normal is faster, but a power cut may lose the last events."
    )
    retention_days: float = Field(default=0, ge=0, le=36_500, description="Trim the log by age; 0 keeps everything.")
    max_bytes: Annotated[int, AfterValidator(_log_size)] = Field(
        default=0, ge=0, description=f"Trim the log by size; 0 keeps everything, else at least {SMALLEST_LOG}."
    )


class ClaudeSettings(Section):
    """Which Claude Code to use."""

    path: Program | None = Field(
        default=None,
        description="Path of the claude program (default: claude on PATH, else the one bundled with the Agent SDK).",
    )
    config_dir: PathText | None = Field(
        default=None, description="Its settings folder (default: CLAUDE_CONFIG_DIR, else ~/.claude)."
    )


class ProjectsSettings(Section):
    """Where to find projects."""

    roots: Annotated[list[PathText], Listed] = Field(
        default=[], description="Folders to search for projects, like ~/code."
    )
    scan_claude: bool = Field(default=True, description="Also list the folders of Claude Code's earlier sessions.")
    exclude: Annotated[list[str], Listed] = Field(
        default=["node_modules", ".git"], description="Names (or, with a slash, paths) to leave out, like build*."
    )


class SdkSettings(Section):
    """Sessions that Quarterdeck runs through the Agent SDK."""

    setting_sources: Annotated[list[Literal["user", "project", "local"]], Listed] = Field(
        default=["user", "project", "local"],
        description="Which of Claude Code's settings files an SDK session reads.",
    )
    max_turns: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="End a run after this many turns of the agent (default: never)."
    )
    approval_seconds: Seconds = Field(default=86400, description="How long an SDK session waits for your decision.")
    max_sessions: int = Field(default=20, ge=1, le=1000, description="Maximum number of SDK sessions at once.")
    idle_seconds: SecondsOrNone = Field(
        default=0, description="End an SDK session after this many seconds without a prompt (0: never)."
    )


class PtySettings(Section):
    """Sessions that Quarterdeck runs in a terminal."""

    shell: PathText | None = Field(default=None, description="The shell of a terminal (default: $SHELL).")
    cols: int = Field(default=120, ge=20, le=1000, description="Its columns until a surface sets them.")
    rows: int = Field(default=40, ge=5, le=1000, description="Its rows until a surface sets them.")
    scrollback_lines: int = Field(
        default=10_000, ge=0, le=1_000_000, description="Lines of scrollback in tmux (a pty keeps 2 MiB)."
    )
    use_tmux: bool = Field(default=False, description="Use tmux for terminals.")
    tmux_socket: PathText | None = Field(default=None, description="The tmux socket (default: one in the home).")


class LogSettings(Section):
    """The daemon's own log."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="How much is logged; only debug may show what agents read and write."
    )
    format: Literal["json", "text"] | None = Field(
        default=None,
        description="The log on stderr: json or text (default: text on a terminal, else JSON). The log file is JSON.",
    )


class OtelSettings(Section):
    """Spans of runs and tool calls, for a collector; needs the extra otel."""

    endpoint: str | None = Field(default=None, description="Collector URL, like http://127.0.0.1:4318.")
    service_name: str = Field(default="quarterdeck", description="The service name in the collector.")
    headers_file: PathText | None = Field(
        default=None, description="A file of mode 0600 with Name: value lines for the collector."
    )
    include_content: bool = Field(default=False, description="Also send the inputs and outputs of tools.")


class HubSettings(Section):
    """The hub that this machine belongs to, and what it may have and do; see `qd hub join`."""

    url: Annotated[str, AfterValidator(_hub_url)] | None = Field(
        default=None, description="The hub's address, like https://hub.example.org; plain http only on loopback."
    )
    token_file: PathText | None = Field(
        default=None, description="A file of mode 0600 with this machine's token for the hub."
    )
    heartbeat_seconds: Annotated[float, Field(ge=0.1, le=3600)] = Field(
        default=15, description="Seconds between two heartbeats until the hub sets them."
    )
    reconnect_initial_seconds: Seconds = Field(
        default=1, description="The longest first wait before this machine connects again; it doubles each time."
    )
    reconnect_max_seconds: Seconds = Field(default=30, description="The longest wait of all.")
    share: Literal["everything", "no_output", "titles", "nothing"] = Field(
        default="everything",
        description="What leaves this machine: everything, no output of tools, only titles and decisions, or nothing.",
    )
    may: Annotated[list[HubGrant], Listed] = Field(
        default=["observe", "approve"],
        description="What people at the hub may do here: observe, approve, edit, prompt, launch, terminals, rules.",
    )
    backlog_bytes: int = Field(
        default=1024**3,
        ge=1024 * 1024,
        description="Bytes of events that the hub does not have yet and that no trim removes.",
    )


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
    hub: HubSettings = HubSettings()


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
    """The value of a setting that is not set."""
    return FIELDS[key].default


def variable_of(key: str) -> str:
    """The environment variable of a setting."""
    return "QUARTERDECK_" + key.replace(".", "_").upper()


VARIABLES = {**{variable_of(key): key for key in KEYS}, "QUARTERDECK_PORT": "runner.port"}
