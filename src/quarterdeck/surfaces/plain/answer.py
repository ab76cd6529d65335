"""Questions and forms, one thing after the other: by number or in own words, read back before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quarterdeck.surfaces.plain.app import YES, Plain
from quarterdeck.surfaces.plain.request_numbers import read_number
from quarterdeck.surfaces.terminal.model import Asked
from quarterdeck.surfaces.terminal.request_card import fields_of, questions_of
from quarterdeck.surfaces.tui.dialogs.decisions.answer import answer_to
from quarterdeck.surfaces.tui.dialogs.decisions.form import read_value

Json = dict[str, Any]
KINDS = {"integer": "a whole number", "number": "a number", "object": "a JSON object", "array": "a JSON list"}
LEAVE_OUT = "-"


def read_answer(question: Mapping[str, Any], text: str) -> str | list[str] | None:
    """The answer that a text means: `2`, `1,3` where several may be chosen, own words, or `1,3; own words`. None when
    a number has no choice."""
    numbers, _, also = text.partition(";")
    parts = numbers.replace(",", " ").split()
    if not parts or not all(part.isascii() and part.isdigit() for part in parts):
        return answer_to(question, [], text.strip())
    places = sorted({int(part) - 1 for part in parts})
    several = bool(question.get("multiSelect"))
    if places[0] < 0 or places[-1] >= len(question.get("options", [])) or (len(places) > 1 and not several):
        return None
    return answer_to(question, places, also.strip())


def read_field(field: Mapping[str, Any], text: str) -> Any:
    """The value that a text means for a field; ValueError says why it means none."""
    choices = field.get("enum")
    if field.get("type") == "boolean":
        known = {"yes": True, "no": False, "y": True, "n": False}
        if text.lower() not in known:
            raise ValueError("yes or no is needed")
        return known[text.lower()]
    if isinstance(choices, list):
        number = read_number(text, len(choices))
        if number is None:
            raise ValueError(f"a number from 1 to {len(choices)} is needed")
        return choices[number - 1]
    try:
        return read_value(field, text)
    except ValueError:
        raise ValueError(f"{KINDS.get(str(field.get('type')), 'something else')} is needed") from None


class Answering:
    """Asks for each answer."""

    def __init__(self, face: Plain) -> None:
        self._face = face

    async def answered(self, asked: Asked, words: str) -> Json | None:
        """The decision; None where nothing is to be sent."""
        if asked.view["form"] == "elicitation":
            return await self._filled(asked)
        questions = questions_of(asked.shown)
        if not questions:
            self._face.say("This question has a form Quarterdeck does not know: answer it at its terminal.")
            return None
        if words and len(questions) == 1:
            answer = read_answer(questions[0], words)
            if answer is not None:
                return {"decision": "answer", "answers": {str(questions[0]["question"]): answer}}
            self._face.say(_choices(questions[0]))
        return await self._asked(questions)

    async def _asked(self, questions: list[Mapping[str, Any]]) -> Json | None:
        answers: Json = {}
        for number, question in enumerate(questions, 1):
            await self._ask(question, f"{number} of {len(questions)}: " if len(questions) > 1 else "", answers)
        notes = await self._confirmed(answers)
        return None if notes is None else {"decision": "answer", "answers": answers, "notes": notes or None}

    async def _ask(self, question: Mapping[str, Any], place: str, answers: Json) -> None:
        text = str(question["question"])
        self._face.say(f"Question {place}{text}")
        for number, option in enumerate(question.get("options", []), 1):
            about = option.get("description", "")
            self._face.say(f"{number}: {option.get('label', '')}{f', {about}' if about else ''}")
        answer = None
        while answer is None:
            answer = read_answer(question, await self._face.ask(_choices(question)))
        answers[text] = answer

    async def _confirmed(self, answers: Json) -> dict[str, str] | None:
        """The notes, once the person says yes to what was read back; None for a no."""
        notes: dict[str, str] = {}
        texts = list(answers)
        while True:
            for number, (text, answer) in enumerate(answers.items(), 1):
                words = ", ".join(answer) if isinstance(answer, list) else answer
                self._face.say(f"{number}: {text} {words}" + (f" Note: {notes[text]}" if text in notes else ""))
            told = await self._face.ask("yes sends this; note 1 WORDS adds a note to the first answer; no leaves it.")
            word, _, rest = told.partition(" ")
            place, _, note = rest.partition(" ")
            noted = read_number(place, len(texts))
            if word == "note" and noted and note.strip():
                notes[texts[noted - 1]] = note.strip()
            else:
                return notes if told.lower() in YES else None

    async def _filled(self, asked: Asked) -> Json | None:
        """A form, field by field."""
        fields, content = fields_of(asked.shown), dict[str, Any]()
        schema = asked.shown["tool_input"].get("requested_schema")
        needed = schema.get("required") if isinstance(schema, dict) else None
        for name, field in fields.items():
            value = await self._field(name, field, isinstance(needed, list) and name in needed)
            if value is not None:
                content[name] = value
        for name, value in content.items():
            self._face.say(f"{name}: {value}")
        is_sure = await self._face.is_sure("Send this form?" if content else "Send the form empty?")
        return {"decision": "answer", "answers": content} if is_sure else None

    async def _field(self, name: str, field: Mapping[str, Any], is_needed: bool) -> Any:
        default, choices = field.get("default"), field.get("enum")
        for number, choice in enumerate(choices if isinstance(choices, list) else [], 1):
            self._face.say(f"{number}: {choice}")
        while True:
            text = await self._face.ask(_field_words(name, field, is_needed))
            if not text and default is not None:
                return default
            if text in ("", LEAVE_OUT) and not is_needed:
                return None
            try:
                if text not in ("", LEAVE_OUT):
                    return read_field(field, text)
                self._face.say(f"{name} is needed")
            except ValueError as error:
                self._face.say(f"{name}: {error}")


def _choices(question: Mapping[str, Any]) -> str:
    count = len(question.get("options", []))
    if not count:
        return "Answer in your own words."
    if question.get("multiSelect"):
        return f"Answer by numbers from 1 to {count}, like 1,2, in your own words, or both, like 1; and words."
    return f"Answer by a number from 1 to {count}, or in your own words."


def _field_words(name: str, field: Mapping[str, Any], is_needed: bool) -> str:
    kind = "yes or no" if field.get("type") == "boolean" else KINDS.get(str(field.get("type")), "")
    kind = "a number of these" if isinstance(field.get("enum"), list) else kind
    default = field.get("default")
    empty = f"an empty line means {default}" if default is not None else "" if is_needed else "may be left out"
    if default is not None and not is_needed:
        empty += f", {LEAVE_OUT} leaves it out"
    about = str(field.get("description") or "")
    told = ", ".join(filter(None, (about, kind, empty or "needed")))
    return f"{field.get('title') or name}: {told}"
