import APNSProtocol
import Crypto
import EventLoop
import Testing

@testable import APNS

@Suite struct RequestTimeoutTests {
    private static let now = Now(monotonic: MonotonicTime(nanoseconds: 0), unixNanoseconds: 1_000_000_000_000)

    private func seconds(expiration: Int64?, deadline: Int64?) throws -> [Int64] {
        let request = APNSRequest(
            target: .channel([]), topic: [], pushType: .liveactivity, priority: nil, expiration: expiration,
            deadline: deadline, collapseID: nil, id: try #require(UUIDValue("6f1c7c1e-3c52-4a53-9c1b-0d6c0a4be1aa")),
            payload: [], payloadRange: 0..<0)
        var configuration = PoolConfiguration(environment: .sandbox, credential: .certificate("-"))
        (configuration.requestTimeoutSeconds, configuration.requestTimeoutSecondsMin) = (30, 5)
        configuration.waitSecondsMax = 20
        return [configuration.timeout(of: request, Self.now), configuration.wait(of: request, Self.now)]
    }

    @Test func theEarliestLimitApplies() throws {
        #expect(try seconds(expiration: nil, deadline: nil) == [30, 20])
        #expect(try seconds(expiration: 1010, deadline: nil) == [10, 10])
        #expect(try seconds(expiration: 1010, deadline: 1007) == [7, 7])
        #expect(try seconds(expiration: 1002, deadline: 1007) == [5, 2])
    }

    // An expiration of 0 requests one attempt, and does not shorten the timeout.
    @Test func aDeadlineAppliesWithoutAnExpiration() throws {
        #expect(try seconds(expiration: 0, deadline: nil) == [30, 20])
        #expect(try seconds(expiration: 0, deadline: 1007) == [7, 7])
        #expect(try seconds(expiration: nil, deadline: 1001) == [5, 1])
    }

    // APNs stops reading, and continues after the timeout of pushes that wait in the output buffer. APNs answers the
    // PING behind these pushes, but none of the pushes.
    @Test func aPushWrittenAfterItsTimeoutEndsWithoutAnAnswer() throws {
        let harness = try PoolHarness { ($0.requestTimeoutSeconds, $0.pingTimeoutSeconds) = (10, 5) }
        harness.send()
        #expect(harness.runUntilEnded(1))
        let connection = harness.apns.connections[0]
        harness.loop.enter { connection.transport?.pauseReading() }
        harness.apns.onRequest = { _, _ in }
        let total = 200
        for _ in 0..<total {
            harness.send { PoolHarness.request($0, alert: String(repeating: "x", count: 200)) }
            harness.pass(.milliseconds(5))
        }
        harness.pass(.seconds(11))
        harness.loop.enter { connection.transport?.resumeReading() }
        harness.pass(.seconds(1))
        let open = (1...total).filter { harness.outcomes[$0] == nil }
        #expect(!open.isEmpty && !connection.hasClosed)
        harness.pass(.seconds(5))
        #expect(open.allSatisfy { harness.outcomes[$0] == .unknown(.timedOut) } && !connection.hasClosed)
    }
}
