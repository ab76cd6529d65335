"""Write all generated files: blocks of pages, examples of the API, the index of the commands, the manual page."""

from quarterdeck.cli.quick.command_index import FILE as INDEX
from tools.docs.command_index import commands_json
from tools.docs.examples import FILE, examples_text
from tools.docs.man_page import MAN, man_page
from tools.docs.pages import DOCS, PAGES, page_text
from tools.web import labels

if __name__ == "__main__":
    INDEX.write_text(commands_json(), encoding="utf-8")
    for name in PAGES:
        (DOCS / name).write_text(page_text(name), encoding="utf-8")
    FILE.write_text(examples_text(), encoding="utf-8")
    labels.FILE.write_text(labels.labels_text(), encoding="utf-8")
    MAN.write_text(man_page(), encoding="utf-8")
