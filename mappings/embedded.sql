-- The embedded store. Numbers of documents and sources are local; content hashes name texts everywhere.
CREATE TABLE about (key VARCHAR PRIMARY KEY, value VARCHAR NOT NULL);

CREATE TABLE sources (
    number INTEGER PRIMARY KEY,
    name VARCHAR NOT NULL,
    qualified BOOLEAN NOT NULL,      -- document ids are NAME/ID
    history BOOLEAN NOT NULL,        -- read with all revisions: it is known who added a sentence, and when
    path VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,    -- size and time of the file, and how it was read
    documents BIGINT NOT NULL,       -- read so far: where an unfinished job goes on
    finished BOOLEAN NOT NULL
);

CREATE TABLE documents (
    number INTEGER NOT NULL,
    source INTEGER NOT NULL,
    key VARCHAR NOT NULL,            -- the id as the source has it
    occurrence INTEGER NOT NULL,     -- 1, or more where the source repeats an id
    title VARCHAR,
    content UBIGINT NOT NULL,        -- hash of the text as read
    sentences INTEGER NOT NULL,      -- before any filter
    place BIGINT NOT NULL            -- record, row or page of the source, from 1
);

CREATE TABLE sentences (
    document INTEGER NOT NULL,
    position INTEGER NOT NULL,
    hash UBIGINT NOT NULL,
    text VARCHAR NOT NULL,
    tokens BIGINT[{tokens}] NOT NULL,
    revision BIGINT,                 -- first revision in time that has the sentence, and the last one
    timestamp VARCHAR,
    contributor VARCHAR,             -- who saved it: a name, or an address
    last_revision BIGINT,
    last_timestamp VARCHAR,
    last_contributor VARCHAR
);

-- What is known of the sentences of a page only where it ends.
CREATE TABLE seen (
    document INTEGER, position INTEGER,
    revision BIGINT, timestamp VARCHAR, contributor VARCHAR,
    last_revision BIGINT, last_timestamp VARCHAR, last_contributor VARCHAR
);

CREATE TABLE skipped (source INTEGER NOT NULL, reason VARCHAR NOT NULL, count BIGINT NOT NULL, places VARCHAR[]);

-- Lookups, one row a token and one row a text; sorted in runs, so that few blocks are read for a question.
CREATE TABLE postings (token BIGINT NOT NULL, hash UBIGINT NOT NULL);

CREATE TABLE starts (
    key UBIGINT NOT NULL,            -- the first 8 bytes of the case-folded text, big-endian
    start VARCHAR NOT NULL,          -- its first 64 characters as they are
    hash UBIGINT NOT NULL
);

-- Texts whose sentences have changed since the last scan, and whether that scan had any.
CREATE TABLE touched (hash UBIGINT NOT NULL, existed BOOLEAN NOT NULL, tokens BIGINT[{tokens}] NOT NULL);

CREATE TABLE pairs (a UBIGINT, b UBIGINT, jaccard DOUBLE, word_edit_distance INTEGER, shared_tokens INTEGER);

CREATE TABLE clusters (
    id UBIGINT, size BIGINT, distinct_texts BIGINT, min_jaccard DOUBLE, weakest_a UBIGINT, weakest_b UBIGINT,
    representative UBIGINT,
    farthest DOUBLE,                 -- least similarity of a member to the representative, where it is alarming
    ignored BOOLEAN,                 -- known and wanted: in no listing
    kind VARCHAR,                    -- null where clusters were not judged, as the rest
    kind_confidence DOUBLE,
    kind_reason VARCHAR,
    frame VARCHAR,                   -- the fixed words, with named slots in braces
    contradictions INTEGER,          -- slots in which its sentences state different facts of one subject
    contradiction DOUBLE,            -- confidence of the surest of them; null without one
    copies INTEGER                   -- sentences that came from another page; null where no order is known
);

CREATE TABLE cluster_texts (hash UBIGINT, cluster UBIGINT);

-- Of a sentence of a cluster, the most similar one that stood somewhere before it.
CREATE TABLE origins (
    cluster UBIGINT, document INTEGER, position INTEGER, parent_document INTEGER, parent_position INTEGER,
    jaccard DOUBLE,
    edits INTEGER,                   -- word edit distance
    copied BOOLEAN                   -- from another page
);

CREATE VIEW named AS
SELECT d.number, s.name AS source, s.history, d.title,
    try_cast(d.key AS UBIGINT) AS numeral,  -- ids that are numbers come first, in their order
    CASE WHEN s.qualified THEN s.name || '/' ELSE '' END || d.key
        || CASE WHEN d.occurrence > 1 THEN '#' || d.occurrence ELSE '' END AS id
FROM documents d JOIN sources s ON s.number = d.source;

-- A document is the same one again by its id, whatever file it came in.
CREATE VIEW keyed AS
SELECT d.number, CASE WHEN s.qualified THEN s.name ELSE '' END AS source, d.key, d.occurrence, d.content
FROM documents d JOIN sources s ON s.number = d.source;
