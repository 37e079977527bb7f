import AMQP
import BrokerManagement
import BrokerTopology
import Testing

@testable import MartletCLI

/// The lines of `martlet doctor` about depths, consumers and limits.
@Suite struct QueuesCheckTests {
    private static let topology = Topology(names: TopologyNames())

    private func conditions(
        _ statuses: [(String, Int, Int)], _ queues: [String: BrokerSnapshot.Queue]? = [:]
    ) -> QueueConditions {
        var snapshot: BrokerSnapshot?
        if let queues {
            var seen = BrokerSnapshot()
            seen.queues = queues
            snapshot = seen
        }
        return QueueConditions(
            topology: Self.topology,
            statuses: statuses.map { QueueStatus(name: $0, messages: $1, consumers: $2) },
            management: snapshot.map { .success($0) })
    }

    @Test func requestsWithoutAConsumerAreAFailure() {
        let lines = DoctorCheck.lines(
            conditions([
                ("push.requests", 2600, 0), ("push.quarantine", 1, 0), ("push.expired", 3, 0), ("push.dead", 9, 0),
            ]))
        #expect(lines.map(\.state) == [.failure, .failure, .failure])
        #expect(lines.allSatisfy { $0.remedy.contains("martlet worker") })
    }

    @Test func anEmptyOrConsumedQueueIsOK() {
        let found = conditions([("push.requests", 5, 2), ("push.quarantine", 0, 0), ("push.dead", 9, 0)])
        #expect(
            DoctorCheck.lines(found)
                == [.ok("queues", "push.requests: 5 waiting, 2 consumers; push.dead: 9")])
    }

    @Test func depthsOfCommandsAreShown() {
        let statuses = [("push.requests", 0, 2), ("push.registrations", 4, 1), ("push.dead", 0, 0)].map {
            QueueStatus(name: $0, messages: $1, consumers: $2)
        }
        let found = QueueConditions(
            topology: Topology(hasRegistrations: true), statuses: statuses, management: .success(BrokerSnapshot()))
        #expect(
            DoctorCheck.lines(found).map(\.text) == [
                "push.requests: 0 waiting, 2 consumers; push.registrations: 4 waiting, 1 consumer; push.dead: 0"
            ])
    }

    @Test func resultsWithoutABoundQueueAreAWarning() {
        let lines = DoctorCheck.lines(conditions([("push.unrouted", 119, 0)]))
        #expect(lines.map(\.state) == [.warning])
        #expect(lines[0].text == "push.unrouted: 119 results without a bound queue")
    }

    @Test func limitsAreUnseenWithoutTheManagementAPI() {
        let lines = DoctorCheck.lines(conditions([("push.requests", 0, 1)], nil))
        #expect(lines.map(\.state) == [.ok, .unseen])
        #expect(lines[1].remedy == "set amqp.management_url")
    }

    @Test func disabledStatisticsHideLimits() {
        var found = conditions([("push.requests", 0, 1)])
        var hidden = BrokerSnapshot()
        hidden.showsStatistics = false
        found.management = .success(hidden)
        let lines = DoctorCheck.lines(found)
        #expect(lines.map(\.state) == [.ok, .unseen])
        #expect(
            lines.last?.text == "whether a full queue refuses messages: the management API does not show effective "
                + "policies: the statistics are disabled (management.disable_stats)")
    }

    /// The management API is configured, but its URL or its user is wrong.
    @Test func aFailingManagementAPIIsReported() {
        var found = conditions([("push.requests", 0, 1)], nil)
        found.management = .failure(
            .init(message: "http://rabbit:15672: user ops lacks the permission to read this object"))
        let lines = DoctorCheck.lines(found)
        #expect(
            lines.last
                == .unseen(
                    "queues",
                    "whether a full queue refuses messages: http://rabbit:15672: user ops lacks the permission to read this "
                        + "object",
                    remedy: "check amqp.management_url and its user"))
    }
}
