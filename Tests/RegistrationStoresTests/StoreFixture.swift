import Crypto
import EventLoop
import Registrations

/// A store under test, which is empty at first.
protocol StoreFixture: Sendable {
    /// Returns a new reader and a new writer of the store, as a separate process would create them.
    func open(_ keys: RegistrationKeys, on loop: EpollLoop) throws -> StoreClient

    /// Exchanges `key_id` and `ciphertext` of two rows of the table `registration`. No client may be open.
    func exchangeCiphertexts(_ first: Registration.Key, _ second: Registration.Key) async throws

    /// Gives the rows of a token a kind that only a newer version of Martlet knows. No client may be open.
    func makeUnknown(_ token: UUIDValue) async throws
}

extension RegistrationKeys {
    /// Returns keys that are the same in each run.
    ///
    /// - Parameters:
    ///   - dataKeys: The ids of the data keys.
    ///   - active: The id of the key that encrypts; nil for the last one.
    static func sample(dataKeys: [Int] = [1], active: Int? = nil) throws -> RegistrationKeys {
        func key(_ byte: Int) -> String { Base64.encode([UInt8](repeating: UInt8(byte), count: keyBytes)) }
        let list = dataKeys.map { #"{"id":\#($0),"key":"\#(key($0))"}"# }.joined(separator: ",")
        let active = active.map { #""active_key":\#($0),"# } ?? ""
        let file = #"{"index_key":"\#(key(200))",\#(active)"data_keys":[\#(list)]}"#
        return try RegistrationKeys(json: Array(file.utf8), source: "test")
    }
}
