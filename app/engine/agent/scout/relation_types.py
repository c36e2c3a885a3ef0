"""Types of what a page can list: rows of one kind, labels with values.  Pure data."""

from __future__ import annotations

from dataclasses import dataclass

from app.engine.agent.scout.tree_texts import Outline


@dataclass(frozen=True, slots=True)
class Control:
    """A link or control: its number on the page, role and name, and the column it stands in."""

    index: int
    role: str
    name: str
    column: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row: texts by column (in lower case, as the head has it), and what can be pressed in it."""

    cells: tuple[tuple[str, str], ...]
    controls: tuple[Control, ...] = ()

    def __getitem__(self, column: str) -> str:
        return next((text for name, text in self.cells if name == column), "")

    @property
    def text(self) -> str:
        """All of it."""
        return " ".join(text for _, text in self.cells if text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """Rows of one kind.

    Attributes:
        title: the heading or caption they stand under.
        columns: names in lower case; "" or a number for a column without a head.
        sort_controls: what can be pressed in the head.
        kind: ``table``, ``cards`` or ``links``.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    sort_controls: tuple[Control, ...] = ()
    kind: str = "table"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A value with its label; ``title`` is the heading or caption around it.

    Attributes:
        listed: it is a cell of a table's only row.
        field: number of the field that holds it; ``None`` for a text.
        link: number of the link that it is; ``None`` for any other text.
    """

    label: str
    value: str
    title: str = ""
    listed: bool = False
    field: int | None = None
    link: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRelations:
    """Everything a page lists.

    Attributes:
        said: texts outside of tables and menus, in order, a paragraph each.
        trail: its breadcrumb.
        labels: (number of a field, text before it) where the field has no name of its own.
        counts: texts that may tell how many rows there are in all, those of menus and page numbers too.
    """

    headings: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()
    labelled: tuple[Labelled, ...] = ()
    said: tuple[str, ...] = ()
    trail: tuple[str, ...] = ()
    labels: tuple[tuple[int, str], ...] = ()
    counts: tuple[str, ...] = ()


class RelationReading:
    """Findings so far, and the label, term and heading that the next text belongs to."""

    def __init__(self, tree: Outline) -> None:
        self.tree = tree
        self.headings, self.said, self.trail, self.counts = list[str](), list[str](), list[str](), list[str]()
        self.relations, self.labelled = list[Relation](), list[Labelled]()
        self.labels: list[tuple[int, str]] = []
        self.title = self.label = self.before = self.about = ""
        self.untold = False

    def tell(
        self,
        label: str,
        value: str,
        field: int | None = None,
        *,
        listed: bool = False,
        link: int | None = None,
    ) -> None:
        """Keep a value with its label; one that is its own label tells nothing."""
        value = " ".join(value.split())
        if label and value and label != value:
            self.labelled.append(Labelled(label, value, self.title, listed, field, link))
