import AMQP
import HTTPClient
import Testing

@testable import Configuration
@testable import ControlProtocol
@testable import MartletCLI

/// The causes that `publish --wait` prints while results are missing.
@Suite struct MissingResultCausesTests {
    private static let consumed = QueueStatus(name: "push.requests", messages: 3, consumers: 2)
    private static let unconsumed = QueueStatus(name: "push.requests", messages: 3, consumers: 0)

    private func lines(
        _ queues: [QueueStatus], _ workers: String..., subject: MissingResultCauses.Subject = .result
    ) throws -> [String] {
        let workers = try workers.map {
            try StatusAnswer(HTTPResponse(status: 200, body: Array(#"{"worker":"host/7/1.0",\#($0)}"#.utf8))).status
        }
        let commands = CommandAdvice(configPath: "/etc/martlet.yaml")
        return MissingResultCauses(subject: subject, queues: queues, workers: workers, commands: commands).lines
    }

    @Test func aQueueWithoutAConsumerIsNamed() throws {
        #expect(
            try lines([Self.unconsumed]) == [
                "no worker consumes from push.requests (3 waiting); to start a worker, run: martlet worker --config "
                    + "/etc/martlet.yaml"
            ])
        #expect(
            try lines([Self.unconsumed], #""ready":false,"reasons":["broker connection lost"]"#) == [
                "no worker consumes from push.requests (3 waiting)",
                "worker host/7/1.0 is not ready: broker connection lost",
            ])
    }

    @Test func heldAndPausedRequestsAreNamed() throws {
        let breakers =
            #"[{"route":"production key ABC123DEFG","code":"InvalidProviderToken","sentence":"APNs refuses the key."}]"#
        #expect(
            try lines([Self.consumed], #""ready":true,"paused":["topic com.example.app"],"breakers":\#(breakers)"#) == [
                "worker host/7/1.0 is paused (topic com.example.app); to resume, run: martlet resume --topic com.example.app",
                "worker host/7/1.0 holds requests: breaker of production key ABC123DEFG open: APNs refuses the key.",
            ])
    }

    @Test func aPauseOfTheFleetHasACompleteRemedy() throws {
        let pauses = #"[{"target":"topic com.example.app","fleet":true,"seconds_paused":1}]"#
        #expect(
            try lines([Self.consumed], #""ready":true,"paused":["topic com.example.app"],"pauses":\#(pauses)"#) == [
                "worker host/7/1.0 is paused (topic com.example.app); to resume, run: martlet resume --fleet --config "
                    + "/etc/martlet.yaml --topic com.example.app"
            ])
    }

    @Test func missingRepliesToCommandsHaveCausesOfTheirOwn() throws {
        let queue = QueueStatus(name: "push.registrations", messages: 1, consumers: 0)
        let paused = #""ready":true,"paused":["topic com.example.app"]"#
        func lines(_ worker: String) throws -> [String] { try self.lines([queue], worker, subject: .reply) }
        #expect(
            try lines(paused) == [
                "no worker consumes from push.registrations (1 waiting)",
                "worker host/7/1.0 stores no registrations: add the section registrations to its configuration",
            ])
        let fault = "cannot store registrations (unreachable): cannot connect to db:5432; start the server"
        let faulty = try lines(paused + #","registrations":{"reasons":["\#(fault)"]}"#)
        #expect(faulty.last == "worker host/7/1.0: \(fault)")
    }

    @Test func withoutACauseTheQueuesAreShown() throws {
        #expect(
            try lines([Self.consumed], #""ready":true"#) == [
                "push.requests: 3 waiting, 2 consumers; on the workers' machines, run: martlet status"
            ])
        #expect(try lines([]) == ["on the workers' machines, run: martlet status"])
    }

    @Test func theNumberOfLinesIsLimited() throws {
        let many = (0..<40).map { QueueStatus(name: "push.requests.\($0)", messages: 1, consumers: 0) }
        #expect(try lines(many).count == 6)
    }
}
