import AMQP
import BrokerTopology
import Delivery
import JSON
import TestKit
import Testing

@testable import Actions
@testable import Configuration
@testable import DeadLetters
@testable import MartletCLI

@Suite struct RedriveCheckTests {
    private static let request =
        #"{"id":"6f1c7c1e-3c52-4a53-9c1b-0d6c0a4be1aa","app":"a","device_token":"aabb","push_type":"voip","payload":{}}"#
    private static let command =
        #"{"command":"register","app":"com.example.shop","user":"ann","device_token":"aabb","#
        + #""registered_at":1750000000000}"#
    private static let now: Int64 = 1_750_000_001_000
    private static let names = TopologyNames()
    private static let ofCommand: FieldTable = ["push-origin-queue": .string(names.registrationsQueue)]

    private func problem(
        in body: String, _ headers: FieldTable = FieldTable(), encoding: String? = nil, messageID: String? = "m-1",
        to queue: String? = nil, _ rules: RequestRules? = nil
    ) -> ValidationResult.Problem? {
        var copy = RepublishableMessage(body: Array(body.utf8))
        (copy.contentEncoding, copy.messageID, copy.headers, copy.provenance) = (encoding, messageID, headers, .worker)
        let target = RedriveTarget(names: Self.names, queue: queue)
        return RedriveCheck(rules, target).problem(in: copy, of: DeadLetter(copy), now: Self.now)
    }

    // Without the check, the command would redrive a request that a worker dead-letters again.
    @Test(arguments: [
        (nil, false), ("binary", false), ("utf-8", false), ("", false), ("gzip", true), ("identity, BR", true),
    ])
    func aRefusedPropertyIsReported(_ encoding: String?, _ isRefused: Bool) {
        for problem in [
            problem(in: Self.request, encoding: encoding),
            problem(in: Self.command, Self.ofCommand, encoding: encoding),
        ] {
            #expect((problem != nil) == isRefused)
            #expect(problem?.message.contains("compressed") ?? true)
        }
    }

    @Test func aRefusedBodyIsReported() {
        #expect(problem(in: "{}") != nil)
    }

    @Test func aRegistrationCommandIsCheckedAsACommand() {
        #expect(problem(in: Self.command, Self.ofCommand) == nil)
        #expect(problem(in: #"{"command":"register"}"#, Self.ofCommand)?.reason.hasPrefix("schema.") == true)
        let invalid = problem(in: #"{"command":"register""#, Self.ofCommand)
        #expect(invalid?.reason.hasPrefix("json.") == true && invalid?.position.column ?? 1 > 1)
        let old = Self.command.replacing("1750000000000", with: "1650000000000")
        #expect(problem(in: old, Self.ofCommand)?.reason == "limit.registered_at")
        // The queue decides, because a request queue receives no commands, and the queue of commands no requests.
        #expect(problem(in: Self.command) != nil)
        #expect(problem(in: Self.command, Self.ofCommand, to: "push.requests") != nil)
        #expect(problem(in: Self.request, Self.ofCommand) != nil)
    }

    @Test func aRegistrationCommandIsCheckedWithTheConfiguredApps() throws {
        let text = SampleConfiguration.shortest.replacing("AuthKey.p8", with: "absent.p8")
        let rules = try ConfigurationFile("martlet.yaml").requestRules(text: Array(text.utf8))
        #expect(problem(in: Self.command, Self.ofCommand, rules) == nil)
        let other = problem(in: Self.command.replacing("shop", with: "shoq"), Self.ofCommand, rules)
        #expect(other?.reason == "app.unknown" && other?.position.column == 29)
    }
}
