import EventLoop
import Testing

@testable import Delivery

/// The limits of samples in the journal.
@Suite struct JournalSamplingTests {
    private static func kind(_ code: String, path: String? = nil) -> SampleLimit.Kind {
        SampleLimit.Kind(deadClass: "schema", code: code, app: "a", path: path)
    }

    private static func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test func `Five samples of a kind in a minute`() {
        var limit = SampleLimit(lane: 0, laneCount: 1)
        for (seconds, expected) in [(0, 5), (59, 0), (60, 5), (300, 5)] as [(Int64, Int)] {
            let admitted = (0..<20).count { _ in limit.admit(Self.kind("required"), Self.time(seconds)) }
            #expect(admitted == expected, "\(seconds)")
        }
        let others = [Self.kind("required", path: "/aps"), Self.kind("type")]
        let admitted = others.count { limit.admit($0, Self.time(301)) }
        #expect(admitted == 2)
    }

    @Test(arguments: [(1, [5]), (2, [3, 2]), (5, [1, 1, 1, 1, 1]), (7, [1, 1, 1, 1, 1, 1, 1])])
    func `Lanes share the limit`(_ count: Int, _ shares: [Int]) {
        let admitted = (0..<count).map { lane in
            var limit = SampleLimit(lane: lane, laneCount: count)
            return (0..<20).count { _ in limit.admit(Self.kind("required"), Self.time(1)) }
        }
        #expect(admitted == shares)
    }

    // Producers choose the paths.
    @Test func `The number of kinds is bounded`() {
        var limit = SampleLimit(lane: 0, laneCount: 1)
        let admitted = (0..<10_000).count { limit.admit(Self.kind("type", path: "/\($0)"), Self.time(1)) }
        #expect(admitted == SampleLimit.kindsMax)
        let isKnownAdmitted = limit.admit(Self.kind("type", path: "/0"), Self.time(1))
        let isNewAdmitted = limit.admit(Self.kind("type", path: "/x"), Self.time(61))
        #expect(isKnownAdmitted && isNewAdmitted)
    }

    @Test(arguments: [(0, 0), (0.1, 100), (0.25, 250), (1, 1000), (7, 1000), (-1, 0)])
    func `A share of the accepted results`(_ share: Double, _ expected: Int) {
        var sampler = ShareSampler(share: share)
        let selected = (0..<1000).count { _ in sampler.selectsNext() }
        #expect(abs(selected - expected) <= 1)
    }
}
