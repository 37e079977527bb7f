import Crypto
import EventLoop
import Registrations

/// A reader of registrations in memory. Like the readers of workers, it hashes users and decrypts rows.
///
/// Loop-bound.
final class CountedReader: RegistrationReader {
    private struct Row {
        let key: Registration.Key
        let sealed: RowCipher.Sealed
    }

    /// The time until the answer to a lookup.
    private static let answerMilliseconds: Int64 = 1
    private static let keyFile = """
        {"index_key": "\(String(repeating: "A", count: 43))=", \
        "data_keys": [{"id": 1, "key": "\(String(repeating: "B", count: 42))A="}]}
        """

    private let loop: EventLoop
    private let index: BlindIndex
    private let coder: RowCoder
    private let registeredAt: Int64
    /// The rows of each user, by `user_key`.
    private var rows: [UUIDValue: [Row]] = [:]

    /// Creates a reader with the registrations of users of an app.
    init(_ users: UserGroup, app: String, on loop: EventLoop) throws {
        self.loop = loop
        registeredAt = loop.now.unixMilliseconds
        let keys = try RegistrationKeys(json: Array(Self.keyFile.utf8), source: "martlet-bench")
        let cipher = try RowCipher(keys)
        (index, coder) = (try BlindIndex(keys), try RowCoder(keys))
        super.init()
        for number in 0..<users.deviceCount {
            var device = users.registration(number, at: registeredAt)
            device.address.app = app
            let identity = RegistrationIdentity(
                token: device.address.token, user: device.user, deviceID: device.deviceID)
            let key = Registration.Key(token: try index.tokenKey(device.address))
            let userKey = try index.userKey(app: app, user: device.user)
            rows[userKey, default: []].append(
                Row(key: key, sealed: try cipher.seal(identity, of: key, userKey: userKey)))
        }
        rows = rows.mapValues { rows in rows.sorted { $0.key < $1.key } }
    }

    override func start(onChange: @escaping (StoreFault?) -> Void) { loop.later { onChange(nil) } }

    override func lookUp(_ lookup: DeviceLookup) {
        do throws(CryptoError) {
            var keys: [UUIDValue] = []
            keys.reserveCapacity(lookup.queries.count)
            for query in lookup.queries { keys.append(try index.userKey(app: query.app, user: query.user)) }
            loop.schedule(after: .milliseconds(Self.answerMilliseconds)) { [self, keys] in answer(lookup, keys) }
        } catch {
            lookup.failed(StoreFault(.refused, "cannot hash a user: OpenSSL failed"))
        }
    }

    private func answer(_ lookup: DeviceLookup, _ keys: [UUIDValue]) {
        var devices = [[FoundDevice]](repeating: [], count: keys.count)
        for (query, userKey) in keys.enumerated() {
            for row in rows[userKey] ?? [] {
                do throws(MissingDataKey) {
                    let device = try coder.device(
                        key: row.key, userKey: userKey, registeredAt: registeredAt, sealed: row.sealed)
                    if let device { devices[query].append(device) }
                } catch {
                    lookup.fail(query: query, StoreFault(error))
                }
            }
        }
        lookup.completed(devices)
    }

    override func close() async {}
}
