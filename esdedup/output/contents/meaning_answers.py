"""What clusters mean: contradictions, templates, and who wrote a sentence first."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from esdedup.analysis.lineage import EDITORS
from esdedup.analysis.names import CONTRADICTION, NEGATION, OPPOSITE, ORDER, UPDATE
from esdedup.analysis.values import DATE, NAME, NUMBER, QUANTITY, WORDS
from esdedup.output.contents.base import Result, answer
from esdedup.output.contents.field_types import MISSING, ClusterId, Count, Share

SlotType = Annotated[str, ("enum", (NUMBER, QUANTITY, DATE, NAME, WORDS))]
Fact = Annotated[str, ("enum", (NUMBER, QUANTITY, DATE, NAME, WORDS, NEGATION, OPPOSITE, ORDER))]
Change = Annotated[str, ("enum", (CONTRADICTION, UPDATE))]
Editor = Annotated[str, ("enum", EDITORS)]


@answer
class Statement(Result):
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


@answer
class StatedValue(Result):
    """A value of a slot, and the sentences that state it."""

    value: str
    """The value in its most common form."""
    count: Count
    """Number of sentences that state it."""
    first: str | None
    """Time of the oldest of these sentences."""
    last: str | None
    """Time of the newest of these sentences."""
    sentences: list[Statement]
    """Up to 20 sentences that state it: of the first two values, those that contradict each other come first."""


@answer
class Correction(Result, shown=("page", "old", "new")):
    """A page has changed a value, and others still state the old one."""

    page: str
    """Title of the page, or the id of its document."""
    old: str
    """The value that it had."""
    new: str
    """The value that it has now."""
    revision: int | None
    """Id of the wiki revision that changed it, or of the newest one that was read."""
    timestamp: str | None
    """Time of this revision."""
    contributor: str | None
    """Name or address of who changed it, if all revisions were read; null if it is hidden or unknown."""
    before: str
    """The text with the old value."""
    after: str
    """The text with the new value."""
    standing: list[Statement]
    """Where the old value still stands, on other pages."""


@answer
class Contradiction(Result, shown=("confidence", "slot", "frame")):
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
    values: list[StatedValue] = field()  # type: ignore[assignment]  # not those of all fields
    """The values: first the two that most likely contradict each other, then the most common ones."""
    frame: str
    """What the sentences have in common, with the names of slots in braces."""


@answer
class StaleFact(Contradiction, shown=("confidence", "stale")):
    """A contradiction with a page that has changed the fact."""

    stale: Correction
    """What was changed, and where the old value still stands."""


@answer
class TreeMember(Result):
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


@answer
class Tree(Result):
    """The sentences of a cluster in order of time, each below the one that it was probably copied from."""

    cluster: ClusterId
    """Id of the cluster."""
    copies: Count
    """Number of copies from page to page."""
    members: list[TreeMember]
    """The sentences whose time is known, oldest first."""


@answer
class Copiers(Result):
    """Number of copies in the whole store by the kind of editor who added them."""

    registered: Count
    """Editors with an account."""
    anonymous: Count
    """Editors without one."""
    bot: Count
    """Programs, recognized by their names."""
    hidden: Count
    """Editors whose names are hidden or unknown."""


@answer
class Passage(Result, shown=("title", "source_title", "timestamp")):
    """Sentences that a page has word for word from an older one, which it does not name."""

    document: str
    """Id of the younger document."""
    title: str | None
    """Its title."""
    source_document: str
    """Id of the older document."""
    source_title: str | None
    """Its title."""
    timestamp: str | None
    """When the first sentence appeared in the younger one."""
    contributor: str | None
    """Name or address of who added it; null if it is hidden or unknown."""
    texts: list[str]
    """The sentences."""


@answer
class Lineage(Result, shown=("editors", "undated")):
    """Who wrote a sentence first."""

    trees: list[Tree]
    """A tree for each cluster that was copied from page to page, most copies first."""
    editors: Copiers
    """Who added the copies."""
    undated: Count
    """Number of clustered sentences without a time, which are left out."""
    ordered: bool
    """Whether the sources can show an order in time: a history, or dumps of two dates. Otherwise there are no trees."""
    shared: Count
    """Number of clusters with sentences of several documents."""
    unattributed: list[Passage] = MISSING
    """Passages of three sentences and more that were copied word for word, from a page that the other one does not
    name; with `--unattributed`, if the sources show an order."""
    uncertain: Count = MISSING
    """Number of such passages on pages with so many links that the older one may be among them; not listed."""


@answer
class TemplateSlot(Result):
    """A slot of a template."""

    name: str
    """Name of the slot: of its column, and in the frame."""
    type: SlotType
    """What fills it."""
    unit: str | None
    """Unit of the numbers, if all have one."""


@answer
class FrameRow(Result):
    """A template, and the file that has its table."""

    cluster: ClusterId
    """Id of the cluster."""
    frame: str
    """What the sentences have in common, with the names of slots in braces."""
    slots: list[TemplateSlot]
    """The slots."""
    rows: Count
    """Number of sentences."""
    fit: Count
    """Number of sentences that the frame and the row reproduce exactly."""
    file: str
    """Name of the table's file."""


@answer
class TemplateColumn(TemplateSlot):
    """A slot of a template as a column: a value for each sentence."""

    cells: list[str | None]
    """What each sentence has there, as written; null if there is nothing."""
    values: list[float | str | None] | None = field()  # type: ignore[assignment]
    """Numbers, or dates as YYYY-MM-DD, if nearly all cells are; otherwise null."""


@answer
class RowOfTemplate(Result):
    """A sentence of a template."""

    id: str
    """Id of the sentence."""
    document: str
    """Id of the document."""
    title: str | None
    """Title of the document, if it has one."""


@answer
class Template(Result):
    """A template as a table: a row for each sentence, a column for each slot."""

    cluster: ClusterId
    """Id of the cluster."""
    frame: str
    """What the sentences have in common, with the names of slots in braces."""
    sentences: list[RowOfTemplate]
    """The sentences, in the order of the cells."""
    columns: list[TemplateColumn]
    """The slots."""
    fits: list[bool]
    """Whether the frame and the cells reproduce each sentence exactly."""
