"""Self-protection: no allow rule covers a use that could change the rules themselves."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from quarterdeck.core.model.tool_use import ToolUse
from quarterdeck.core.rules.self_protection import touches_quarterdeck
from tests.support.rulebook import CWD, HOME, QUARTERDECK_HOME, edits, effect_of, reads, runs, use

TOUCHING = [
    runs("qd allow r1"),
    runs("qd rules add 'allow Bash'"),
    runs("quarterdeck stop"),
    runs("qd"),
    runs("qd --home /tmp/x status"),
    runs("/usr/local/bin/qd deny r1"),
    runs("python -m quarterdeck allow r1"),
    runs("python3.12 -m quarterdeck.cli allow r1"),
    runs("uv run qd allow r1"),
    runs("pipx run quarterdeck allow r1"),
    runs("sudo qd allow r1"),
    runs("ls && qd allow r1"),
    runs("cat " + QUARTERDECK_HOME + "/token"),
    runs("rm -rf ~/.local/state/quarterdeck"),
    runs("rm -rf ~"),
    runs("rm -rf ~/.local/*"),
    runs("rm -rf /"),
    runs("rm -rf ../../me"),
    runs("find ~ -delete"),
    runs("echo .claude " + "x" * 9000),
    runs("rm -rf ~/.local/state/"),
    runs("mv ~/.local /tmp"),
    runs("chmod -R 777 /home"),
    runs("cd ~/.local/state && rm -rf quarterdeck"),
    runs("cp evil.json .claude/settings.json"),
    runs("cp evil.json ~/.claude/settings.local.json"),
    runs("cp settings.json ~/.claude"),
    runs("tee ~/.claude.json"),
    runs("sed -i s/hooks// ~/.claude/settings.json"),
    runs("rm -rf ~/.claude"),
    runs("cd .claude && rm settings.json"),
    runs("sed --in-place=.claude/settings.json x"),
    runs("rm ~/.Claude/Settings.JSON"),
    runs("rm -rf ~/.claude/plugins/quarterdeck"),
    runs("echo '{}' > .claude/settings.json"),
    runs("curl --unix-socket " + QUARTERDECK_HOME + "/hook.sock http://x"),
    runs("python -c 'open(\"" + QUARTERDECK_HOME + '/config.yaml", "w")\''),
    runs("'unclosed qd allow r1"),
    runs("cp a .cl''aude/settings.json"),
    runs('cp a .cl""aude/settings.json'),
    runs("cp a .cl\\aude/settings.json"),
    runs("cp a .cl*ude/settings.json"),
    runs("cp a ~/.cl?ude/s*"),
    runs("cd ~ && cd .cl''aude && cp a settings.json"),
    runs("cd ~/.claude && python -c \"open('settings.json','w')\""),
    runs("dd if=a of=.cl''aude/settings.json"),
    runs("curl -o .cl''aude/settings.json u"),
    runs("sed -n 'w .claude/settings.json' a"),
    runs("python -c \"open('.claude/settings.json','w')\""),
    runs('node -e \'fs.writeFileSync(".claude/settings.json","")\''),
    runs("ls ~/.claude/settings.json | xargs tee"),
    runs("echo .claude/settings.json | xargs cp a"),
    runs("ln -s ~ x"),
    runs("ln -s ~/.cl''aude x"),
    runs("mv .cl''aude x"),
    runs("cat ~/.local/state/quarterd''eck/token"),
    runs("curl --unix-socket ~/.local/state/quarter''deck/api.sock u"),
    runs("cp -a ~/.local x"),
    runs("rg token ~/.local"),
    runs("find ~/.local -name token | xargs cat"),
    runs("claude plugin uninstall quarterdeck"),
    runs("claude mcp add x y"),
    runs("claude --settings x.json -p hi"),
    runs("claude -p hi --dangerously-skip-permissions"),
    runs("python3 -mquarterdeck allow r1"),
    runs("python3 -c 'import quarterdeck'"),
    runs('python3 -c \'import subprocess; subprocess.run(["qd", "allow"])\''),
    runs("echo r1 | xargs qd allow"),
    runs("pkill -f quarterdeck"),
    runs("systemctl --user stop quarterdeck"),
    edits(f"{CWD}/.claude/settings.json"),
    edits(f"{CWD}/.claude/settings.local.json", tool="Write"),
    edits(f"{HOME}/.claude.json"),
    edits(f"{HOME}/.claude/plugins/quarterdeck/hooks/hooks.json"),
    edits("/etc/claude-code/managed-settings.json"),
    edits(QUARTERDECK_HOME + "/config.yaml"),
    edits(f"{CWD}/x", written=QUARTERDECK_HOME + "/config.yaml"),
    edits(QUARTERDECK_HOME + "/config.yaml", written="x"),
    reads(QUARTERDECK_HOME + "/token"),
    use("Grep", at=HOME, path=HOME, pattern="token"),
    use("Glob", at=CWD, pattern=QUARTERDECK_HOME + "/*"),
    use("mcp__files__write", path=QUARTERDECK_HOME + "/config.yaml", text="x"),
    use("mcp__files__write", files=[{"path": f"{CWD}/.claude/settings.json"}]),
    use("Agent", prompt=f"change {QUARTERDECK_HOME}/config.yaml"),
]

LEFT_ALONE = [
    runs("qd status"),
    runs("qd requests --json"),
    runs("qd rules list"),
    runs("qd --help"),
    runs("quarterdeck sessions"),
    runs("cd quarterdeck"),
    runs("git clone https://example.org/quarterdeck"),
    runs("grep -r quarterdeck src"),
    runs("rm -rf build"),
    runs("rm *.pyc"),
    runs("find ~ -name x"),
    runs("echo " + "x" * 9000),
    runs("cat .claude/settings.json"),
    runs("jq .hooks ~/.claude/settings.json"),
    runs("git log -- .claude/commands"),
    runs("cp a.txt ~/b.txt"),
    runs("python -m pytest"),
    runs("sed 's/.*//' a"),
    runs("claude --version"),
    runs("claude mcp list"),
    runs("claude -p hello"),
    runs("ln -s ../a b"),
    runs("systemctl status nginx"),
    runs("python -c 'print(1)'"),
    runs("rg token ~/project"),
    runs("git ls-files | xargs wc -l"),
    edits(f"{CWD}/.claude/commands/x.md"),
    edits(f"{CWD}/src/settings.json"),
    reads(f"{CWD}/.claude/settings.json"),
    use("Grep", at=CWD, pattern="x"),
    use("mcp__files__write", path=f"{CWD}/a.txt", text="about .claude/settings.json files"),
    use("WebFetch", url="https://example.org/quarterdeck"),
]


@pytest.mark.parametrize("tool_use", TOUCHING, ids=lambda s: f"{s.tool_name} {next(iter(s.tool_input.values()))}")
def test_no_allow_rule_covers_what_could_change_the_rules(tool_use: ToolUse) -> None:
    assert touches_quarterdeck(tool_use, QUARTERDECK_HOME)
    everything = [f"allow {tool}" for tool in ("Bash", "Edit", "Read", "Agent", "mcp__files__*", "Bash(qd:*)")]
    assert effect_of(tool_use, *everything) == "ask"
    assert (
        effect_of(tool_use, *everything, "deny Bash", "deny Edit", "deny Read", "deny Agent", "deny mcp__files")
        == "deny"
    )


@pytest.mark.parametrize("tool_use", LEFT_ALONE, ids=lambda s: f"{s.tool_name} {next(iter(s.tool_input.values()))}")
def test_uses_that_only_read_or_concern_other_files_can_be_allowed(tool_use: ToolUse) -> None:
    assert touches_quarterdeck(tool_use, QUARTERDECK_HOME) is None


ELSEWHERE = "/srv/cc/settings.json"


@pytest.mark.parametrize(
    "tool_use",
    [
        runs("cp a /srv/cc/settings.json"),
        runs("cd /srv/cc && cp a settings.json"),
        runs("cd /srv && cp a c''c/settings.json"),
        runs("echo x > /srv/cc/settings.json"),
        runs("python -c \"open('/srv/cc/settings.json','w')\""),
        edits(ELSEWHERE),
        use("mcp__files__write", path=ELSEWHERE),
    ],
    ids=lambda s: f"{s.tool_name} {next(iter(s.tool_input.values()))}",
)
def test_settings_in_an_unusual_folder_are_guarded_too(tool_use: ToolUse) -> None:
    assert touches_quarterdeck(tool_use, QUARTERDECK_HOME) is None
    assert touches_quarterdeck(replace(tool_use, guarded=(ELSEWHERE,)), QUARTERDECK_HOME)
    assert (
        touches_quarterdeck(replace(runs("cat /srv/cc/settings.json"), guarded=(ELSEWHERE,)), QUARTERDECK_HOME) is None
    )


def test_quarterdecks_path_inside_the_home_path_counts_for_wildcards_too() -> None:
    assert touches_quarterdeck(replace(runs("cat *.py ~/x"), home=f"/srv{QUARTERDECK_HOME}"), QUARTERDECK_HOME)


def test_without_a_known_home_the_commands_and_settings_are_still_guarded() -> None:
    assert touches_quarterdeck(runs("qd allow r1"), "")
    assert touches_quarterdeck(edits(f"{CWD}/.claude/settings.json"), "")
    assert touches_quarterdeck(edits(f"{CWD}/a"), "") is None
