import APNSProtocol
import EventLoop
import HTTP2
import Testing

@testable import APNS

/// Tests of connections that are cut at any byte. Every push gets exactly one true outcome.
@Suite struct ConnectionCutTests {
    @Test(arguments: 0..<60 as Range<UInt64>) func everyPushGetsOneTrueOutcome(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let harness = try PoolHarness(seed: seed) {
            $0.connectionsMax = 2
            $0.streamsMax = 50
            $0.requestTimeoutSeconds = 10
            $0.waitSecondsMax = 300
            $0.drainGraceSeconds = 5
        }
        // The number of times that APNs has processed each push.
        var processed: [Int: Int] = [:]
        // The last processed stream of each connection after a GOAWAY, and the newest processed stream of each
        // connection.
        var ended: [ObjectIdentifier: Int32] = [:]
        var newest: [ObjectIdentifier: Int32] = [:]
        harness.apns.onRequest = { connection, stream in
            guard let number = connection.request(stream)?.number else { return }
            let id = ObjectIdentifier(connection)
            if let last = ended[id], stream.id > last { return }
            switch random.below(100) {
            case 0..<3: connection.server.reset(stream, .refusedStream)
            case 3:
                ended[id] = newest[id] ?? 0
                connection.server.goAway(lastStreamID: ended[id])
            case 4:
                // APNs has processed the push, but never answers.
                processed[number, default: 0] += 1
                newest[id] = max(newest[id] ?? 0, stream.id)
            default:
                processed[number, default: 0] += 1
                newest[id] = max(newest[id] ?? 0, stream.id)
                connection.accept(stream)
            }
        }
        var cuts = 0
        harness.loop.network.onConnect = { connection in
            guard cuts < 15 else { return }
            cuts += 1
            connection.cut(after: 100 + random.below(20_000), random.chance(percent: 50) ? .toServer : .toClient)
        }
        let total = 600
        for _ in 0..<20 {
            harness.send(total / 20)
            harness.pass(.milliseconds(700))
        }
        #expect(harness.runUntilEnded(total))
        let outcomes = harness.outcomes
        for (number, outcome) in outcomes {
            switch outcome {
            case .answered(let answer):
                #expect(answer.status == 200)
                #expect(processed[number] == 1, "push \(number) was accepted, but not processed exactly once")
            case .notSent:
                #expect(processed[number] == nil, "push \(number) was reported as unsent, but processed")
            case .unknown:
                #expect((processed[number] ?? 0) <= 1)
            }
        }
        #expect(harness.withPool { $0.waitingCount } == 0)
    }
}
