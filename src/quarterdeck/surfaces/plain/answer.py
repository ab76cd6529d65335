"""Questions and forms, answered one by one, by number or in own words, and read back before they are sent."""

from __future__ import annotations

from typing import Any

from quarterdeck.core.text.forms import TYPE_LABELS, FormField
from quarterdeck.surfaces.plain.app import YES, PlainApp
from quarterdeck.surfaces.plain.command_help import CommandEnded
from quarterdeck.surfaces.plain.request_numbers import read_number
from quarterdeck.surfaces.terminal.forms.answers import (
    answer_hint,
    fields_of,
    questions_of,
    read_answer,
    read_value,
    value_text,
)
from quarterdeck.surfaces.terminal.request_item import RequestItem

Json = dict[str, Any]
SKIP = "-"


async def prompt_answers(app: PlainApp, item: RequestItem, words: str) -> Json:
    """The decision with the answers."""
    if item.view["form"] == "elicitation":
        return {"decision": "answer", "answers": await _prompt_form(app, fields_of(item.shown))}
    questions = questions_of(item.shown)
    if not questions:
        raise CommandEnded("Quarterdeck cannot show this kind of question: answer it at its terminal.")
    if words and len(questions) == 1 and (answer := _read(app, questions[0], words)):
        return {"decision": "answer", "answers": {str(questions[0]["question"]): answer}}
    answers: Json = {}
    for number, question in enumerate(questions, 1):
        place = f"{number} of {len(questions)}: " if len(questions) > 1 else ""
        answers[str(question["question"])] = await _prompt_question(app, question, place)
    return {"decision": "answer", "answers": answers, "notes": await _prompt_notes(app, answers) or None}


async def _prompt_question(app: PlainApp, question: Json, place: str) -> str | list[str]:
    app.say(f"Question {place}{question['question']}")
    for number, option in enumerate(question.get("options", []), 1):
        about = option.get("description", "")
        app.say(f"{number}: {option.get('label', '')}{f', {about}' if about else ''}")
    while (answer := _read(app, question, await app.ask(answer_hint(question)))) is None:
        pass
    return answer


def _read(app: PlainApp, question: Json, text: str) -> str | list[str] | None:
    try:
        return read_answer(question, text)
    except ValueError as error:
        app.say(str(error))
        return None


async def _prompt_notes(app: PlainApp, answers: Json) -> dict[str, str]:
    """The notes on the answers, once the person has confirmed these."""
    notes: dict[str, str] = {}
    texts = list(answers)
    while True:
        for number, (text, answer) in enumerate(answers.items(), 1):
            words = ", ".join(answer) if isinstance(answer, list) else answer
            app.say(f"{number}: {text} {words}" + (f" Note: {notes[text]}" if text in notes else ""))
        typed = await app.ask("yes sends this; note 1 WORDS adds a note to the first answer; no cancels.")
        word, _, rest = typed.partition(" ")
        place, _, note = rest.partition(" ")
        number_typed = read_number(place, len(texts))
        if typed.lower() in YES:
            return notes
        if word != "note" or not number_typed or not note.strip():
            raise CommandEnded("Nothing was sent.")
        notes[texts[number_typed - 1]] = note.strip()


async def _prompt_form(app: PlainApp, fields: list[FormField]) -> Json:
    """The values of a form, field by field, once the person has confirmed them."""
    values = {field.name: await _prompt_field(app, field) for field in fields}
    content = {name: value for name, value in values.items() if value is not None}
    for name, value in content.items():
        app.say(f"{name}: {value}")
    if not await app.is_sure("Send this form?" if content else "Send the form empty?"):
        raise CommandEnded("Nothing was sent.")
    return content


async def _prompt_field(app: PlainApp, field: FormField) -> Any:
    for number, (_, title) in enumerate(field.choices, 1):
        app.say(f"{number}: {title}")
    while True:
        text = await app.ask(_field_hint(field))
        if not text and field.default is not None:
            return field.default
        if text in ("", SKIP) and not field.required:
            return None
        try:
            if text not in ("", SKIP):
                return read_value(field, text)
            app.say(f"{field.name} is required")
        except ValueError as error:
            app.say(f"{field.name}: {error}")


def _field_hint(field: FormField) -> str:
    several = "numbers" if field.type == "array" else "a number"
    kind = f"{several} of these" if field.choices else "" if field.type == "string" else TYPE_LABELS.get(field.type, "")
    empty = "required" if field.required else "optional"
    if field.default is not None:
        empty = f"an empty line means {value_text(field.default)}" + ("" if field.required else f", {SKIP} skips it")
    return f"{field.title or field.name}: {', '.join(filter(None, (field.description, kind, empty)))}"
