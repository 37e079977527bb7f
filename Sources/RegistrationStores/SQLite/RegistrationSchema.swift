import SQLite

extension SQLiteSchema {
    /// The tables of a store. Keys are blobs of 16 bytes, which sort in the order of `UUIDValue`. Times are UNIX
    /// milliseconds.
    ///
    /// WITHOUT ROWID stores a row in the index of its primary key. A search by this key therefore needs one index. The
    /// indexes of `user_key` and `device_key` contain whole primary keys.
    static let registrations = SQLiteSchema(
        application: 0x4d74_6c74,
        steps: [
            """
            CREATE TABLE registration (
              token_key BLOB NOT NULL,
              slot BLOB NOT NULL,
              user_key BLOB,
              device_key BLOB,
              scope_key BLOB,
              registered_at INTEGER NOT NULL,
              ended_at INTEGER,
              expires_at INTEGER,
              suspect_since INTEGER,
              suspicions INTEGER NOT NULL,
              app INTEGER NOT NULL,
              environment INTEGER NOT NULL,
              kind INTEGER NOT NULL,
              platform INTEGER,
              key_id INTEGER,
              ciphertext BLOB,
              PRIMARY KEY (token_key, slot)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX registration_user ON registration (user_key) WHERE user_key IS NOT NULL;
            CREATE INDEX registration_device ON registration (device_key) WHERE device_key IS NOT NULL;
            CREATE INDEX registration_expires ON registration (expires_at) WHERE expires_at IS NOT NULL;
            CREATE INDEX registration_ended ON registration (ended_at) WHERE ended_at IS NOT NULL;
            CREATE TABLE ended (
              key BLOB NOT NULL PRIMARY KEY,
              at INTEGER NOT NULL,
              permanent INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX ended_at ON ended (at) WHERE permanent = 0;
            CREATE TABLE event (
              event BLOB NOT NULL PRIMARY KEY,
              at INTEGER NOT NULL,
              handed_out INTEGER NOT NULL,
              key_id INTEGER NOT NULL,
              ciphertext BLOB NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX event_at ON event (at);
            CREATE TABLE app (
              id INTEGER PRIMARY KEY,
              bundle_id TEXT NOT NULL UNIQUE
            ) STRICT
            """
        ])
}
