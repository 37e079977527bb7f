package import SQLite

extension SQLiteSchema {
    /// The tables of the index, with the data that outlives segments or that segments lack. Times are UNIX
    /// milliseconds, minutes and hours those since 1970. In `minute`, `accepted` and `open_wait`, `app` and `code` are
    /// numbers of `word`.
    package static let historyIndex = SQLiteSchema(
        application: 0x4d74_6869,
        steps: [
            """
            CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
            CREATE TABLE word (n INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
            CREATE TABLE minute (
              minute INTEGER NOT NULL,
              app INTEGER NOT NULL,
              outcome INTEGER NOT NULL,
              code INTEGER NOT NULL,
              count INTEGER NOT NULL,
              PRIMARY KEY (minute, app, outcome, code)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE accepted (app INTEGER PRIMARY KEY, at INTEGER NOT NULL) STRICT;
            CREATE TABLE boot (
              id_high INTEGER NOT NULL,
              id_low INTEGER NOT NULL,
              worker TEXT NOT NULL,
              sequence INTEGER NOT NULL,
              last_at INTEGER NOT NULL,
              state INTEGER NOT NULL,
              PRIMARY KEY (id_high, id_low)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE gap (
              n INTEGER PRIMARY KEY,
              id_high INTEGER NOT NULL,
              id_low INTEGER NOT NULL,
              worker TEXT NOT NULL,
              from_at INTEGER NOT NULL,
              until_at INTEGER NOT NULL,
              reason TEXT NOT NULL,
              count INTEGER
            ) STRICT;
            CREATE TABLE dead_group (
              n INTEGER PRIMARY KEY,
              class TEXT NOT NULL,
              code TEXT NOT NULL,
              app TEXT,
              path TEXT,
              count INTEGER NOT NULL,
              first_at INTEGER NOT NULL,
              last_at INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE dead_hour (
              grp INTEGER NOT NULL,
              hour INTEGER NOT NULL,
              count INTEGER NOT NULL,
              PRIMARY KEY (grp, hour)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE open_wait (
              id_high INTEGER NOT NULL,
              id_low INTEGER NOT NULL,
              app INTEGER NOT NULL,
              code INTEGER NOT NULL,
              at INTEGER NOT NULL,
              until INTEGER NOT NULL,
              PRIMARY KEY (id_low, id_high)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX open_wait_code ON open_wait (code, app, at);
            CREATE INDEX open_wait_until ON open_wait (until);
            CREATE TABLE tombstone (
              key_high INTEGER NOT NULL,
              key_low INTEGER NOT NULL,
              at INTEGER NOT NULL,
              PRIMARY KEY (key_high, key_low)
            ) STRICT, WITHOUT ROWID
            """
        ])
}
