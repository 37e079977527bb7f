import Crypto
import Delivery
import EventLoop
import TestKit
import Testing

@testable import Console
@testable import ControlProtocol

/// Changes, causes, the audit and actions.
@Suite struct ConsoleStateTests {
    // MARK: Changes

    @Test func `A reader learns each part that has changed`() {
        var log = ChangeLog()
        #expect(log.changed(after: 0) == ConsolePart.allCases)
        let start = log.sequence
        #expect(log.changed(after: start) == [])
        log.note(.queues)
        log.note(.fleet)
        log.note(.fleet)
        #expect(log.changed(after: start) == [.fleet, .queues])
        #expect(log.changed(after: start + 1) == [.fleet] && log.changed(after: log.sequence) == [])
        // A number of an earlier process, and a forged one.
        #expect(log.changed(after: log.sequence + 1) == ConsolePart.allCases)
        #expect(log.changed(after: -1) == ConsolePart.allCases)
    }

    // MARK: Causes

    private func report(_ number: UInt64, _ breakers: [WorkerStatus.OpenBreaker], hasEnded: Bool = false) -> [UInt8] {
        var status = WorkerStatus(worker: "w\(number)")
        status.breakers = breakers
        return FleetReport(
            status, bootID: UUIDValue(high: 1, low: number), sequence: 1, sentAt: 1_764_300_000_000, hasEnded: hasEnded
        ).json
    }

    private func breaker(
        _ code: String = "InvalidProviderToken", _ route: String = "api.push.apple.com:443 key ABC123DEFG",
        seconds: Int = 10, apps: [String] = []
    ) -> WorkerStatus.OpenBreaker {
        WorkerStatus.OpenBreaker(
            route: route, code: code, sentence: "APNs refuses the key.", secondsOpen: seconds, apps: apps)
    }

    @Test func `One key that twelve workers report is one card`() {
        var view = FleetView()
        for number in 1...12 {
            let first = breaker(seconds: Int(number), apps: ["a", "b\(number)"])
            let own = number == 12 ? [] : [first, breaker(seconds: 3)]
            #expect(view.receive(report(UInt64(number), own), at: .at(0)) == .accepted)
        }
        let cards = CauseCard.cards(of: view.workers(at: .at(5)), at: .at(5))
        #expect(cards.map(\.workers) == [11] && cards.map(\.seconds) == [16])
        #expect(cards.map(\.scope) == [.part(.key("ABC123DEFG"))])
        #expect(cards.first?.apps == Set(["a"] + (1...11).map { "b\($0)" }))
    }

    @Test func `Different routes are different cards, the longest open first`() {
        var view = FleetView()
        let topic = breaker("TopicDisallowed", "api.push.apple.com:443 key K topic com.example.shop", seconds: 90)
        let endpoint = breaker("unreachable", "api.push.apple.com:443", seconds: 20)
        _ = view.receive(report(1, [endpoint, topic]), at: .at(0))
        // A worker that has ended, and one that has fallen silent.
        _ = view.receive(report(2, [breaker()], hasEnded: true), at: .at(0))
        _ = view.receive(report(3, [breaker()]), at: .at(-100))
        let cards = CauseCard.cards(of: view.workers(at: .at(0)), at: .at(0))
        #expect(cards.map(\.code) == ["TopicDisallowed", "unreachable"])
        #expect(cards.map(\.scope) == [.part(.topic("com.example.shop")), .endpoint("api.push.apple.com:443")])
    }

    @Test(arguments: [
        ("h:443", ProbeScope.endpoint("h:443")), ("h:443 key K", .part(.key("K"))), ("store", .store),
        ("h:443 certificate my topic", .part(.certificate("my topic"))), ("h key K topic t", .part(.topic("t"))),
        ("h certificate a b topic t", .part(.topic("t"))), ("h other", .endpoint("h other")), ("", .endpoint("")),
        ("h everything", .endpoint("h everything")),
    ])
    func `The scope of a breaker can be probed`(route: String, scope: ProbeScope) {
        #expect(ProbeScope(ofRoute: route) == scope && scope.contains(route: route))
    }

    @Test func `Forged reports have limited cards`() {
        var view = FleetView()
        for number in 1...30 {
            let forged = (0..<20).map {
                breaker(
                    "<b>\u{202E}\($0)", "\(number) \($0)", seconds: .max,
                    apps: ["a\u{202E}"])
            }
            #expect(view.receive(report(UInt64(number), forged), at: .at(0)) == .accepted)
        }
        let cards = CauseCard.cards(of: view.workers(at: .at(0)), at: .at(0))
        #expect(cards.count == CauseCard.cardsMax)
        #expect(cards.allSatisfy { $0.apps.count == 1 && !$0.apps.contains("a\u{202E}") })
        #expect(cards.allSatisfy { !$0.code.contains("\u{202E}") && $0.seconds <= Int(Int32.max) })
    }

    @Test func `A card names a limited number of apps`() {
        var view = FleetView()
        for number in 1...30 {
            let forged = breaker(apps: (0..<10).map { "\(number) \($0)" })
            #expect(view.receive(report(UInt64(number), [forged]), at: .at(0)) == .accepted)
        }
        let cards = CauseCard.cards(of: view.workers(at: .at(0)), at: .at(0))
        #expect(cards.map(\.apps.count) == [100])
    }

    @Test(arguments: ["InvalidProviderToken", "certificate-refused", "unreachable"])
    func `A cause leads to a section of the operators' guide`(code: String) throws {
        let heading = try #require(CauseCard.guideSection(for: code))
        let guide = try Files.lines(of: Products.file("Sources/Documentation/Operators/Incidents.md"))
        #expect(guide.contains("## \(heading)") && guide.first == "# Handle incidents by symptom")
    }

    // MARK: Audit

    private func record(_ number: Int) -> AuditRecord {
        AuditRecord(
            id: UUIDValue(high: 0, low: UInt64(number)), at: 1_764_300_000_000, by: "alice", verb: "pause",
            phase: .before, why: "reason \(number)", command: "martlet pause", count: number, console: "host/1")
    }

    @Test func `Records are read and written`() throws {
        var record = record(1)
        #expect(try AuditRecord(json: record.json) == record && record.routingKey == "audit.pause")
        record = AuditRecord(
            id: record.id, at: record.at, by: "", verb: "login", phase: .after, why: "a\u{1B}[31mb",
            result: String(repeating: "ü", count: 2000), console: "c")
        #expect(try AuditRecord(json: record.json) == record)
        #expect(record.by == "-" && record.why?.contains("\u{1B}") == false && (record.result?.utf8.count ?? 0) <= 1000)
    }

    @Test func `Pages of the audit lead to the oldest record`() {
        var trail = AuditTrail()
        #expect(trail.page(before: nil).records.isEmpty && trail.page(before: nil).next == nil)
        for number in 0..<250 {
            let isNew = trail.isNew(Int64(number * 3))
            #expect(isNew)
            trail.add(record(number), at: Int64(number * 3))
        }
        #expect(!trail.isNew(3) && !trail.isNew(747) && trail.isNew(748))
        var seen: [Int] = []
        var cursor: Int64?
        repeat {
            let page = trail.page(before: cursor)
            seen += page.records.compactMap(\.count)
            cursor = page.next
        } while cursor != nil
        #expect(seen == Array((0..<250).reversed()))
        #expect(trail.page(before: 0).records.isEmpty && trail.page(before: .max).records.count == AuditTrail.pageMax)
    }

    @Test func `The trail keeps the newest records`() {
        var trail = AuditTrail()
        for number in 0..<(3 * AuditTrail.recordsMax) { trail.add(record(number), at: Int64(number)) }
        #expect(trail.page(before: nil).records.first?.count == 3 * AuditTrail.recordsMax - 1)
        let oldest = Int64(2 * AuditTrail.recordsMax)
        #expect(trail.page(before: oldest).records.isEmpty && trail.page(before: oldest + 1).records.count == 1)
    }

    @Test func `The newest action without an end may hold a lock`() {
        func record(_ id: Int, _ verb: String, _ phase: AuditRecord.Phase, at: Int64) -> AuditRecord {
            AuditRecord(id: self.id(id), at: at, by: "ann", verb: verb, phase: phase, console: "c")
        }
        var trail = AuditTrail()
        let records = [
            record(1, "redrive", .before, at: 10), record(2, "drop", .before, at: 20),
            record(3, "pause", .before, at: 30), record(2, "drop", .after, at: 40),
            record(4, "stop", .after, at: 50),
        ]
        for (offset, record) in records.enumerated() { trail.add(record, at: Int64(offset)) }
        #expect(trail.unfinished(["redrive", "drop"], since: 0)?.id == id(1))
        #expect(trail.unfinished(["redrive", "drop"], since: 11) == nil && trail.unfinished(["drop"], since: 0) == nil)
        trail.add(record(1, "redrive", .after, at: 60), at: 5)
        #expect(trail.unfinished(["redrive", "drop"], since: 0) == nil)
    }

    // MARK: Actions

    private func id(_ number: Int) -> UUIDValue { UUIDValue(high: 7, low: UInt64(number)) }

    @Test func `A repeated request is the same action`() {
        var table = ActionTable()
        #expect(table.begin(id(1), by: "alice", content: "x") == .begun)
        guard case .known(let known) = table.begin(id(1), by: "alice", content: "x") else {
            Issue.record("begun twice")
            return
        }
        #expect(known.state == .running)
        #expect(table.begin(id(1), by: "bob", content: "x") == .taken)
        #expect(table.begin(id(1), by: "alice", content: "y") == .taken)
        table.end(id(1), .done("r"))
        #expect(table.action(id(1))?.state == .done("r"))
    }

    @Test func `Actions are limited`() {
        var table = ActionTable()
        for number in 0..<ActionTable.runningMax {
            #expect(table.begin(id(number), by: "a", content: "x") == .begun)
        }
        #expect(table.begin(id(99), by: "a", content: "x") == .full)
        for number in 0..<ActionTable.runningMax { table.end(id(number), .done("")) }
        for number in 100..<(100 + ActionTable.actionsMax) {
            #expect(table.begin(id(number), by: "a", content: "x") == .begun)
            table.end(id(number), .failed(""))
        }
        #expect(table.action(id(0)) == nil && table.action(id(100)) != nil)
    }
}
