"""The settings in force: every one, with its place, and no secret."""

from __future__ import annotations

from pathlib import Path

from quarterdeck.config.effective import effective_settings
from quarterdeck.config.loader import read_config
from quarterdeck.config.redacted import STARS
from quarterdeck.config.settings import KEYS, SECRET_URLS


def test_every_setting_has_its_value_and_its_place(tmp_path: Path) -> None:
    secret = sorted(SECRET_URLS)[0]
    section, _, name = secret.partition(".")
    text = f"decide:\n  hold: never\n{section}:\n  {name}: https://push.example.org/topic-of-ann\n"
    (tmp_path / "config.yaml").write_text(text)
    found = read_config(tmp_path, None, {"QUARTERDECK_RUNNER_NAME": "otter"})
    shown = {one.key: one for one in effective_settings(found.usable, found)}
    assert list(shown) == list(KEYS)
    assert (shown["decide.hold"].value, shown["decide.hold"].source, shown["decide.hold"].line) == ("never", "file", 2)
    assert (shown["runner.name"].value, shown["runner.name"].origin) == ("otter", "QUARTERDECK_RUNNER_NAME")
    assert shown["runner.port"].source == "default"
    assert shown[secret].value == f"https://push.example.org/{STARS}"
