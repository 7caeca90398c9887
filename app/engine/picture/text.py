"""A picture with its figures as plain text, for files, mails and tickets."""

from __future__ import annotations

from app.engine.picture.figures import figures_table
from app.engine.picture.subject import Subject
from app.engine.view.table import text_of
from widgets.plain.picture.look import PictureLook
from widgets.plain.picture.painting import painted
from widgets.plain.picture.values import Picture
from widgets.plain.text import clean, pad, width_of, wrap


def picture_text(subject: Subject, made: Picture, look: PictureLook) -> str:
    """The picture, what was shown, and a table; ends in a newline."""
    rows = [*painted(made, look), ""]
    for words in (subject.verdict, made.why if made.data is not None else ""):
        rows += wrap(words, look.width) if words else []
    shown = figures_table(subject, ascii=look.ascii)
    table = [[column.title for column in shown.columns], *([text_of(cell) for cell in row.cells] for row in shown.rows)]
    widths = [max(width_of(clean(row[at])) for row in table) for at in range(len(table[0]))]
    rows += [
        "",
        *("  ".join(pad(clean(each), width) for each, width in zip(row, widths, strict=True)) for row in table),
    ]
    return "\n".join(row.rstrip() for row in look.shown(rows)) + "\n"
