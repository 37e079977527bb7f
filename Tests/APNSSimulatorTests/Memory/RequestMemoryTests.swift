import Crypto
import EventLoop
import HTTP2
import Testing

@testable import APNSSimulator

private let id = "eabeae54-14a8-11e5-b60b-1697f925ec7b"

/// Tests of a server's request memory with real requests.
@Suite struct RequestMemoryTests {
    @Test func keepsTimesOfRequestAndAnswer() throws {
        let apns = try VirtualAPNS { configuration, _ in configuration.answerDelay = .milliseconds(50) }
        let client = try connect(to: apns)
        let start = apns.server.now.unixMilliseconds
        apns.loop.enter { _ = client.push(id: id) }
        #expect(apns.run { apns.server.counters.inFlight == 1 })
        #expect(apns.requests.first?.answeredUnixMilliseconds == nil)
        #expect(apns.requests.first?.status == 200, "the log does not show the planned status")
        apns.settle()
        let request = try #require(apns.requests.first)
        #expect(request.unixMilliseconds >= start && request.unixMilliseconds < start + 50)
        #expect(request.answeredUnixMilliseconds == request.unixMilliseconds + 50)
    }

    @Test func keepsHeaderRepresentations() throws {
        let apns = try VirtualAPNS()
        let client = try connect(to: apns)
        for _ in 0..<2 {
            apns.loop.enter { _ = client.push(id: id) }
            apns.settle()
        }
        let forms = apns.requests.map { request in
            request.headers.filter { $0.name.hasPrefix("a") }.map {
                "\($0.name) \($0.representation.form.map { "\($0)" } ?? "-")"
            }
        }
        #expect(
            forms == [
                [
                    "authorization neverIndexed", "apns-topic incremental", "apns-push-type incremental",
                    "apns-id neverIndexed",
                ],
                ["authorization neverIndexed", "apns-topic indexed", "apns-push-type indexed", "apns-id neverIndexed"],
            ])
        #expect(apns.requests[0]["authorization"]?.split(separator: ".").count == 2)
    }

    @Test func findsDuplicates() throws {
        let apns = try VirtualAPNS()
        let client = try connect(to: apns)
        let other = "11111111-2222-4333-8444-555555555555"
        for id in [id, other, id, id] {
            apns.loop.enter { _ = client.push(id: id) }
            apns.settle()
        }
        #expect(apns.requests.map(\.isDuplicate) == [false, false, true, true])
        #expect(apns.server.memory.duplicates.map { "\($0.id) \($0.times) \($0.number)" } == ["\(id) 3 4"])
        #expect(apns.server.counters.duplicateIDs == 2)
    }

    @Test func withoutALogOnlyIDsAreKept() throws {
        let apns = try VirtualAPNS { configuration, _ in configuration.requestsLoggedMax = 0 }
        let client = try connect(to: apns)
        for _ in 0..<2 {
            apns.loop.enter { _ = client.push(id: id) }
            apns.settle()
        }
        #expect(apns.requests.isEmpty)
        #expect(apns.server.memory.duplicates.map { "\($0.times) \($0.number)" } == ["2 0"])
        apns.loop.enter {
            _ = #expect(throws: RequestWaitError.notLogging) {
                try apns.server.memory.whenRequest(RequestQuery(), within: .seconds(1)) { _ in }
            }
        }
    }

    @Test func waitsReceiveMatchingRequests() throws {
        let apns = try VirtualAPNS()
        let client = try connect(to: apns)
        var results: [String] = []
        func wait(_ name: String, _ query: RequestQuery, seconds: Int) throws -> RequestWait? {
            try apns.loop.enter {
                try apns.server.memory.whenRequest(query, within: .seconds(seconds)) { page in
                    results.append("\(name) \(page?.requests.map { String($0.number) } ?? ["nil"])")
                }
            }
        }
        let other = try #require(UUIDValue("11111111-2222-4333-8444-555555555555"))
        #expect(try wait("first", RequestQuery(apnsID: UUIDValue(id)), seconds: 10) != nil)
        #expect(try wait("unmatched", RequestQuery(apnsID: other), seconds: 10) != nil)
        let cancelled = try #require(try wait("cancelled", RequestQuery(), seconds: 10))
        apns.loop.enter { apns.server.memory.cancel(cancelled) }
        apns.loop.enter { _ = client.push(id: id) }
        #expect(apns.run { !results.isEmpty })
        #expect(results == [#"first ["1"]"#])
        #expect(try wait("immediate", RequestQuery(status: 200), seconds: 10) == nil)
        #expect(results.last == #"immediate ["1"]"#)
        #expect(try wait("later", RequestQuery(after: 1), seconds: 10) != nil)
        let start = apns.loop.now.monotonic
        #expect(apns.run { results.count == 4 })
        #expect(results.suffix(2) == [#"unmatched ["nil"]"#, #"later ["nil"]"#])
        #expect(start.duration(to: apns.loop.now.monotonic) <= .seconds(10))
    }

    @Test func waitsAreLimited() throws {
        let apns = try VirtualAPNS()
        var ended = 0
        try apns.loop.enter {
            for _ in 0..<RequestWaits.waitsMax {
                try apns.server.memory.whenRequest(RequestQuery(), within: .seconds(1_000_000)) { _ in ended += 1 }
            }
            _ = #expect(throws: RequestWaitError.tooMany) {
                try apns.server.memory.whenRequest(RequestQuery(), within: .seconds(1)) { _ in }
            }
        }
        let start = apns.loop.now.monotonic
        apns.settle()
        #expect(ended == RequestWaits.waitsMax)
        #expect(start.duration(to: apns.loop.now.monotonic) <= .seconds(60))
    }

    @Test func resetMemoryRemovesEverything() throws {
        let apns = try VirtualAPNS { configuration, _ in configuration.answerDelay = .seconds(1) }
        let client = try connect(to: apns)
        apns.loop.enter { _ = client.push(id: id) }
        #expect(apns.run { apns.server.counters.inFlight == 1 })
        apns.loop.enter { apns.server.resetMemory() }
        #expect(apns.requests.isEmpty && apns.server.memory.duplicates.isEmpty)
        #expect(apns.server.counters.requests == 0 && apns.server.counters.inFlight == 1)
        #expect(apns.server.counters.connectionsOpen == 1)
        apns.settle()
        // The request that was in flight at the reset is not counted when it ends.
        #expect(apns.server.counters.inFlight == 0 && apns.server.counters.accepted == 0)
        apns.loop.enter { _ = client.push(id: id) }
        apns.settle()
        #expect(apns.requests.map { "\($0.number) \($0.isDuplicate)" } == ["1 false"])
    }

    @Test func restartedNumbersApplyToWaits() throws {
        let apns = try VirtualAPNS { configuration, _ in configuration.answerDelay = .seconds(1) }
        let client = try connect(to: apns)
        for _ in 0..<2 {
            apns.loop.enter { _ = client.push(id: id) }
            apns.settle()
        }
        apns.loop.enter { _ = client.push(id: id) }
        #expect(apns.run { apns.server.counters.inFlight == 1 })
        var results: [[Int]?] = []
        try apns.loop.enter {
            for after in [1, 3] {
                let query = RequestQuery(after: after, apnsID: UUIDValue("11111111-2222-4333-8444-555555555555"))
                try apns.server.memory.whenRequest(query, within: .seconds(60)) {
                    results.append($0?.requests.map(\.number))
                }
            }
            apns.server.resetMemory()
            _ = client.push(id: "11111111-2222-4333-8444-555555555555")
        }
        #expect(apns.run { results.count == 2 })
        #expect(results == [[1], [1]])
        // The answer to an earlier request is not assigned to the new request.
        #expect(apns.run { apns.server.counters.inFlight == 1 })
        #expect(apns.server.counters.accepted == 0)
        #expect(apns.requests.first?.answeredUnixMilliseconds == nil)
        // A query with a number from before the reset returns all requests after the reset.
        let page = apns.loop.enter { apns.server.memory.requests(RequestQuery(after: 3)) }
        #expect(page.requests.map(\.number) == [1] && page.newest == 1)
    }

    private func connect(to apns: VirtualAPNS) throws -> ProviderClient {
        let client = apns.connect()
        try #require(apns.run { !client.streamsMax.isEmpty })
        return client
    }
}
