-- Tables of a store in a file that have keys; the other tables are in esdedup/store/schemas.py.
CREATE TABLE about (key VARCHAR PRIMARY KEY, value VARCHAR NOT NULL);

CREATE TABLE sources (
    number INTEGER PRIMARY KEY,
    name VARCHAR NOT NULL,
    qualified BOOLEAN NOT NULL,      -- document ids are NAME/ID
    history BOOLEAN NOT NULL,        -- read with all revisions: it is known who added a sentence, and when
    told VARCHAR                     -- the whole mark as JSON: where it is, how far it has been read, what was skipped
);
