import AMQP
import APNSProtocol
import APNSSimulator
import BrokerTopology
import Crypto
import EventLoop
import JSON
import Registrations
import TestKit
import Testing

@testable import Delivery

/// Commands that lanes publish after APNs refused a device token.
@Suite struct RefusalCommandTests {
    private static let unregisteredAt: Int64 = 1_700_000_000_123

    /// A lane with a simulated APNs that refuses each push.
    private final class Fixture {
        let lane: LaneAPNSHarness
        var harness: LaneHarness { lane.harness }

        init(_ reason: Reason, timestamp: Int64? = nil, hasRegistrations: Bool = true) throws {
            lane = try LaneAPNSHarness(hasRegistrations: hasRegistrations)
            var answer = Answer.refused(reason)
            answer.body = .reason(reason, timestampMilliseconds: timestamp)
            try lane.harness.onLoop { try lane.apns.faults.put(Fault(id: "refuse", action: .answer(answer))) }
        }

        var commands: [ScriptedMessage] {
            Array(harness.broker.queue(harness.names.registrationsQueue)?.ready ?? [])
        }

        func request(
            _ pushType: String = "alert", payload: String = #"{"aps":{"alert":"x"}}"#, members: String = "",
            headers: FieldTable = FieldTable()
        ) {
            let body =
                #"{"app":"\#(SimulatedApps.bundleID(0))","device_token":"AABB","push_type":"\#(pushType)"\#(members),"#
                + #""payload":\#(payload)}"#
            harness.onLoop {
                _ = harness.broker.publish(
                    exchange: harness.names.requestsExchange, routingKey: "-", messageID: LaneAPNSHarness.id(1),
                    headers: headers, body: Array(body.utf8))
            }
        }

        /// Waits for the result of one request, and returns the published command; nil if there is none.
        func command() throws -> RegistrationCommand? {
            let hasEnded = harness.run { lane.results == 1 }
            try #require(hasEnded && commands.count <= 1)
            return try commands.first.map { message in
                try ReceivedCommand(
                    message.body, messageID: nil, from: .queue, now: harness.loop.now.unixMilliseconds,
                    environment: { _, environment in environment ?? .sandbox }
                ).command
            }
        }

        func address(_ kind: TokenKind, scope: String? = nil) -> TokenAddress {
            TokenAddress(
                app: SimulatedApps.bundleID(0), environment: .sandbox, kind: kind, scope: scope, token: "aabb")
        }
    }

    @Test(arguments: [Reason.unregistered, .expiredToken]) func `An unregistered token is pruned`(reason: Reason) throws
    {
        let fixture = try Fixture(reason, timestamp: Self.unregisteredAt)
        fixture.request()
        let refusal = APNSRefusal(status: 410, reason: reason.text, timestamp: Self.unregisteredAt)
        #expect(try fixture.command() == .prune(fixture.address(.device), refusal))
        let message = try #require(fixture.commands.first)
        #expect(message.exchange == fixture.harness.names.registrationsExchange)
        #expect(message.routingKey == "registration.\(SimulatedApps.bundleID(0))")
        #expect(message.properties.userID == "guest")
        #expect(message.properties.header(MessageHeaderName.worker)?.stringValue == "tested")
        let id = try JSONDocument(message.body).root["id"]?.string
        #expect(id == message.properties.messageID)
        #expect(
            UUIDValue(name: "prune \(LaneAPNSHarness.id(1))", namespace: DeliveryRecord.namespace).description == id)
    }

    @Test(arguments: [Reason.badDeviceToken, .deviceTokenNotForTopic]) func `A token that may be wrong is suspected`(
        reason: Reason
    ) throws {
        let fixture = try Fixture(reason)
        fixture.request()
        let command = try fixture.command()
        guard case .suspect(let address, let refusal) = command else { return #expect(command == nil) }
        #expect(address == fixture.address(.device))
        #expect(refusal.status == 400 && refusal.reason == reason.text)
        #expect(abs(refusal.timestamp - fixture.harness.loop.now.unixMilliseconds) < 5000)
    }

    @Test func `A 410 without a timestamp prunes registrations that preceded the push`() throws {
        let fixture = try Fixture(.expiredToken)
        let before = fixture.harness.loop.now.unixMilliseconds
        fixture.request()
        let command = try fixture.command()
        guard case .prune(_, let refusal) = command else { return #expect(command == nil) }
        // The answer arrives 100 ms after the push.
        #expect((before..<fixture.harness.loop.now.unixMilliseconds - 90).contains(refusal.timestamp))
    }

    @Test(arguments: [Reason.payloadTooLarge, .badPriority, .badTopic]) func `Other refusals publish no command`(
        reason: Reason
    ) throws {
        let fixture = try Fixture(reason)
        fixture.request()
        #expect(try fixture.command() == nil)
    }

    @Test func `A token that was registered after the 410 is not pruned`() throws {
        let fixture = try Fixture(.unregistered, timestamp: Self.unregisteredAt)
        fixture.request(members: #","registered_at":\#(Self.unregisteredAt + 1)"#)
        #expect(try fixture.command() == nil)
    }

    @Test func `A lane without registrations publishes no command`() throws {
        let fixture = try Fixture(.unregistered, timestamp: Self.unregisteredAt, hasRegistrations: false)
        fixture.request()
        #expect(try fixture.command() == nil)
    }

    private static let update =
        #"{"aps":{"event":"update","timestamp":1700000000,"content-state":{}}}"#
    private static let start =
        #"{"aps":{"event":"start","timestamp":1700000000,"content-state":{},"attributes-type":"Ride","#
        + #""attributes":{},"alert":{"title":"t","body":"b"}}}"#
    private static let quiet = #"{"aps":{"content-available":1}}"#

    @Test func `The kind follows from the push type, the scope of a start from the payload`() throws {
        let fixture = try Fixture(.unregistered, timestamp: Self.unregisteredAt)
        fixture.request("liveactivity", payload: Self.start)
        guard case .prune(let address, _) = try fixture.command() else { return #expect(Bool(false)) }
        #expect(address == fixture.address(.liveactivityStart, scope: "Ride"))
    }

    @Test func `A token whose scope is unknown is not pruned`() throws {
        let fixture = try Fixture(.unregistered, timestamp: Self.unregisteredAt)
        fixture.request("liveactivity", payload: Self.update)
        #expect(try fixture.command() == nil)
    }

    @Test func `A producer's scope is not trusted`() throws {
        let fixture = try Fixture(.unregistered, timestamp: Self.unregisteredAt)
        fixture.request("liveactivity", payload: Self.update, headers: [MessageHeaderName.scope: .string("ride 1")])
        #expect(try fixture.command() == nil)
    }

    @Test func `A worker's headers name the scope`() throws {
        var headers = FieldTable()
        let id = UUIDValue(high: 1, low: 2)
        FanoutOrigin(
            requestID: id, user: "ann", registration: id, registeredAtMilliseconds: 1, expandedAtMilliseconds: 2,
            isOnlyDevice: false, kind: .liveactivity, scope: "ride 1"
        ).append(to: &headers)
        let message = Self.message(
            #"{"push_type":"liveactivity","payload":\#(Self.update)}"#, userID: "worker", headers: headers)
        func parts(user: String?) -> TokenParts? {
            FanoutOrigin(message.properties, trusting: WorkerIdentity(name: "w", user: user)).map { TokenParts($0) }
        }
        #expect(parts(user: "worker")?.scope == "ride 1")
        #expect(parts(user: "worker")?.kind == .liveactivity)
        #expect(parts(user: "another") == nil && parts(user: nil) == nil)
    }

    @Test(
        arguments: [
            ("voip", nil, .voip, nil), ("widgets", nil, .widgets, nil), ("background", nil, .device, nil),
            ("controls", "lock", .controls, "lock"), ("pushtotalk", "channel", .pushtotalk, "channel"),
            ("pushtotalk", nil, nil, nil), ("mdm", nil, nil, nil), ("alert", "lock", .device, nil),
            ("controls", "", nil, nil), ("controls", String(repeating: "s", count: 129), nil, nil),
        ] as [(String, String?, TokenKind?, String?)])
    func `A request determines the kind and the scope`(
        pushType: String, member: String?, kind: TokenKind?, scope: String?
    ) throws {
        let scopeMember = member.map { #","scope":"\#($0)""# } ?? ""
        let message = Self.message(#"{"push_type":"\#(pushType)"\#(scopeMember),"payload":\#(Self.quiet)}"#)
        let parts = TokenParts(of: message, JSONLimits())
        #expect(parts?.kind == kind && parts?.scope == scope)
    }

    /// Returns a delivery with the given headers and property `user-id`.
    private static func message(
        _ body: String, userID: String? = nil, headers: FieldTable = FieldTable()
    ) -> IncomingMessage {
        var envelope = WireWriter()
        envelope.short((headers.isEmpty ? 0 : 1 << 13) | (userID == nil ? 0 : 1 << 4))
        if !headers.isEmpty { envelope.table(headers) }
        if let userID { envelope.shortString(userID) }
        return IncomingMessage(
            tag: DeliveryTag(number: 1, generation: 1, bytes: 0), queue: "push.requests", isRedelivered: false,
            content: MessageContent(body: Array(body.utf8), envelope: envelope.bytes))
    }

    @Test func `The command precedes the result, and is repeated until it is confirmed`() throws {
        let fixture = try Fixture(.unregistered, timestamp: Self.unregisteredAt)
        fixture.harness.onLoop { fixture.harness.broker.behavior.nackPercent = 100 }
        fixture.request()
        #expect(fixture.harness.run { fixture.harness.broker.nacked >= 2 })
        #expect(fixture.lane.results == 0)
        fixture.harness.onLoop { fixture.harness.broker.behavior.nackPercent = 0 }
        #expect(try fixture.command() != nil)
    }

    @Test func `Duplicates of a request publish one command`() throws {
        let fixture = try Fixture(.unregistered, timestamp: Self.unregisteredAt)
        fixture.request()
        fixture.request()
        #expect(fixture.harness.run { fixture.lane.results == 2 })
        #expect(fixture.commands.count == fixture.lane.pushes.count)
    }
}
