"""A session as every surface sees it."""

from __future__ import annotations

from quarterdeck.core.model.state import Capabilities
from quarterdeck.views.resources.session_view import SessionView, session_view
from tests.support.scene import Scene, bash
from tests.support.views import is_read_back

CAN = Capabilities(label="Agent", modes=("pty",), permission_modes=(), resumes=False, forks=True)


def view_of(scene: Scene, **facts: object) -> SessionView:
    view = session_view(scene.session, runner_id="otter", **facts)  # type: ignore[arg-type]
    assert is_read_back(view)
    return view


def test_a_session_says_what_it_does_and_what_a_person_can_do() -> None:
    scene = Scene().receives("SessionStart", source="startup").receives("UserPromptSubmit", prompt="fix")
    view = view_of(scene)
    assert (view.session_id, view.runner_id, view.agent_state) == ("s1", "otter", "running")
    assert view.label
    assert view.glyph
    assert view.actions
    assert view.cwd == "/w/app"
    assert view.project_id is not None
    assert view.usage is None
    assert view.owned is None
    assert view.resume is None


def test_its_counters_include_the_run_that_is_open() -> None:
    scene = Scene().receives("UserPromptSubmit", prompt="a").receives("PreToolUse", **bash("ls", "t1"))
    scene.receives("Stop").receives("UserPromptSubmit", prompt="b").receives("PreToolUse", **bash("ls", "t2"))
    view = view_of(scene)
    assert view.run_id == "s1:R2"
    assert view.runs == 2
    assert view.counters.tool_uses == 2


def test_its_agent_limits_the_actions_and_gives_the_way_back() -> None:
    scene = Scene().receives("SessionStart", source="startup").receives("SessionEnd", reason="other")
    reasons = {action.name: action.reason for action in view_of(scene, can=CAN).actions}
    assert reasons["resume"] == "Agent cannot do this"
    resume = view_of(scene, resume="agent --resume s1").resume
    assert resume is not None
    assert (resume.command, resume.cwd) == ("agent --resume s1", "/w/app")


def test_a_pane_can_be_shown() -> None:
    scene = Scene().receives("SessionStart", source="startup")
    attach = {action.name: action.possible for action in view_of(scene, where="tmux attach").actions}["attach"]
    assert attach
    assert not {a.name: a.possible for a in view_of(scene).actions}["attach"]
