import SQLite

extension SQLiteSchema {
    /// The tables of a segment. Times are UNIX milliseconds. `received`, `sent` and `published` are differences from
    /// `at`. `id_high` and `id_low` are the halves of an id. `app`, `code`, `worker`, `queue` and `push_type` are
    /// numbers of `word`.
    ///
    /// The index of ids contains only their low halves, and the index of tokens only the 40 clear bits.
    static let segment = SQLiteSchema(
        application: 0x4d74_6873,
        steps: [
            """
            CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
            CREATE TABLE word (n INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
            CREATE TABLE line (
              n INTEGER PRIMARY KEY,
              at INTEGER NOT NULL,
              kind INTEGER NOT NULL,
              id_high INTEGER,
              id_low INTEGER,
              app INTEGER,
              outcome INTEGER,
              code INTEGER,
              worker INTEGER,
              queue INTEGER,
              token_prefix INTEGER,
              token_key INTEGER,
              user_key INTEGER,
              identity BLOB,
              status INTEGER,
              attempts INTEGER,
              received INTEGER,
              sent INTEGER,
              published INTEGER,
              push_type INTEGER,
              flags INTEGER,
              details BLOB
            ) STRICT;
            CREATE INDEX line_id ON line (id_low) WHERE id_low IS NOT NULL;
            CREATE INDEX line_token ON line (token_prefix) WHERE token_prefix IS NOT NULL;
            CREATE INDEX line_user ON line (user_key) WHERE user_key IS NOT NULL;
            CREATE INDEX line_code ON line (code) WHERE code IS NOT NULL;
            CREATE TABLE sample (
              n INTEGER PRIMARY KEY,
              at INTEGER NOT NULL,
              grp INTEGER NOT NULL,
              id_high INTEGER,
              id_low INTEGER,
              token_key INTEGER,
              user_key INTEGER,
              content BLOB NOT NULL
            ) STRICT;
            CREATE INDEX sample_group ON sample (grp)
            """
        ])
}
