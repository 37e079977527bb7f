import APNSProtocol
import Crypto
package import JSON

/// A line of an export that contains an end. Its hashes have a meaning only for the index key with which they were
/// computed.
struct EndLine: Equatable, Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case tombstone
        case mark
    }

    private var end = Kind.mark
    /// The fingerprint of the index key.
    private(set) var indexKey = ""
    private var key = Registration.Key.unshared
    private var endedAt: Int64 = 0
    private var isPermanent = false
    private var slot = Registration.Key.unshared
    private var app = ""
    private var environment: APNSEnvironment?
    private var kind: TokenKind?
    private var registeredAt: Int64 = 0
    private var deviceKey: UUIDValue?

    private static let times: ClosedRange<Int64> = 0...Int64.max
    private static let uuid = ValueCodec<String>.text.mapped(
        "a UUID", read: { UUIDValue($0) }, write: { $0.description })

    static let codec = ObjectCodec(
        "an end", from: EndLine(),
        [
            .required(StoredEnd.lineMember, \.end, .word),
            .required("index_key", \.indexKey, .text),
            .required("key", \.key, uuid),
            .required("ended_at", \.endedAt, .int(times)),
            .member("permanent", \.isPermanent, .bool, omitting: false),
            .member("slot", \.slot, uuid, omitting: Registration.Key.unshared),
            .member("app", \.app, .text, omitting: ""),
            .optional("environment", \.environment, .word),
            .optional("kind", \.kind, .word),
            .member("registered_at", \.registeredAt, .int(times), omitting: 0),
            .optional("device_key", \.deviceKey, uuid),
        ])

    private init() {}

    init(_ stored: StoredEnd, indexKey: String) {
        self.indexKey = indexKey
        switch stored {
        case .mark(let mark):
            (end, key, endedAt, isPermanent) = (.mark, mark.key, mark.at, mark.isPermanent)
        case .tombstone(let row):
            (end, key, slot) = (.tombstone, row.key.token, row.key.slot)
            endedAt = row.endedAt ?? row.registeredAt
            (app, environment, kind) = (row.app, row.environment, row.kind)
            (registeredAt, deviceKey) = (row.registeredAt, row.deviceKey)
        }
    }

    /// The end; nil for a tombstone without app, environment or kind.
    var stored: StoredEnd? {
        switch end {
        case .mark: return .mark(EndMark(key: key, at: endedAt, isPermanent: isPermanent))
        case .tombstone:
            guard !app.isEmpty, let environment, let kind else { return nil }
            return .tombstone(
                Registration(
                    key: Registration.Key(token: key, slot: slot), app: app, environment: environment, kind: kind,
                    registeredAt: registeredAt, deviceKey: deviceKey, state: .ended(at: endedAt)))
        }
    }
}

extension StoredEnd {
    /// The member that distinguishes the line of an end from the line of a command.
    package static let lineMember = "end"

    /// Returns the line of an export, without its line end.
    ///
    /// - Parameter indexKey: The fingerprint of the index key.
    package func line(indexKey: String) -> [UInt8] {
        var json = JSONWriter()
        EndLine.codec.write(EndLine(self, indexKey: indexKey), to: &json)
        return json.bytes
    }

    /// Reads a line of an export.
    ///
    /// - Parameter indexKey: The fingerprint of the store's index key.
    /// - Throws: ``CommandViolation`` if the JSON is not a valid end, or if the end belongs to another index key.
    package init(_ json: JSONValue, indexKey: String) throws(CommandViolation) {
        let line: EndLine
        do throws(InputError) {
            line = try EndLine.codec.read(json)
        } catch {
            throw CommandViolation(
                .schema, Self.lineMember, "The end has a missing, unknown or invalid member; export it again.")
        }
        guard line.indexKey == indexKey else {
            throw CommandViolation(
                .schema, Self.lineMember, path: "/index_key",
                "The end belongs to a store with another index key; without that key, it has no meaning.")
        }
        guard let stored = line.stored else {
            throw CommandViolation(
                .schema, Self.lineMember, "The tombstone has no app, environment or kind; export it again.")
        }
        self = stored
    }
}
