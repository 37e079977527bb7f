import APNSProtocol
import EventLoop
import HTTP2
import JSON
import Testing

@testable import APNSSimulator

@Suite struct FaultRulesTests {
    @Test func appliesToMatchingRequests() throws {
        var rules = FaultRules()
        try rules.put(Fault(id: "topic", match: FaultMatch(topic: "com.example.app"), action: .silence))
        try rules.put(Fault(id: "prefix", match: FaultMatch(devicePrefix: "DEad"), action: .resetConnection))
        try rules.put(Fault(id: "production", match: FaultMatch(environment: .production), action: .closeConnection))
        try rules.put(Fault(id: "third", match: FaultMatch(connection: 3), action: .staleConnection))
        try rules.put(Fault(id: "voip", match: FaultMatch(pushType: .voip), action: .resetStream(.cancel)))
        try rules.put(Fault(id: "idle", match: FaultMatch(idleSecondsMin: 60), action: .stopReading(milliseconds: 1)))
        try rules.put(
            Fault(id: "manage", match: FaultMatch(service: .channelManagement), action: .goAway(FaultGoAway())))

        #expect(struck(&rules) == nil)
        #expect(struck(&rules, topic: "com.example.app") == "topic")
        #expect(struck(&rules, topic: "com.example.app2") == nil)
        #expect(struck(&rules, token: "deAD01") == "prefix")
        #expect(struck(&rules, token: "dea") == nil)
        #expect(struck(&rules, service: .productionPush) == "production")
        #expect(struck(&rules, connection: 3) == "third")
        #expect(struck(&rules, pushType: .voip) == "voip")
        #expect(struck(&rules, pushType: .alert) == nil)
        #expect(struck(&rules, idle: .seconds(60)) == "idle")
        #expect(struck(&rules, idle: .milliseconds(59_999)) == nil)
        #expect(struck(&rules, service: Service(.sandbox, .channelManagement)) == "manage")
        #expect(
            struck(&rules, topic: "com.example.app", token: "dead", connection: 3) == "topic",
            "a fault other than the first match applied")
        #expect(
            rules.entries.map { "\($0.fault.id) \($0.struck)" } == [
                "topic 2", "prefix 1", "production 1", "third 1", "voip 1", "idle 1", "manage 1",
            ])
    }

    @Test func aLatencyCombinesWithAnotherFault() throws {
        var rules = FaultRules()
        try rules.put(Fault(id: "slow", action: .latency(.constant(20))))
        try rules.put(Fault(id: "slower", action: .latency(.constant(30))))
        try rules.put(Fault(id: "mute", match: FaultMatch(topic: "mute"), action: .silence))
        var effect = rules.effect(of: subject())
        #expect(effect.latency == .milliseconds(20) && effect.action == nil && effect.faultID == "slow")
        effect = withBytes("mute") { rules.effect(of: subject(topic: $0)) }
        #expect(effect.latency == .milliseconds(20) && effect.action == .silence && effect.faultID == "mute")
        #expect(rules.entries.map(\.struck) == [2, 0, 1])
    }

    @Test func countMaxLimitsTheFault() throws {
        var rules = FaultRules()
        try rules.put(Fault(id: "twice", action: .silence, countMax: 2))
        #expect((0..<4).map { _ in struck(&rules) } == ["twice", "twice", nil, nil])
        try rules.put(Fault(id: "twice", action: .silence, countMax: 1))
        #expect(
            (0..<2).map { _ in struck(&rules) } == ["twice", nil], "the count did not restart with the replaced fault")
    }

    @Test func skipCountSkipsMatchingRequests() throws {
        var rules = FaultRules()
        try rules.put(Fault(id: "third", match: FaultMatch(topic: "a"), action: .silence, skipCount: 2, countMax: 1))
        #expect(
            ["a", "b", "a", "b", "a", "a"].map { struck(&rules, topic: $0) } == [nil, nil, nil, nil, "third", nil])
        rules.restart()
        #expect((0..<3).map { _ in struck(&rules, topic: "a") } == [nil, nil, "third"])
    }

    @Test func theSeedDeterminesAShare() throws {
        func history(seed: UInt64, with others: [Fault] = []) throws -> [Int] {
            var rules = FaultRules(seed: seed)
            for fault in others { try rules.put(fault) }
            try rules.put(Fault(id: "some", action: .silence, share: 0.1))
            return (0..<10_000).filter { _ in struck(&rules) == "some" }
        }
        let first = try history(seed: 1)
        #expect(first.count > 850 && first.count < 1150)
        #expect(try history(seed: 1) == first)
        #expect(try history(seed: 2) != first)
        let others = [
            Fault(id: "slow", action: .latency(.uniform(min: 1, max: 2))),
            Fault(id: "never", action: .resetConnection, share: 0),
        ]
        #expect(try history(seed: 1, with: others) == first, "other faults changed the random numbers")
    }

    @Test func restartRepeatsTheHistory() throws {
        var rules = FaultRules(seed: 3)
        try rules.put(Fault(id: "some", action: .silence, share: 0.5, countMax: 20))
        let first = (0..<100).map { _ in struck(&rules) }
        rules.restart()
        #expect(rules.entries.map(\.struck) == [0])
        #expect((0..<100).map { _ in struck(&rules) } == first)
    }

    @Test func faultsAreAddedAndRemoved() throws {
        var rules = FaultRules()
        #expect(rules.isEmpty)
        try rules.put(Fault(id: "fault-1", action: .silence))
        try rules.put(Fault(id: "b", action: .silence))
        try rules.put(Fault(id: "fault-1", action: .resetConnection))
        #expect(rules.entries.map(\.fault.id) == ["fault-1", "b"])
        #expect(rules.entries[0].fault.action == .resetConnection)
        for id in ["fault-2", "fault-3"] { #expect(rules.identified(Fault(id: "", action: .silence)).id == id) }
        #expect(rules.identified(Fault(id: "c", action: .silence)).id == "c")
        #expect(rules.remove(id: "fault-1") && !rules.remove(id: "fault-1"))
        rules.removeAll()
        #expect(rules.isEmpty)
    }

    @Test func theNumberOfFaultsIsLimited() throws {
        var rules = FaultRules()
        for number in 0..<FaultRules.faultsMax { try rules.put(Fault(id: "\(number)", action: .silence)) }
        #expect(throws: InputError("cannot add the fault: the limit is 64 faults; delete a fault first")) {
            try rules.put(Fault(id: "more", action: .silence))
        }
        try rules.put(Fault(id: "7", action: .resetConnection))
        #expect(rules.entries.count == FaultRules.faultsMax)
    }

    @Test func allFaultsOfAConnectionApply() throws {
        var rules = FaultRules()
        var settings = FaultSettings()
        settings.maxConcurrentStreams = .omit
        try rules.put(Fault(id: "set", trigger: .connection, action: .settings(settings)))
        try rules.put(
            Fault(
                id: "away", trigger: .connection, match: FaultMatch(connection: 2), action: .goAway(FaultGoAway()),
                countMax: 1))
        try rules.put(Fault(id: "request", action: .silence))
        #expect(rules.actions(onConnection: 1, of: .sandboxPush).map(\.id) == ["set"])
        #expect(rules.actions(onConnection: 2, of: .sandboxPush).map(\.id) == ["set", "away"])
        #expect(rules.actions(onConnection: 2, of: .sandboxPush).map(\.id) == ["set"])
        #expect(struck(&rules) == "request", "a connection used up the fault of a request")
    }

    private func struck(
        _ rules: inout FaultRules, service: Service = .sandboxPush, topic: String = "t", token: String = "00",
        pushType: PushType? = nil, connection: Int = 1, idle: Duration = .zero
    ) -> String? {
        withBytes(topic) { topic in
            withBytes(token) { token in
                rules.effect(
                    of: FaultSubject(
                        service: service, connection: connection, topic: topic, deviceToken: token, pushType: pushType,
                        idle: idle)
                ).faultID
            }
        }
    }

    private func subject(topic: UnsafeRawBufferPointer? = nil) -> FaultSubject {
        FaultSubject(service: .sandboxPush, connection: 1, topic: topic)
    }
}

@Suite struct LatencyDistributionTests {
    @Test func hasItsMedianAndItsTail() {
        #expect(percentiles(.constant(5)) == [5, 5, 5])
        let uniform = percentiles(.uniform(min: 10, max: 20))
        #expect(abs(uniform[0] - 15) < 0.3 && abs(uniform[1] - 19.9) < 0.1 && uniform[2] <= 20)
        let normal = percentiles(.normal(median: 100, p99: 150))
        #expect(abs(normal[0] - 100) < 1 && abs(normal[1] - 150) < 3)
        let logNormal = percentiles(.logNormal(median: 20, p99: 200))
        #expect(abs(logNormal[0] - 20) < 1 && abs(logNormal[1] - 200) < 15 && logNormal[2] > 300)
    }

    @Test func staysWithinItsBounds() {
        var random = SeededRandom(seed: 1)
        for distribution in [
            LatencyDistribution.normal(median: 0, p99: 100), .logNormal(median: 500_000, p99: 600_000),
            .logNormal(median: 0, p99: 1), .constant(.infinity), .constant(.nan), .uniform(min: -5, max: -1),
        ] {
            for _ in 0..<2000 {
                let latency = distribution.sample(&random)
                #expect(latency >= .zero && latency <= .milliseconds(600_000))
            }
        }
    }

    /// Returns the median, the 99th percentile and the maximum of 20,000 samples, in milliseconds.
    private func percentiles(_ distribution: LatencyDistribution) -> [Double] {
        var random = SeededRandom(seed: 4)
        let all = (0..<20_000).map { _ in Double(distribution.sample(&random).nanosecondsSaturated) / 1e6 }.sorted()
        return [all[10_000], all[19_800], all[19_999]]
    }
}
