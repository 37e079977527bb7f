import AMQP
import APNS
import APNSProtocol
import Crypto
import JSON
import JSONSchema

/// A reader that returns the request of a delivery or its first violation. It checks size, encoding, JSON, schema,
/// identity, app, environment, limits, and the app's payload schema, in this order. Each lane has its own reader, since
/// a reader holds the memory of a parser and of validators.
final class RequestReader {
    private let apps: AppDirectory
    /// Whether requests to users are valid.
    private let hasRegistrations: Bool
    private let parser: JSONParser
    private let validator: SchemaValidator
    private let names = RequestMembers.names
    private var payloadValidators: PayloadValidators
    /// The suggestion for the last unknown app. It is kept, since a misconfigured producer publishes many requests for
    /// the same app.
    private var unknownApp: (name: String, nearest: String?)?

    init(apps: AppDirectory, payloadSchemas: PayloadSchemas, hasRegistrations: Bool, bytesMax: Int, depthMax: Int) {
        (self.apps, self.hasRegistrations) = (apps, hasRegistrations)
        parser = JSONParser(limits: JSONLimits(bytesMax: bytesMax, depthMax: depthMax))
        validator = SchemaValidator(ContractSchemas.notification)
        payloadValidators = PayloadValidators(payloadSchemas)
    }

    /// Replaces the payload schemas from the next request on.
    func replace(_ payloadSchemas: PayloadSchemas) { payloadValidators = PayloadValidators(payloadSchemas) }

    /// Reads and validates the request. Records its id, app and target in `record` as far as they are readable, even if
    /// the request is invalid.
    func read(_ record: DeliveryRecord) -> Result<ReadRequest, RequestViolation> {
        do throws(RequestViolation) {
            return .success(try request(record))
        } catch {
            record.id = record.id ?? RequestIdentity.of(messageID: record.delivery.properties.messageID)
            return .failure(record.event == nil ? error : error.inEvent)
        }
    }

    private func nearest(to name: String) -> String? {
        if let unknownApp, unknownApp.name == name { return unknownApp.nearest }
        let nearest = apps.nearest(to: name)
        unknownApp = (name, nearest)
        return nearest
    }

    private func request(_ record: DeliveryRecord) throws(RequestViolation) -> ReadRequest {
        guard !record.delivery.isOversized else { throw RequestViolation.oversized }
        if let violation = ContentCoding.violation(of: record.delivery.properties.contentEncoding) {
            identify(record)
            throw violation
        }
        let root = try parse(record.delivery.content)
        var members = RequestMembers(of: root, names)
        record.describe(members, apps)
        if record.id == nil {
            record.id =
                RequestIdentity.of(messageID: record.delivery.properties.messageID)
                ?? CloudEvent(record.delivery.properties)?.requestID
        }
        if let violation = validator.firstViolation(in: root) {
            members = try eventData(in: root, orRefuse: violation, record)
        }
        guard let id = record.id else { throw RequestViolation.anonymous }
        guard case .configured(let app) = record.app else {
            let name = members[.app]?.string ?? ""
            throw RequestViolation.unknownApp(name, nearest: nearest(to: name))
        }
        let named = members[.environment]?.string.flatMap(APNSEnvironment.init(rawValue:))
        let environment = named ?? apps[app].defaultEnvironment
        record.environment = environment
        guard members[.deviceToken] != nil || members[.channelID] != nil else {
            return .audience(try audience(id, app, environment, members, record))
        }
        let (push, kind) = try push(id, app, members, record)
        let route = try route(app, kind, environment)
        try MessageLimits(push).check(payload: members.payload)
        try checkPayload(of: members, app)
        return .push(
            PushRequest(
                push: push, app: app, route: route,
                registeredAtMilliseconds: members[.registeredAt]?.int64
                    ?? record.fanoutOrigin?.registeredAtMilliseconds))
    }

    private func audience(
        _ id: UUIDValue, _ app: AppDirectory.Index, _ environment: APNSEnvironment, _ members: borrowing RequestMembers,
        _ record: DeliveryRecord
    ) throws(RequestViolation) -> Audience {
        guard hasRegistrations else {
            throw RequestViolation.registrationsNotConfigured(isList: members[.users] != nil)
        }
        let pushType = try pushType(members, record)
        let route = try route(app, .device(pushType), environment)
        try AudienceLimits.check(members, pushType)
        let push = try push(id, toToken: [], app, pushType, members, record)
        try MessageLimits(ofAudience: push).check(payload: members.payload)
        try checkPayload(of: members, app)
        return try Audience(
            members, in: record.delivery.content.bytes, app: app, environment: environment, push: push, route: route)
    }

    private func route(
        _ app: AppDirectory.Index, _ kind: AppDirectory.Kind, _ environment: APNSEnvironment
    ) throws(RequestViolation) -> Route {
        let topic = apps.topicIndex(of: app, kind)
        guard let route = apps.route(topic: topic, environment) else {
            throw RequestViolation.unserved(topic: String(decoding: apps.topic(topic), as: UTF8.self), environment)
        }
        return route
    }

    /// Checks the payload by the schema of its app.
    private func checkPayload(
        of members: borrowing RequestMembers, _ app: AppDirectory.Index
    ) throws(RequestViolation) {
        guard let validator = payloadValidators[app], let payload = members.payload,
            let violation = validator.firstViolation(in: payload)
        else { return }
        throw RequestViolation(violation)
    }

    /// Records the identity, app and target from a rejected body, if the body is readable although `content-encoding`
    /// names a compression.
    private func identify(_ record: DeliveryRecord) {
        guard let root = try? parse(record.delivery.content) else { return }
        record.describe(RequestMembers(of: CloudEvent.request(in: root), names), apps)
        record.id =
            record.id ?? RequestIdentity.of(messageID: record.delivery.properties.messageID)
            ?? CloudEvent(root)?.requestID
    }

    private func eventData(
        in root: JSONValue, orRefuse violation: SchemaViolation, _ record: DeliveryRecord
    ) throws(RequestViolation) -> RequestMembers {
        guard let event = CloudEvent(root) else { throw RequestViolation(CloudEvent.explained(violation, in: root)) }
        // The id of the event has the lowest precedence.
        let id = RequestIdentity.of(messageID: record.delivery.properties.messageID)
        record.id = id ?? event.requestID
        guard let data = event.data(in: root) else { throw RequestViolation(CloudEvent.explained(violation, in: root)) }
        record.event = event
        record.id = id
        let members = RequestMembers(of: data, names)
        record.describe(members, apps)
        record.id = record.id ?? event.requestID
        if let violation = validator.firstViolation(in: data) {
            throw RequestViolation(RequestSlip.explained(violation, in: data))
        }
        return members
    }

    private func parse(_ content: MessageContent) throws(RequestViolation) -> JSONValue {
        do throws(JSONError) {
            return try content.withBody { body throws(JSONError) in try parser.parse(body) }
        } catch {
            throw RequestViolation(error, duplicate: content.withBody { error.duplicateKeyPointer(in: $0) })
        }
    }

    private func push(
        _ id: UUIDValue, _ app: AppDirectory.Index, _ members: borrowing RequestMembers, _ record: DeliveryRecord
    ) throws(RequestViolation) -> (push: APNSRequest, kind: AppDirectory.Kind) {
        let pushType = try pushType(members, record)
        let bytes = record.delivery.content.bytes
        if let token = members[.deviceToken] {
            let push = try push(id, toToken: token.text(in: bytes), app, pushType, members, record)
            return (push, .device(pushType))
        }
        guard let channel = members[.channelID] else {
            throw RequestViolation(.schema, "required", "device_token or channel_id is missing.")
        }
        let push = APNSRequest.broadcast(
            channel: channel.text(in: bytes), bundleID: apps.topic(apps.topicIndex(of: app, .broadcast)),
            priority: priority(members), expiration: members[.expiration]?.int64, deadline: record.deadlineSeconds,
            id: id, payload: bytes, payloadRange: try payload(members).sourceRange)
        return (push, .broadcast)
    }

    private func push(
        _ id: UUIDValue, toToken token: ArraySlice<UInt8>, _ app: AppDirectory.Index, _ pushType: PushType,
        _ members: borrowing RequestMembers, _ record: DeliveryRecord
    ) throws(RequestViolation) -> APNSRequest {
        let bytes = record.delivery.content.bytes
        return APNSRequest.device(
            token: token, topic: apps.topic(apps.topicIndex(of: app, .device(pushType))), pushType: pushType,
            priority: priority(members) ?? pushType.defaultPriority, expiration: members[.expiration]?.int64,
            deadline: record.deadlineSeconds, collapseID: members[.collapseID]?.text(in: bytes), id: id, payload: bytes,
            payloadRange: try payload(members).sourceRange)
    }

    private func priority(_ members: borrowing RequestMembers) -> Priority? {
        members[.priority]?.int64.flatMap { UInt8(exactly: $0) }.flatMap(Priority.init(rawValue:))
    }

    private func payload(_ members: borrowing RequestMembers) throws(RequestViolation) -> JSONNodeView {
        // The schema requires a payload. Reject a request without it nevertheless.
        guard let payload = members[.payload] else {
            throw RequestViolation(.schema, "required", "payload is missing.")
        }
        return payload
    }

    private func pushType(
        _ members: borrowing RequestMembers, _ record: DeliveryRecord
    ) throws(RequestViolation) -> PushType {
        // The schema requires a push type. Reject a request without it nevertheless.
        guard let pushType = members[.pushType]?.text.flatMap({ PushType($0) }) else {
            throw RequestViolation(.schema, "required", "push_type is missing.")
        }
        record.pushType = pushType
        return pushType
    }
}

extension RequestViolation {
    fileprivate static let oversized = RequestViolation(
        .size, "message_bytes",
        "The body is larger than the limit of this worker: shorten the body. The broker moved the request to the dead "
            + "letters.")
}

extension DeliveryRecord {
    /// The maximum length of an app, token, channel ID or user that a result repeats, in bytes. A request that violates
    /// the schema may contain longer values.
    private static let repeatedBytesMax = 512

    /// Records the members that a result repeats. The request may still be invalid.
    fileprivate func describe(_ members: borrowing RequestMembers, _ apps: AppDirectory) {
        app =
            members[.app]?.text.flatMap { bundleID in
                if let index = apps.find(bundleID) { return .configured(index) }
                return bundleID.count <= Self.repeatedBytesMax
                    ? .unknown(String(decoding: bundleID, as: UTF8.self)) : nil
            }
        if let own = members[.id]?.text.flatMap({ UUIDValue($0) }) { id = own }
        if let token = members[.deviceToken], token.kind == .string, token.sourceRange.count <= Self.repeatedBytesMax {
            target = .device(token.text(in: delivery.content.bytes))
        } else if let channel = members[.channelID], channel.kind == .string,
            channel.sourceRange.count <= Self.repeatedBytesMax
        {
            target = .channel(channel.text(in: delivery.content.bytes))
        } else if let user = members[.user], let text = user.text, text.count <= Self.repeatedBytesMax {
            // A user may consist of escapes, which are up to six times as long.
            target = .user(user.text(in: delivery.content.bytes))
        }
    }
}

extension JSONNodeView {
    /// Returns the text of a string. The text is a slice of the body unless the string has escapes. Returns an empty
    /// slice for any other value.
    fileprivate func text(in bytes: [UInt8]) -> ArraySlice<UInt8> {
        guard let text else { return [] }
        let inside = (sourceRange.lowerBound + 1)..<(sourceRange.upperBound - 1)
        return inside.count == text.count ? bytes[inside] : ArraySlice(text)
    }
}
