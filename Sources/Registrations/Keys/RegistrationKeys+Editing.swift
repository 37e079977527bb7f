import Crypto

extension RegistrationKeys {
    /// A change of the data keys of a file.
    public enum Edit: Sendable, Hashable {
        /// Adds a random data key, which only decrypts. Its id is one above the highest that the file has
        /// ever had.
        case add
        /// Activates a data key, which then encrypts.
        case activate(Int)
        /// Removes a data key that only decrypts.
        case remove(Int)
    }

    /// Returns the text of a key file after a change.
    ///
    /// - Throws: `invalidEdit` if the keys do not permit the change, or if OpenSSL cannot generate a key. The message
    ///   is the reason only.
    public func file(after edit: Edit) throws(RegistrationKeysError) -> [UInt8] {
        var file = KeyFile(indexKey: indexKey, activeKey: activeKeyID, newestKey: newestKeyID, dataKeys: dataKeys)
        switch edit {
        case .add:
            let key = try newDataKey()
            file.dataKeys.append(key)
            file.newestKey = key.id
        case .activate(let id):
            try requireKey(id)
            file.activeKey = id
        case .remove(let id):
            try requireKey(id)
            guard id != activeKeyID else {
                throw RegistrationKeysError(
                    .invalidEdit, "data key \(id) is active; activate another one, and rekey the store first")
            }
            file.dataKeys.removeAll { $0.id == id }
        }
        // Omit a redundant `newest_key`, because earlier versions of Martlet refuse a file with this member.
        if file.dataKeys.contains(where: { $0.id == file.newestKey }) { file.newestKey = nil }
        return file.text
    }

    private func newDataKey() throws(RegistrationKeysError) -> DataKey {
        guard dataKeys.count < Self.dataKeysMax else {
            throw RegistrationKeysError(
                .invalidEdit, "it has \(Self.dataKeysMax) data keys; remove data keys that encrypt no row")
        }
        // Rows of a backup may still need a removed data key, so no new key gets its id.
        guard Self.dataKeyIDs.contains(newestKeyID + 1) else {
            throw RegistrationKeysError(
                .invalidEdit,
                "it has used the highest id of a data key, \(newestKeyID); export the registrations, create a new key "
                    + "file, and import them into a new store")
        }
        do throws(CryptoError) {
            return DataKey(id: newestKeyID + 1, key: try SecureRandom.bytes(count: Self.keyBytes))
        } catch {
            throw RegistrationKeysError(.invalidEdit, error.message)
        }
    }

    private func requireKey(_ id: Int) throws(RegistrationKeysError) {
        guard dataKeys.contains(where: { $0.id == id }) else {
            let ids = dataKeys.map { "\($0.id)" }.joined(separator: ", ")
            throw RegistrationKeysError(.invalidEdit, "it has no data key \(id) (data keys: \(ids))")
        }
    }
}
