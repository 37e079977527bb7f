public import Crypto
import JSON

/// The secrets of a store. Lookup keys are derived from the index key. Data keys encrypt rows and events.
///
/// A key file is a JSON object:
///
/// ```json
/// {"index_key": "<32 bytes in Base64>", "active_key": 1, "data_keys": [{"id": 1, "key": "<32 bytes in Base64>"}]}
/// ```
///
/// The data key with the id `active_key` encrypts. The other data keys only decrypt. Activate a new key only after all
/// workers have it. Without `active_key`, the key with the highest id encrypts. The index key is permanent. With
/// another one, lookups find no rows.
///
/// The optional member `newest_key` is the highest id that the file has ever had. A file has this member after the
/// removal of that key, so that no new key gets the id.
public struct RegistrationKeys: Sendable, Equatable {
    /// Length of each key in bytes.
    public static let keyBytes = 32
    /// Maximum number of data keys in a file.
    public static let dataKeysMax = 100
    /// The valid ids of data keys. PostgreSQL stores an id as a `smallint`.
    public static let dataKeyIDs = 1...32_767
    /// Maximum size of a key file in bytes.
    public static let fileBytesMax = 65_536

    struct DataKey: Sendable, Equatable {
        var id: Int
        var key: [UInt8]
    }

    let indexKey: [UInt8]
    /// The data keys in ascending order of their ids; not empty.
    let dataKeys: [DataKey]
    /// The id of the data key that encrypts.
    public let activeKeyID: Int
    /// The highest id of a data key that the file has or had.
    public let newestKeyID: Int

    /// Reads the content of a key file.
    ///
    /// - Parameter source: The path of the file, for error messages.
    /// - Throws: `malformed`.
    public init(json: [UInt8], source: String) throws(RegistrationKeysError) {
        func malformed(_ reason: String) -> RegistrationKeysError {
            RegistrationKeysError(
                .malformed,
                "cannot read keys from \(source): \(reason); restore the file from a backup, because rows cannot be "
                    + "read without the keys")
        }
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(json, limits: JSONLimits(bytesMax: Self.fileBytesMax, depthMax: 4))
        } catch {
            throw malformed("the text is not JSON, at line \(error.position.line), column \(error.position.column)")
        }
        let file: KeyFile
        do throws(InputError) {
            file = try KeyFile.codec.read(document.root)
        } catch {
            // The reason omits the error, which may quote a key.
            let line = error.node.map { " at line \(document.position(ofNode: $0).line)" } ?? ""
            throw malformed("a member is missing, unknown or invalid\(line)")
        }
        let dataKeys = file.dataKeys.sorted { $0.id < $1.id }
        guard (1...Self.dataKeysMax).contains(dataKeys.count) else {
            throw malformed("the file has \(dataKeys.count) data keys instead of 1 to \(Self.dataKeysMax)")
        }
        for (key, next) in zip(dataKeys, dataKeys.dropFirst()) where key.id == next.id {
            throw malformed("two data keys have the id \(key.id)")
        }
        guard !dataKeys.contains(where: { $0.key == file.indexKey }) else {
            throw malformed("a data key equals the index key")
        }
        let activeKeyID = file.activeKey ?? dataKeys[dataKeys.count - 1].id
        guard dataKeys.contains(where: { $0.id == activeKeyID }) else {
            throw malformed("active_key is \(activeKeyID), and no data key has this id")
        }
        (self.indexKey, self.dataKeys, self.activeKeyID) = (file.indexKey, dataKeys, activeKeyID)
        newestKeyID = max(file.newestKey ?? 0, dataKeys[dataKeys.count - 1].id)
    }

    /// Returns the text of a key file with random keys and one data key.
    ///
    /// - Throws: `failed` if OpenSSL cannot generate the keys.
    public static func generatedFile() throws(CryptoError) -> [UInt8] {
        KeyFile(
            indexKey: try SecureRandom.bytes(count: keyBytes), activeKey: dataKeyIDs.lowerBound,
            dataKeys: [DataKey(id: dataKeyIDs.lowerBound, key: try SecureRandom.bytes(count: keyBytes))]
        ).text
    }

    /// The members of a key file.
    struct KeyFile: Sendable {
        var indexKey: [UInt8] = []
        var activeKey: Int?
        var newestKey: Int?
        var dataKeys: [DataKey] = []

        var text: [UInt8] {
            var json = JSONWriter()
            Self.codec.write(self, to: &json)
            return json.bytes + [UInt8(ascii: "\n")]
        }

        private static let key = ValueCodec<String>.text.mapped(
            "32 bytes in Base64",
            read: { text in Base64.decode(text).flatMap { $0.count == keyBytes ? $0 : nil } },
            write: { Base64.encode($0) })

        private static let dataKey = ObjectCodec(
            "a data key", from: DataKey(id: 0, key: []),
            [.required("id", \.id, .int(dataKeyIDs)), .required("key", \.key, key)])

        static let codec = ObjectCodec(
            "a key file", from: KeyFile(),
            [
                .required("index_key", \.indexKey, key),
                .optional("active_key", \.activeKey, .int(dataKeyIDs)),
                .optional("newest_key", \.newestKey, .int(dataKeyIDs)),
                .required("data_keys", \.dataKeys, .list(of: dataKey.value, "a data key")),
            ])
    }
}
