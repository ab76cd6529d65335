// Written by `make docs` from the tables in Python; a test compares.

/** @type {Record<string, string>} */
export const MARKS = {
  "low": "",
  "medium": "!",
  "high": "!!",
  "critical": "!!!"
};

/** @type {Record<string, number>} */
export const RISK_RANKS = {
  "low": 0,
  "medium": 1,
  "high": 2,
  "critical": 3
};

/** @type {Record<string, number>} */
export const STATE_RANKS = {
  "waiting_permission": 0,
  "waiting_input": 1,
  "blocked": 2,
  "running": 3,
  "settled": 4,
  "complete": 5,
  "idle": 6,
  "sent": 7,
  "unknown": 8,
  "ended": 9
};

/** @type {Record<string, string>} */
export const STATE_WORDS = {
  "running": "running",
  "waiting_permission": "needs you",
  "waiting_input": "asks",
  "idle": "idle",
  "complete": "done",
  "settled": "ready",
  "blocked": "blocked",
  "sent": "sent",
  "unknown": "unknown",
  "ended": "ended"
};

/** @type {Record<string, string>} */
export const GLYPHS = {
  "running": "●",
  "waiting_permission": "◆",
  "waiting_input": "?",
  "idle": "○",
  "complete": "✓",
  "settled": "■",
  "blocked": "✕",
  "sent": "→",
  "unknown": "·",
  "ended": "–"
};

/** @type {Record<string, string>} */
export const WANTS = {
  "shell": "wants to run",
  "read": "wants to read",
  "write": "wants to write",
  "edit": "wants to edit",
  "multi_edit": "wants to edit",
  "notebook_edit": "wants to edit",
  "fetch": "wants to fetch",
  "web_search": "wants to search the web",
  "task": "wants to start a sub-agent"
};

/** @type {Record<string, string>} */
export const FORMS = {
  "questions": "asks you",
  "plan": "has a plan and asks to begin",
  "elicitation": "asks you to fill in a form"
};

/** @type {Record<string, string>} */
export const TOOL_NAMES = {
  "todo_list": "Todo",
  "question": "Question",
  "plan": "Plan",
  "notebook_edit": "Notebook"
};

/** @type {string[]} */
export const SUBJECT_FIELDS = [
  "file_path",
  "notebook_path",
  "path",
  "pattern",
  "command",
  "url",
  "query",
  "description",
  "prompt",
  "subject"
];

/** @type {string[]} */
export const HIDDEN_KINDS = [
  "agent.note",
  "config.changed",
  "file.changed",
  "instructions.loaded",
  "model.pre",
  "operator.arm",
  "operator.page",
  "operator.select",
  "request.assessed",
  "session.given",
  "session.state",
  "session.up",
  "session.usage",
  "setting.change",
  "setup",
  "terminal.close",
  "terminal.open",
  "todo.update",
  "tool.batch"
];

/** @type {string[]} */
export const REPEATING_NOTIFICATIONS = [
  "idle_prompt",
  "permission_prompt"
];

/** @type {string[]} */
export const PERMISSION_MODES = [
  "default",
  "acceptEdits",
  "plan",
  "dontAsk",
  "auto"
];

/** @type {string[]} */
export const PLAN_MODES = [
  "default",
  "acceptEdits",
  "auto",
  "dontAsk"
];

/** @type {string[]} */
export const SESSION_MODES = [
  "sdk",
  "tmux",
  "pty"
];
