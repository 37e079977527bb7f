import APNSProtocol
import BrokerTopology
import Crypto
import EventLoop
import JSON
import JSONSchema
import TestKit
import Testing

@testable import AMQP
@testable import Delivery

/// The headers of child requests, and the results of requests to users.
@Suite struct FanoutOriginTests {
    private static let worker = WorkerIdentity(name: "tested", user: "worker")
    private static let requestID = "c3d5f0a1-7e2b-4b8c-8d19-5a6e7f809112"
    private static let headers: FieldTable = [
        "push-request-id": .string(requestID), "push-user": .string(String(repeating: "é", count: 128)),
        "push-registration": "0d5c2b7a-94e1-6f38-b2a7-51c0d9e8f364", "push-registered-at": 1_749_990_000_000,
        "push-expanded-at": 1_750_000_000_000,
    ]

    private static func headers(isOnlyDevice: Bool) -> FieldTable {
        var headers = headers
        if isOnlyDevice { headers.append("push-only-device", .boolean(true)) }
        return headers
    }

    /// Returns a record whose origin was read as the pipeline reads it.
    private func record(
        _ headers: FieldTable, userID: String? = "worker", trusting worker: WorkerIdentity = worker
    ) -> DeliveryRecord {
        var envelope = WireWriter()
        envelope.short(1 << 13 | (userID == nil ? 0 : 1 << 4))
        envelope.table(headers)
        if let userID { envelope.shortString(userID) }
        let record = DeliveryRecord(
            of: IncomingMessage(
                tag: DeliveryTag(number: 1, generation: 1, bytes: 0), queue: "push.requests", isRedelivered: false,
                content: MessageContent(body: Array("{}".utf8), envelope: envelope.bytes)),
            from: 0, Now(monotonic: MonotonicTime(nanoseconds: 0), unixNanoseconds: 0))
        record.id = UUIDValue(AudienceReader.id)
        record.readFanoutOrigin(trusting: worker)
        return record
    }

    /// Returns the request as a wait message, a dead letter and a quarantined request.
    private func republished(_ record: DeliveryRecord) -> [OutgoingMessage] {
        [
            WaitMessage.make(
                for: record, Wait(delay: WaitDelay(seconds: 30), attempts: Attempts(rounds: 1), reason: "x"),
                sibling: 0, failedAtMilliseconds: 9, names: TopologyNames(), worker: Self.worker),
            DeadLetterMessage.make(
                for: record, FinalOutcome(outcome: .rejected), because: DeadLetterReason("apns", "BadTopic", "No."),
                AppDirectory([]), failedAtMilliseconds: 9, exchange: "push.dead", worker: Self.worker),
            QuarantineMessage.make(
                for: record, waitID: 7, movedAtMilliseconds: 9, names: TopologyNames(), worker: Self.worker),
        ]
    }

    private func fanoutHeaders(_ message: OutgoingMessage) -> [FieldTable.Entry] {
        let names = Set(Self.headers.entries.map(\.name) + [MessageHeaderName.onlyDevice])
        return message.headers.entries.filter { names.contains($0.name) }
    }

    @Test func `A worker's headers are read`() throws {
        let origin = try #require(record(Self.headers).fanoutOrigin)
        #expect(origin.requestID == UUIDValue(Self.requestID))
        #expect(origin.user.utf8.count == 256)
        #expect(origin.registration == UUIDValue("0d5c2b7a-94e1-6f38-b2a7-51c0d9e8f364"))
        #expect(origin.registeredAtMilliseconds == 1_749_990_000_000)
        #expect(origin.expandedAtMilliseconds == 1_750_000_000_000 && !origin.isOnlyDevice)
        #expect(record(Self.headers(isOnlyDevice: true)).fanoutOrigin?.isOnlyDevice == true)
    }

    @Test(arguments: [
        (Int64.min, true), (0, true), (1_749_999_939_999, true), (1_749_999_940_000, false), (.max, false),
    ])
    func `A child is stale a minute after its lookup, for any time in the header`(
        _ time: Int64, _ isStale: Bool
    ) throws {
        var headers = Self.headers
        headers.entries.removeAll { $0.name == MessageHeaderName.expandedAt }
        headers.append(MessageHeaderName.expandedAt, .integer(time))
        let origin = try #require(record(headers).fanoutOrigin)
        #expect(origin.isStale(atMilliseconds: 1_750_000_000_000) == isStale)
    }

    @Test(arguments: [nil, "producer"]) func `A producer's headers are neither trusted nor copied`(_ userID: String?) {
        let record = record(Self.headers(isOnlyDevice: true), userID: userID)
        #expect(record.fanoutOrigin == nil)
        for message in republished(record) { #expect(fanoutHeaders(message).isEmpty) }
    }

    @Test func `Without a known user no headers are trusted`() {
        let anonymous = WorkerIdentity(name: "tested", user: nil)
        #expect(record(Self.headers, trusting: anonymous).fanoutOrigin == nil)
    }

    @Test func `The other owners of a shared token survive waits`() {
        var headers = Self.headers
        headers.append("push-other-owners", .array(["bob", .integer(1), "cyd"]))
        let record = record(headers)
        #expect(record.fanoutOrigin?.owners.dropFirst() == ["bob", "cyd"])
        for message in republished(record) {
            #expect(message.headers["push-other-owners"] == .array(["bob", "cyd"]))
        }
    }

    @Test func `An incomplete or malformed origin is ignored`() {
        for index in Self.headers.entries.indices {
            var headers = Self.headers
            headers.entries.remove(at: index)
            #expect(record(headers).fanoutOrigin == nil)
            headers = Self.headers
            headers.entries[index] = FieldTable.Entry(headers.entries[index].name, .boolean(true))
            #expect(record(headers).fanoutOrigin == nil)
        }
    }

    @Test(arguments: [false, true]) func `Waits, quarantine and dead letters keep the headers`(_ isOnlyDevice: Bool) {
        let headers = Self.headers(isOnlyDevice: isOnlyDevice)
        for message in republished(record(headers)) {
            #expect(fanoutHeaders(message) == headers.entries)
            let next = record(message.headers).fanoutOrigin
            #expect(next?.requestID == UUIDValue(Self.requestID) && next?.isOnlyDevice == isOnlyDevice)
        }
    }

    // MARK: - Results

    private func result(_ record: DeliveryRecord, _ finalOutcome: FinalOutcome) throws -> JSONValue {
        record.app = .unknown("com.example.app")
        record.environment = .production
        let body = ResultMessage.body(record, finalOutcome, AppDirectory([]), 9)
        let document = try JSONDocument(body)
        let schema = try CompiledSchema(
            JSONDocument(try Files.bytes(of: Products.file("schemas/result.schema.json"))))
        #expect(SchemaValidator(schema).violations(in: document.root).map(\.description) == [])
        return document.root
    }

    @Test func `The result of a child names its request and user`() throws {
        let child = record(Self.headers)
        child.target = .device(ArraySlice("aabb".utf8))
        let result = try result(child, FinalOutcome(outcome: .expired))
        #expect(result["id"]?.string == AudienceReader.id && result["request_id"]?.string == Self.requestID)
        #expect(result["user"]?.string?.utf8.count == 256 && result["device_token"]?.string == "aabb")
        #expect(result["devices"] == nil)
    }

    @Test func `The result of an only device completes its request`() throws {
        let child = record(Self.headers(isOnlyDevice: true))
        child.target = .device(ArraySlice("aabb".utf8))
        #expect(try result(child, FinalOutcome(outcome: .expired))["devices"]?.int == 1)
    }

    @Test func `A user without a device is rejected without a dead letter`() throws {
        let record = record([:], userID: nil)
        record.target = .user(ArraySlice("ann \"x\"".utf8))
        let outcome = FinalOutcome.noDevice
        let result = try result(record, outcome)
        #expect(outcome.deadLetter == nil && result["outcome"]?.string == "rejected")
        #expect(result["user"]?.string == "ann \"x\"" && result["devices"]?.int == 0)
        #expect(result["error"]?["class"]?.string == "registration" && result["error"]?["code"]?.string == "no_device")
        #expect(result["request_id"] == nil)
    }

    @Test func `A child whose registration ended is rejected without a dead letter`() throws {
        let child = record(Self.headers)
        child.target = .device(ArraySlice("aabb".utf8))
        let result = try result(child, .gone)
        #expect(FinalOutcome.gone.deadLetter == nil && result["error"]?["code"]?.string == "gone")
        #expect(result["devices"] == nil && result["request_id"]?.string == Self.requestID)
    }

    @Test func `A result without users has no new members`() throws {
        let record = record([:], userID: nil)
        record.target = .device(ArraySlice("aabb".utf8))
        let result = try result(record, FinalOutcome(outcome: .expired))
        for name in ["request_id", "user", "devices"] { #expect(result[key: name] == nil) }
    }
}
