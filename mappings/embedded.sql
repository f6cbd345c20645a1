-- Tables of a store in a file that have keys, and views; the other tables are in esdedup/store/schemas.py.
CREATE TABLE about (key VARCHAR PRIMARY KEY, value VARCHAR NOT NULL);

CREATE TABLE sources (
    number INTEGER PRIMARY KEY,
    name VARCHAR NOT NULL,
    qualified BOOLEAN NOT NULL,      -- document ids are NAME/ID
    history BOOLEAN NOT NULL,        -- read with all revisions: it is known who added a sentence, and when
    told VARCHAR                     -- the whole mark as JSON: where it is, how far it has been read, what was skipped
);

CREATE VIEW named AS
SELECT d.number, s.name AS source, s.history, d.title,
    try_cast(d.key AS UBIGINT) AS numeral,  -- ids that are numbers come first, in their order
    CASE WHEN s.qualified THEN s.name || '/' ELSE '' END || d.key
        || CASE WHEN d.occurrence > 1 THEN '#' || d.occurrence ELSE '' END AS id
FROM documents d JOIN sources s ON s.number = d.source;

-- A document is the same one again by its id, whatever file it came in.
CREATE VIEW keyed AS
SELECT d.number, CASE WHEN s.qualified THEN s.name ELSE '' END AS source, d.key, d.occurrence, d.content,
    d.source AS file, d.place
FROM documents d JOIN sources s ON s.number = d.source;
