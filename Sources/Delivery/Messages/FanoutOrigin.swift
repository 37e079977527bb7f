import AMQP
import Crypto
import Registrations

/// The origin of a child request: the request to users from which a worker made it, and the registration of its device.
///
/// The headers of a child contain the origin. They survive waits, the quarantine, dead letters and redrives.
///
/// A class, so that a record without an origin stores only an empty reference.
final class FanoutOrigin: Sendable {
    /// The id of the request to users.
    let requestID: UUIDValue
    /// The first owner of the token among the users of the request. Results name this owner, also after a sign-out,
    /// because consumers count each pair of id and user. A secret.
    let user: String
    /// The other owners; empty unless the token is shared. Secrets.
    let otherOwners: [String]
    /// The key of the registration's token in the store.
    let registration: UUIDValue
    /// The time of the registration, in UNIX milliseconds.
    let registeredAtMilliseconds: Int64
    /// The time of the first lookup for the child's chunk, in UNIX milliseconds.
    let expandedAtMilliseconds: Int64
    /// Whether the child goes to the only device of a single user. The request of such a child has no report.
    let isOnlyDevice: Bool
    let kind: TokenKind
    /// The scope of the token; nil for kinds without a scope.
    let scope: String?

    init(
        requestID: UUIDValue, user: String, otherOwners: [String] = [], registration: UUIDValue,
        registeredAtMilliseconds: Int64, expandedAtMilliseconds: Int64, isOnlyDevice: Bool,
        kind: TokenKind = .device, scope: String? = nil
    ) {
        (self.requestID, self.user, self.otherOwners) = (requestID, user, otherOwners)
        self.registration = registration
        self.registeredAtMilliseconds = registeredAtMilliseconds
        self.expandedAtMilliseconds = expandedAtMilliseconds
        self.isOnlyDevice = isOnlyDevice
        (self.kind, self.scope) = (kind, scope)
    }

    /// Reads the origin of a delivery; nil unless a worker with the same AMQP user published the delivery as a child.
    /// The headers of a producer are not trusted.
    convenience init?(_ properties: MessageProperties, trusting worker: WorkerIdentity) {
        guard let requestID = properties.uuid(MessageHeaderName.requestID), worker.published(properties),
            let user = properties.header(MessageHeaderName.user)?.stringValue,
            let registration = properties.uuid(MessageHeaderName.registration),
            let registeredAt = properties.header(MessageHeaderName.registeredAt)?.integerValue,
            let expandedAt = properties.header(MessageHeaderName.expandedAt)?.integerValue
        else { return nil }
        self.init(
            requestID: requestID, user: user, otherOwners: properties.otherOwners, registration: registration,
            registeredAtMilliseconds: registeredAt, expandedAtMilliseconds: expandedAt,
            isOnlyDevice: properties.header(MessageHeaderName.onlyDevice)?.booleanValue ?? false,
            kind: properties.header(MessageHeaderName.tokenKind)?.stringValue.flatMap { TokenKind(rawValue: $0) }
                ?? .device,
            scope: properties.header(MessageHeaderName.scope)?.stringValue)
    }

    var owners: [String] { [user] + otherOwners }

    /// Returns whether the lookup was too long ago at `now`, in UNIX milliseconds.
    func isStale(atMilliseconds now: Int64) -> Bool {
        // The header may contain any number, so `now - expandedAtMilliseconds` could overflow.
        expandedAtMilliseconds < now - AudienceExpander.staleSecondsMin * 1000
    }

    /// Appends the headers that `init(_:trusting:)` reads.
    func append(to headers: inout FieldTable) {
        headers.append(MessageHeaderName.requestID, .string(requestID.description))
        // The user is at most 256 bytes long, and must not be cut.
        headers.append(MessageHeaderName.user, .string(user))
        if !otherOwners.isEmpty {
            headers.append(MessageHeaderName.otherOwners, .array(otherOwners.map { .string($0) }))
        }
        headers.append(MessageHeaderName.registration, .string(registration.description))
        headers.append(MessageHeaderName.registeredAt, .integer(registeredAtMilliseconds))
        headers.append(MessageHeaderName.expandedAt, .integer(expandedAtMilliseconds))
        if isOnlyDevice { headers.append(MessageHeaderName.onlyDevice, .boolean(true)) }
        if kind != .device { headers.append(MessageHeaderName.tokenKind, .string(kind.rawValue)) }
        if let scope { headers.append(MessageHeaderName.scope, .string(scope)) }
    }
}

extension DeliveryRecord {
    /// Records the origin if the request is a child.
    ///
    /// - Parameter worker: Not evaluated for a request without headers.
    func readFanoutOrigin(trusting worker: @autoclosure () -> WorkerIdentity) {
        guard delivery.properties.hasHeaders else { return }
        fanoutOrigin = FanoutOrigin(delivery.properties, trusting: worker())
    }
}

extension MessageProperties {
    fileprivate var otherOwners: [String] {
        guard case .array(let values) = header(MessageHeaderName.otherOwners) else { return [] }
        return values.prefix(FanoutChunk.ownersMax - 1).compactMap(\.stringValue)
    }

    fileprivate func uuid(_ name: String) -> UUIDValue? { header(name)?.stringValue.flatMap { UUIDValue($0) } }
}
