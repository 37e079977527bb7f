import Crypto

extension RegistrationKeys {
    /// A change of the data keys of a file.
    public enum Edit: Sendable, Hashable {
        /// Adds a random data key, which only decrypts. Its id is one above the highest.
        case add
        /// Makes a data key the one that encrypts.
        case activate(Int)
        /// Removes a data key that only decrypts.
        case remove(Int)
    }

    /// The highest id of a data key.
    public var newestKeyID: Int { dataKeys[dataKeys.count - 1].id }

    /// Returns the text of a key file after a change.
    ///
    /// - Throws: `invalidEdit` if the keys do not permit the change, or if the system has no entropy. The message is
    ///   the reason only.
    public func file(after edit: Edit) throws(RegistrationKeysError) -> [UInt8] {
        var file = KeyFile(indexKey: indexKey, activeKey: activeKeyID, dataKeys: dataKeys)
        switch edit {
        case .add: file.dataKeys.append(try newDataKey())
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
        return file.text
    }

    private func newDataKey() throws(RegistrationKeysError) -> DataKey {
        guard dataKeys.count < Self.dataKeysMax, Self.dataKeyIDs.contains(newestKeyID + 1) else {
            throw RegistrationKeysError(
                .invalidEdit,
                "it has \(Self.dataKeysMax) data keys, or one with the highest id; remove data keys that encrypt no row"
            )
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
