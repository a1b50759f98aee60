"""Tables as Markdown, and as JSON from which a document takes them."""

from typing import Any

from langfocus.crawler.report.table import Table


def markdown(table: Table) -> list[str]:
    """Return the lines of a table and its notes in Markdown, without its title."""
    ruler = [":--" if place < table.text_columns else "--:" for place in range(len(table.head))]
    rows = [list(table.head), ruler, *table.texts, *table.paper_texts]
    lines = [f"| {' | '.join(map(_escaped, row))} |" for row in rows]
    return [*lines, *(line for note in table.notes for line in ("", _escaped(note)))]


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("<=", "≤")


def table_json(table: Table, name: str) -> dict[str, Any]:
    """Return the table for a JSON file from which a document takes it by `name`."""
    return {
        "name": name,
        "title": table.title,
        "head": list(table.head),
        "text_columns": table.text_columns,
        "rows": table.texts,
        "paper": table.paper_texts,
        "notes": list(table.notes),
    }
