"""A small MCP server over stdio whose one tool, `ask`, fills in a form: `python mcp_server.py SCHEMA_FILE`."""

import json
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def send(message: Json) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def result_of(method: str, params: Json) -> Json:
    """What the server says to everything but a call of its tool."""
    match method:
        case "initialize":
            return {
                "protocolVersion": params.get("protocolVersion", "2025-06-18"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "forms", "version": "1"},
            }
        case "tools/list":
            schema = {"type": "object", "properties": {}}
            return {"tools": [{"name": "ask", "description": "Ask the person.", "inputSchema": schema}]}
        case _:
            return {}


def main() -> None:
    schema = json.loads(Path(sys.argv[1]).read_text())
    calls: dict[str, Any] = {}
    for line in sys.stdin:
        message = json.loads(line)
        method, request_id = message.get("method"), message.get("id")
        if method == "tools/call":
            question_id = f"ask-{len(calls)}"
            calls[question_id] = request_id
            params = {"message": "Please fill this in", "requestedSchema": schema}
            send({"id": question_id, "method": "elicitation/create", "params": params})
        elif method is None and request_id in calls:
            reply = json.dumps(message.get("result", message.get("error")))
            send({"id": calls[request_id], "result": {"content": [{"type": "text", "text": reply}]}})
        elif request_id is not None:
            send({"id": request_id, "result": result_of(str(method), message.get("params", {}))})


if __name__ == "__main__":
    main()
