"""What clusters mean: contradictions, templates, and who wrote a sentence first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from esdedup.analysis.editors import EDITORS
from esdedup.analysis.fact_names import CONTRADICTION, NEGATION, OPPOSITE, ORDER, UPDATE
from esdedup.analysis.values import DATE, NAME, NUMBER, QUANTITY, WORDS
from esdedup.output.contents.field_types import ClusterId, Count, Share

SlotType = Annotated[str, ("enum", (NUMBER, QUANTITY, DATE, NAME, WORDS))]
Fact = Annotated[str, ("enum", (NUMBER, QUANTITY, DATE, NAME, WORDS, NEGATION, OPPOSITE, ORDER))]
Change = Annotated[str, ("enum", (CONTRADICTION, UPDATE))]
Editor = Annotated[str, ("enum", EDITORS)]


@dataclass(frozen=True)
class Statement:
    """A sentence that states a value."""

    id: str
    """Id of the sentence."""
    source: str
    """Name of the source."""
    document: str
    """Id of the document."""
    title: str | None
    """Title of the document, if it has one."""
    revision: int | None
    """Id of the wiki revision."""
    timestamp: str | None
    """Time of this revision."""
    text: str
    """The text."""


@dataclass(frozen=True)
class StatedValue:
    """A value of a slot, and the sentences that state it."""

    value: str
    """The value in its most common form."""
    count: Count
    """Number of sentences that state it."""
    first: str | None
    """Time of the oldest of these sentences."""
    last: str | None
    """Time of the newest of these sentences."""
    sentences: list[Annotated[dict[str, Any], Statement]]
    """Up to 20 sentences that state it: of the first two values, those that contradict each other come first."""


@dataclass(frozen=True)
class Contradiction:
    """A place where sentences of one cluster state different facts."""

    cluster: ClusterId
    """Id of the cluster."""
    slot: str
    """Name of the slot in the frame."""
    type: SlotType
    """What the values are."""
    fact: Fact
    """What differs: that, or a negation, an opposite, or the order of the same words."""
    subject: str | None
    """What it is about: the title that both sides share, or else the first name that both have."""
    change: Change
    """`update` if one page says it differently at two times, otherwise `contradiction`."""
    majority: Count | None
    """Index in `values` of the value that more than half of the sentences state."""
    newest: Count | None
    """Index in `values` of the value with the newest sentence."""
    difference: float | None
    """The second value minus the first one, if both are numbers."""
    confidence: Share
    """How likely it is, from 0 to 1, that the sentences state different facts about the same subject."""
    why: str
    """Where the two most conflicting sentences stand, and how they differ."""
    values: list[Annotated[dict[str, Any], StatedValue]]
    """The values: first the two that most likely contradict each other, then the most common ones."""
    frame: str
    """What the sentences have in common, with the names of slots in braces."""


@dataclass(frozen=True)
class TreeMember:
    """A sentence in a tree of copies."""

    id: str
    """Id of the sentence."""
    title: str | None
    """Title of the document, if it has one."""
    text: str
    """The text."""
    timestamp: str
    """When the sentence appeared."""
    contributor: str | None
    """Name or address of who added it; null if it is hidden or unknown."""
    parent: str | None
    """Id of the most similar sentence that appeared earlier; null for the first one."""
    jaccard: Share | None
    """Jaccard similarity to the parent."""
    edits: Count | None
    """Number of words that differ from the parent."""
    copied: bool | None
    """Whether the parent is in another page."""
    editor: Editor
    """Kind of the contributor."""
    depth: Count
    """Number of steps from the first sentence."""
    errors: Count
    """Number of words edited on all these steps."""


@dataclass(frozen=True)
class Tree:
    """The sentences of a cluster in order of time, each below the one that it was probably copied from."""

    cluster: ClusterId
    """Id of the cluster."""
    copies: Count
    """Number of copies from page to page."""
    members: list[Annotated[dict[str, Any], TreeMember]]
    """The sentences whose time is known, oldest first."""


@dataclass(frozen=True)
class Copiers:
    """Number of copies in the whole store by the kind of editor who added them."""

    registered: Count
    """Editors with an account."""
    anonymous: Count
    """Editors without one."""
    bot: Count
    """Programs, recognized by their names."""
    hidden: Count
    """Editors whose names are hidden or unknown."""


@dataclass(frozen=True)
class Lineage:
    """Who wrote a sentence first."""

    trees: list[Annotated[dict[str, Any], Tree]]
    """A tree for each cluster that was copied from page to page, most copies first."""
    editors: Annotated[dict[str, int], Copiers]
    """Who added the copies."""
    undated: Count
    """Number of clustered sentences without a time, which are left out."""


@dataclass(frozen=True)
class TemplateSlot:
    """A slot of a template."""

    name: str
    """Name of the slot: of its column, and in the frame."""
    type: SlotType
    """What fills it."""
    unit: str | None
    """Unit of the numbers, if all have one."""


@dataclass(frozen=True)
class FrameRow:
    """A template, and the file that has its table."""

    cluster: ClusterId
    """Id of the cluster."""
    frame: str
    """What the sentences have in common, with the names of slots in braces."""
    slots: list[Annotated[dict[str, Any], TemplateSlot]]
    """The slots."""
    rows: Count
    """Number of sentences."""
    fit: Count
    """Number of sentences that the frame and the row reproduce exactly."""
    file: str
    """Name of the table's file."""


@dataclass(frozen=True)
class TemplateColumn(TemplateSlot):
    """A slot of a template as a column: a value for each sentence."""

    cells: list[str | None]
    """What each sentence has there, as written; null if there is nothing."""
    values: list[float | str | None] | None
    """Numbers, or dates as YYYY-MM-DD, if nearly all cells are; otherwise null."""


@dataclass(frozen=True)
class RowOfTemplate:
    """A sentence of a template."""

    id: str
    """Id of the sentence."""
    document: str
    """Id of the document."""
    title: str | None
    """Title of the document, if it has one."""


@dataclass(frozen=True)
class Template:
    """A template as a table: a row for each sentence, a column for each slot."""

    cluster: ClusterId
    """Id of the cluster."""
    frame: str
    """What the sentences have in common, with the names of slots in braces."""
    sentences: list[Annotated[dict[str, Any], RowOfTemplate]]
    """The sentences, in the order of the cells."""
    columns: list[Annotated[dict[str, Any], TemplateColumn]]
    """The slots."""
    fits: list[bool]
    """Whether the frame and the cells reproduce each sentence exactly."""
