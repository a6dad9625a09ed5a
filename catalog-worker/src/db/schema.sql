-- catalog.db, version 1 (PRAGMA user_version). Written by the catalog worker alone, read by the bridge.
--
-- It is a cache: the worker sets a file aside that is damaged or of another version, and fetches everything again.
-- WAL mode. A refresh of a source becomes visible in one transaction. Times are milliseconds since 1970 (UTC).
-- Texts are bounded and without control characters; they are other people's words, so whatever looks like markup is text.
--
-- How to search. The expression is made of the person's words, each as "word" with its quotes doubled, the last one with a
-- * behind it; what FTS5 reads as an operator is then a word. Two statements: what matches hundreds of entries is ranked by
-- priority alone, as bm25 would look at each of them, and says little about words that are everywhere ("mcp").
--
--   1  SELECT count(*) FROM (SELECT 1 FROM entries_fts WHERE entries_fts MATCH :words LIMIT 501)
--   2a up to 500:  SELECT e.* FROM entries_fts f JOIN entries e ON e.n = f.rowid WHERE entries_fts MATCH :words
--                  ORDER BY bm25(entries_fts, 10.0, 8.0, 2.0, 4.0, 6.0) - e.priority / 200.0, e.id LIMIT :limit OFFSET :offset
--   2b beyond:     SELECT e.* FROM entries e WHERE e.removed_at IS NULL
--                  AND e.n IN (SELECT rowid FROM entries_fts WHERE entries_fts MATCH :words)
--                  ORDER BY e.priority DESC, e.id LIMIT :limit OFFSET :offset

-- Facts about the file. Keys: snapshot_date (YYYY-MM-DD of the curated entries), set_aside (what happened to the file
-- before this one, in a sentence).
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- Where entries come from. `curated` is always there. While no other one has a last_success_at, the catalog is the
-- bundled snapshot.
CREATE TABLE sources (
    id              TEXT PRIMARY KEY,               -- as configured; curated
    kind            TEXT NOT NULL,                  -- registry, awesome, curated
    url             TEXT NOT NULL,                  -- as configured; empty for curated
    etag            TEXT,                           -- of the last whole answer
    updated_since   INTEGER,                        -- where the next increment begins (registry)
    last_full_at    INTEGER,                        -- when the last whole pass ended
    last_attempt_at INTEGER,
    last_success_at INTEGER,
    last_error      TEXT,                           -- of the last attempt; NULL when it succeeded
    failures        INTEGER NOT NULL DEFAULT 0,     -- in a row
    not_before      INTEGER,                        -- it is left alone until then (back-off, Retry-After)
    retry_after     INTEGER,                        -- its server asked not to be asked before, not for a person either
    entries         INTEGER NOT NULL DEFAULT 0      -- that are not removed
) WITHOUT ROWID;

CREATE TABLE entries (
    n              INTEGER PRIMARY KEY,
    id             TEXT NOT NULL UNIQUE,            -- first 16 hex digits of sha256("SOURCE:NAME")
    source         TEXT NOT NULL,                   -- sources.id
    name           TEXT NOT NULL,                   -- unique in its source: io.github.owner/server, the repository of a
                                                    -- list's entry, the id of a curated one
    title          TEXT,
    description    TEXT NOT NULL DEFAULT '',
    version        TEXT,
    status         TEXT NOT NULL DEFAULT 'active',  -- active, deprecated, deleted
    packages       TEXT NOT NULL DEFAULT '[]',      -- JSON array of objects as in the registry's server.json
    remotes        TEXT NOT NULL DEFAULT '[]',      -- JSON array, the same
    identifiers    TEXT NOT NULL DEFAULT '',        -- of the packages and remotes, separated by spaces
    repository     TEXT,                            -- https URL
    website        TEXT,                            -- http(s) URL
    tags           TEXT NOT NULL DEFAULT '[]',      -- JSON array of strings
    featured       INTEGER NOT NULL DEFAULT 0,      -- 0 or 1
    published_at   INTEGER,                         -- as the source says
    updated_at     INTEGER,                         -- as the source says
    first_seen_at  INTEGER NOT NULL,
    last_seen_at   INTEGER NOT NULL,                -- when a pass last told of it; increments tell of what changed only
    removed_at     INTEGER,                         -- not NULL: the source has it no more
    stars          INTEGER,                         -- of the repository
    downloads      INTEGER,                         -- of the first npm or PyPI package, as the configured URL counts them
    last_commit_at INTEGER,
    enriched_at    INTEGER,                         -- last looked at, found or not
    enriched_etag  TEXT,
    popularity     INTEGER NOT NULL DEFAULT 0,      -- see score.rs
    priority       INTEGER NOT NULL DEFAULT 0,      -- see score.rs; the order of lists: priority DESC, id
    fingerprint    BLOB NOT NULL                    -- of everything that the source says, to see changes
);

CREATE INDEX entries_listed ON entries (removed_at, priority DESC, id);
CREATE INDEX entries_of_source ON entries (source, removed_at);
CREATE INDEX entries_by_repository ON entries (repository);

-- What happened to entries, the newest 5,000. The first filling of a source is not told.
CREATE TABLE changes (
    n        INTEGER PRIMARY KEY AUTOINCREMENT,
    at       INTEGER NOT NULL,
    entry_id TEXT NOT NULL,
    source   TEXT NOT NULL,
    name     TEXT NOT NULL,
    kind     TEXT NOT NULL,                         -- added, updated, removed, restored
    fields   TEXT NOT NULL DEFAULT '[]'             -- JSON array of columns (updated)
);

-- The search index, over entries that are not removed. Weights: see above.
CREATE VIEW searchable AS
    SELECT n, name, coalesce(title, '') AS title, description, tags, identifiers FROM entries WHERE removed_at IS NULL;

CREATE VIRTUAL TABLE entries_fts USING fts5 (
    name, title, description, tags, identifiers,
    content = 'searchable', content_rowid = 'n', prefix = '2 3', tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TRIGGER entries_added AFTER INSERT ON entries WHEN new.removed_at IS NULL BEGIN
    INSERT INTO entries_fts (rowid, name, title, description, tags, identifiers)
    VALUES (new.n, new.name, coalesce(new.title, ''), new.description, new.tags, new.identifiers);
END;

CREATE TRIGGER entries_leave_index
BEFORE UPDATE OF name, title, description, tags, identifiers, removed_at ON entries WHEN old.removed_at IS NULL BEGIN
    INSERT INTO entries_fts (entries_fts, rowid, name, title, description, tags, identifiers)
    VALUES ('delete', old.n, old.name, coalesce(old.title, ''), old.description, old.tags, old.identifiers);
END;

CREATE TRIGGER entries_enter_index
AFTER UPDATE OF name, title, description, tags, identifiers, removed_at ON entries WHEN new.removed_at IS NULL BEGIN
    INSERT INTO entries_fts (rowid, name, title, description, tags, identifiers)
    VALUES (new.n, new.name, coalesce(new.title, ''), new.description, new.tags, new.identifiers);
END;

CREATE TRIGGER entries_deleted BEFORE DELETE ON entries WHEN old.removed_at IS NULL BEGIN
    INSERT INTO entries_fts (entries_fts, rowid, name, title, description, tags, identifiers)
    VALUES ('delete', old.n, old.name, coalesce(old.title, ''), old.description, old.tags, old.identifiers);
END;

PRAGMA user_version = 1;
