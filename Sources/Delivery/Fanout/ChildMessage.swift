import AMQP
import Crypto
import Registrations

/// The messages of a chunk's children.
struct ChildMessage {
    private let base: OutgoingMessage
    private let expansion: Expansion

    /// Prepares the properties and headers that all children of the chunk have.
    ///
    /// - Parameters:
    ///   - record: The delivery of the request to users.
    ///   - waitID: The wait id of all children of the chunk.
    init(
        for record: DeliveryRecord, _ expansion: Expansion, to place: RequestPlace, waitID: UInt32,
        worker: WorkerIdentity
    ) {
        self.expansion = expansion
        var base = record.republished(exchange: place.exchange, routingKey: place.routingKey)
        // The child of a request in a CloudEvent is not in a CloudEvent.
        if record.event != nil { base.contentType = "application/json" }
        base.headers.append(record.attempts.ofChild(waitID: waitID))
        record.copyDeadline(to: &base.headers)
        record.copyOrigin(worker, to: &base.headers)
        record.copyTraceContext(to: &base.headers)
        record.copyProducersHeaders(to: &base.headers)
        base.headers.entries.removeAll { $0.name == MessageHeaderName.cursor }
        self.base = base
    }

    func message(for child: FanoutChunk.Child) -> OutgoingMessage {
        let template = expansion.template
        let id = template.id(for: child.device)
        var body: [UInt8] = []
        body.reserveCapacity(template.bytesReserved(for: child.device))
        template.append(child.device, id, to: &body)
        var message = base
        message.content = body[...]
        message.messageID = id.description
        if child.mayRepeat {
            message.headers.entries.removeAll { $0.name == MessageHeaderName.possibleDuplicate }
            message.headers.append(MessageHeaderName.possibleDuplicate, .boolean(true))
        }
        FanoutOrigin(
            expansion, child.device, ofUser: child.user, otherOwners: child.otherOwners, isOnlyDevice: false
        ).append(to: &message.headers)
        return message
    }
}

extension FanoutOrigin {
    /// Creates the origin of the child for a device.
    ///
    /// - Parameters:
    ///   - user: The index in the audience of the first user who owns the device.
    ///   - otherOwners: The indices of the other owners.
    convenience init(
        _ expansion: Expansion, _ device: FoundDevice, ofUser user: Int, otherOwners: [Int] = [], isOnlyDevice: Bool
    ) {
        let audience = expansion.audience
        self.init(
            requestID: audience.id, user: audience.users[user],
            otherOwners: otherOwners.isEmpty ? [] : otherOwners.map { audience.users[$0] },
            registration: device.key.token, registeredAtMilliseconds: device.registeredAt,
            expandedAtMilliseconds: expansion.lookedUpAtMilliseconds ?? 0, isOnlyDevice: isOnlyDevice,
            kind: audience.kind, scope: audience.scope)
    }
}

/// The exchange and the routing key that lead a message to a request queue or to the quarantine.
struct RequestPlace: Hashable {
    var exchange: String
    var routingKey: String
}

extension Attempts {
    /// Returns the history that a new child begins with. The history counts one round, since the deadline of a request
    /// without rounds is not read from a header.
    fileprivate func ofChild(waitID: UInt32) -> Attempts {
        var child = Attempts(possibleDuplicate: possibleDuplicate, rounds: 1)
        child.waitID = waitID
        return child
    }
}
