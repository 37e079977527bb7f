import APNSProtocol
public import Crypto

/// A converter of registrations and events into rows of a store, and back. Use an instance on one thread at a time.
public final class RowCoder {
    private let cipher: RowCipher
    /// The number of unreadable rows and events so far.
    public private(set) var unreadableCount = 0

    /// Creates a coder with the keys of a key file.
    ///
    /// - Throws: `failed` if OpenSSL fails.
    public init(_ keys: RegistrationKeys) throws(CryptoError) {
        cipher = try RowCipher(keys)
    }

    /// The id of the data key that encrypts.
    public var activeKeyID: Int { cipher.activeKeyID }

    /// The ids of the data keys in the key file, in ascending order.
    public var keyIDs: [Int] { cipher.keyIDs }

    /// Checks that the key file has the data keys of rows. Without the identity of a row, a command would miss the
    /// installation that it ends, and change the row without its event.
    public func requireKeys(of rows: some Sequence<StoredRow>) throws(MissingDataKey) {
        for row in rows {
            if let id = row.sealed?.keyID, !cipher.hasKey(id) { throw MissingDataKey(id: id) }
        }
    }

    /// Returns the row of a registration. Keeps the ciphertext of the stored row if its identity and user key are
    /// the same.
    ///
    /// - Parameters:
    ///   - app: The number of the app.
    ///   - stored: The stored row with the same key, and its registration; nil for a new row.
    /// - Throws: ``CryptoError`` if the identity cannot be encrypted.
    public func row(
        of registration: Registration, app: Int, replacing stored: (row: StoredRow, registration: Registration)?
    ) throws(CryptoError) -> StoredRow {
        var row = StoredRow(
            key: registration.key, deviceKey: registration.deviceKey, registeredAt: registration.registeredAt,
            endedAt: registration.endedAt, app: app, environment: registration.environment.number,
            kind: registration.kind.number)
        guard let details = registration.details else { return row }
        (row.userKey, row.scopeKey, row.expiresAt) = (details.userKey, details.scopeKey, details.expiresAt)
        (row.suspicions, row.suspectSince) = (details.suspicion?.count ?? 0, details.suspicion?.since)
        row.platform = details.platform?.number
        let previous = stored?.registration.details
        if let sealed = stored?.row.sealed, previous?.userKey == details.userKey, previous?.identity == details.identity
        {
            row.sealed = sealed
        } else if let identity = details.identity {
            row.sealed = try cipher.seal(identity, of: row.key, userKey: details.userKey)
        }
        return row
    }

    /// Returns the registration of a row; nil if the environment or kind is unknown, because a newer version of Martlet
    /// wrote the row.
    public func registration(of row: StoredRow, app: String) -> Registration? {
        guard let environment = APNSEnvironment(number: row.environment), let kind = TokenKind(number: row.kind) else {
            return nil
        }
        let state: Registration.State
        if let userKey = row.userKey {
            state = .live(
                Registration.Details(
                    userKey: userKey, scopeKey: row.scopeKey, identity: identity(of: row, userKey: userKey),
                    platform: row.platform.flatMap { DevicePlatform(number: $0) }, expiresAt: row.expiresAt,
                    suspicion: row.suspectSince.map { Suspicion(count: row.suspicions, since: $0) }))
        } else {
            state = .ended(at: row.endedAt ?? row.registeredAt)
        }
        return Registration(
            key: row.key, app: app, environment: environment, kind: kind, registeredAt: row.registeredAt,
            deviceKey: row.deviceKey, state: state)
    }

    /// Returns the row with its identity encrypted by the active data key. Returns nil if that key already encrypts the
    /// identity, or if the row is a tombstone or unreadable.
    ///
    /// - Throws: ``CryptoError`` if the identity cannot be encrypted.
    public func rekeyed(_ row: StoredRow) throws(CryptoError) -> StoredRow? {
        guard let userKey = row.userKey, row.sealed?.keyID != activeKeyID,
            let identity = identity(of: row, userKey: userKey)
        else { return nil }
        var row = row
        row.sealed = try cipher.seal(identity, of: row.key, userKey: userKey)
        return row
    }

    /// Returns the device of a live row that a lookup found; nil if the row is not authentic or OpenSSL fails.
    ///
    /// - Parameter keyID: The id of the data key that encrypted `ciphertext`.
    /// - Throws: The data key of the row if the key file lacks it.
    public func device(
        key: Registration.Key, userKey: UUIDValue, registeredAt: Int64, keyID: Int, ciphertext: UnsafeRawBufferPointer
    ) throws(MissingDataKey) -> FoundDevice? {
        do throws(RowCipher.OpenError) {
            let digits = try cipher.openToken(ciphertext, keyID: keyID, of: key, userKey: userKey)
            return FoundDevice(key: key, tokenDigits: digits, registeredAt: registeredAt)
        } catch {
            if case .unknownKey(let id) = error { throw MissingDataKey(id: id) }
            unreadableCount += 1
            return nil
        }
    }

    /// Returns the device of a live row that a lookup found; nil if the row is not authentic or OpenSSL fails.
    ///
    /// - Throws: The data key of the row if the key file lacks it.
    public func device(
        key: Registration.Key, userKey: UUIDValue, registeredAt: Int64, sealed: RowCipher.Sealed
    ) throws(MissingDataKey) -> FoundDevice? {
        let found = sealed.ciphertext.withUnsafeBytes { ciphertext in
            Result { () throws(MissingDataKey) in
                try device(
                    key: key, userKey: userKey, registeredAt: registeredAt, keyID: sealed.keyID, ciphertext: ciphertext)
            }
        }
        return try found.get()
    }

    /// Encrypts an event for the table `event`.
    ///
    /// - Throws: `failed` if OpenSSL fails.
    public func seal(_ event: StoredEvent) throws(CryptoError) -> RowCipher.Sealed {
        try cipher.seal(Array(event.app.utf8) + [0] + event.body, ofEvent: event.id)
    }

    /// Returns the event of a row; nil if it is not authentic or OpenSSL fails.
    ///
    /// - Throws: The data key of the event if the key file lacks it.
    public func event(
        id: UUIDValue, sealed: RowCipher.Sealed, mayBeDuplicate: Bool
    ) throws(MissingDataKey) -> StoredEvent? {
        guard cipher.hasKey(sealed.keyID) else { throw MissingDataKey(id: sealed.keyID) }
        guard let text = try? cipher.open(sealed, ofEvent: id), let end = text.firstIndex(of: 0) else {
            unreadableCount += 1
            return nil
        }
        return StoredEvent(
            id: id, app: String(decoding: text[..<end], as: UTF8.self), body: Array(text[(end + 1)...]),
            mayBeDuplicate: mayBeDuplicate)
    }

    private func identity(of row: StoredRow, userKey: UUIDValue) -> RegistrationIdentity? {
        guard let sealed = row.sealed else {
            unreadableCount += 1
            return nil
        }
        if let identity = try? cipher.open(sealed, of: row.key, userKey: userKey) { return identity }
        unreadableCount += 1
        return nil
    }
}
