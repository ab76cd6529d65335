"use strict";

const state = document.getElementById("state");
const desk = document.getElementById("desk");
let csrf = null;

async function get(path) {
  const answer = await fetch(path, { credentials: "same-origin" });
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.json();
}

function list(id, items, empty) {
  const rows = items.map((text) => {
    const row = document.createElement("li");
    row.textContent = text;
    return row;
  });
  if (!rows.length) {
    const row = document.createElement("li");
    row.className = "quiet";
    row.textContent = empty;
    rows.push(row);
  }
  document.getElementById(id).replaceChildren(...rows);
}

async function show() {
  try {
    const me = await get("/api/v1/me");
    csrf = me.csrf;
    const [requests, sessions] = await Promise.all([
      get("/api/v1/requests?status=pending"),
      get("/api/v1/sessions?limit=50"),
    ]);
    state.textContent = `Signed in as ${me.name}. Decide in a terminal with: quarterdeck requests`;
    list("requests", requests.requests.map((r) => `${r.tool_name}: ${r.request_id}`), "Nothing waits.");
    list("sessions", sessions.sessions.map((s) => `${s.agent_state} · ${s.title || s.session_id} · ${s.cwd}`), "None yet.");
    desk.hidden = false;
  } catch (error) {
    desk.hidden = true;
    state.textContent = error.message === "401"
      ? "Not signed in. Run: quarterdeck login-url"
      : "The daemon does not answer.";
  }
}

document.getElementById("logout").addEventListener("click", async () => {
  await fetch("/api/v1/logout", {
    method: "POST",
    credentials: "same-origin",
    headers: { "content-type": "application/json", "x-csrf-token": csrf },
    body: "{}",
  });
  show();
});

show();
setInterval(show, 3000);
