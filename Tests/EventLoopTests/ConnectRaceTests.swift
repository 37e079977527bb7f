import Testing

@testable import EventLoop

@Suite struct ConnectRaceTests {
    private func at(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    private func race(_ addresses: Int, seconds: Int = 8) -> ConnectRace {
        ConnectRace(addresses: addresses, limit: .seconds(seconds))
    }

    @Test func nextAddressIsTriedAfterTheDelayAndTheFirstConnectionWins() {
        var race = race(3)
        #expect(race.start(at(0)) == [.connect(0), .arm(at(250))])
        #expect(race.timerFired(at(250)) == [.connect(1), .arm(at(500))])
        #expect(race.timerFired(at(500)) == [.connect(2), .arm(at(8000))], "the other attempts did not continue")
        #expect(race.connected(1) == [.cancel(0), .cancel(2), .finish(.connected(1))])
        #expect(race.triedCount == 3)
    }

    @Test func aFailureBeginsTheNextAttemptImmediately() {
        var race = race(4)
        _ = race.start(at(0))
        #expect(race.failed(0, at(10)) == [.connect(1), .arm(at(260))])
        #expect(race.timerFired(at(260)) == [.connect(2), .arm(at(510))])
        #expect(race.failed(1, at(300)) == [.connect(3), .arm(at(8000))])
        #expect(race.failed(3, at(310)) == [], "the race ended although another attempt is open")
        #expect(race.connected(2) == [.finish(.connected(2))])
    }

    @Test func raceFailsIfAllAttemptsFail() {
        var race = race(2)
        _ = race.start(at(0))
        _ = race.failed(0, at(1))
        #expect(race.failed(1, at(2)) == [.finish(.failed)])
    }

    @Test func theLimitEndsTheRace() {
        var race = race(2)
        _ = race.start(at(0))
        _ = race.timerFired(at(250))
        #expect(race.timerFired(at(8000)) == [.cancel(0), .cancel(1), .finish(.timedOut)])
    }

    @Test func aTimerThatFiresEarlyIsArmedAgain() {
        var race = race(2)
        _ = race.start(at(0))
        #expect(race.timerFired(at(249)) == [.arm(at(250))])
    }

    @Test func eventsAfterTheEndAreIgnored() {
        var race = race(2)
        _ = race.start(at(0))
        _ = race.timerFired(at(250))
        _ = race.connected(0)
        #expect(race.connected(1) == [])
        #expect(race.failed(1, at(300)) == [])
        #expect(race.timerFired(at(8000)) == [])
    }

    @Test func aFurtherAddressReplacesTheOldestAttempt() {
        var race = race(ConnectRace.attemptsMax + 1)
        _ = race.start(at(0))
        for number in 1..<ConnectRace.attemptsMax { _ = race.timerFired(at(Int64(number) * 250)) }
        #expect(race.timerFired(at(2000)) == [.cancel(0), .connect(8), .arm(at(8000))])
        #expect(race.connected(0) == [], "a canceled attempt won the race")
        #expect(race.failed(8, at(2001)) == [])
    }

    @Test func addressesBeyondTheLimitAreNotTried() {
        var race = race(1000)
        var actions = race.start(at(0))
        var now: Int64 = 0
        var tried = 0
        while !actions.contains(.finish(.failed)) {
            now += 1
            let connects = actions.compactMap { action in if case .connect(let index) = action { index } else { nil } }
            tried += connects.count
            actions = connects.first.map { race.failed($0, at(now)) } ?? [.finish(.failed)]
        }
        #expect(tried == ConnectRace.addressesMax)
    }

    @Test func aShortLimitSufficesForEveryAddress() {
        var race = race(16, seconds: 1)
        var actions = race.start(at(0))
        while case .arm(let time) = actions.last { actions = race.timerFired(time) }
        #expect(race.triedCount == 16)
        #expect(actions.last == .finish(.timedOut))
    }
}

@Suite struct AddressMemoryTests {
    private static let place = Endpoint(host: "push.example.com", port: 443)
    private let start = MonotonicTime(nanoseconds: 5_000_000_000)

    private static func address(_ host: String) -> SocketAddress {
        // The host is an address, so the name service is not queried.
        Resolver.numeric(Endpoint(host: host, port: 443))![0]
    }

    private let v4 = (1...3).map { address("192.0.2.\($0)") }
    private let v6 = (1...2).map { address("2001:db8::\($0)") }

    @Test func familiesAlternate() {
        var memory = AddressMemory()
        #expect(memory.ordered(v6 + v4, of: Self.place, start) == [v6[0], v4[0], v6[1], v4[1], v4[2]])
        #expect(memory.ordered(v4 + v6, of: Self.place, start) == [v4[0], v6[0], v4[1], v6[1], v4[2]])
        #expect(memory.ordered([v4[0], v4[0]], of: Self.place, start) == [v4[0]], "an address occurs twice")
        #expect(memory.ordered([], of: Self.place, start) == [])
    }

    @Test func theAddressThatWorkedIsTriedFirst() {
        var memory = AddressMemory()
        memory.connected(to: v4[2], wasFirst: false, of: Self.place, start)
        #expect(memory.ordered(v4, of: Self.place, start) == [v4[2], v4[0], v4[1]])
        let other = Endpoint(host: "other.example.com", port: 443)
        #expect(memory.ordered(v4, of: other, start) == v4)
        let orderWithoutIt = memory.ordered([v4[0], v4[1]], of: Self.place, start)
        #expect(orderWithoutIt == [v4[0], v4[1]], "the order contains an address that the name no longer has")
    }

    @Test func resolverOrderIsKeptWhileTheFirstAddressWorks() {
        var memory = AddressMemory()
        memory.connected(to: v4[0], wasFirst: true, of: Self.place, start)
        #expect(memory.ordered([v4[1], v4[0]], of: Self.place, start) == [v4[1], v4[0]])
        #expect(memory.endpointCount == 0)
    }

    @Test func anAddressThatWasSilentIsTriedLast() {
        var memory = AddressMemory()
        memory.connected(to: v4[1], wasFirst: false, of: Self.place, start)
        memory.wasSilent(v4[1], of: Self.place, start)
        #expect(memory.ordered(v4, of: Self.place, start) == [v4[0], v4[2], v4[1]])
        for address in v4 { memory.wasSilent(address, of: Self.place, start) }
        #expect(memory.ordered(v4, of: Self.place, start) == v4)
    }

    @Test func entriesExpire() {
        var memory = AddressMemory()
        memory.connected(to: v4[2], wasFirst: false, of: Self.place, start)
        memory.connected(to: v4[2], wasFirst: true, of: Self.place, start + .seconds(599))
        #expect(memory.ordered(v4, of: Self.place, start + .seconds(599)).first == v4[2])
        #expect(memory.ordered(v4, of: Self.place, start + .seconds(600)).first == v4[0])
        for number in 0..<1000 {
            let place = Endpoint(host: "\(number).example.com", port: 443)
            memory.connected(to: v4[1], wasFirst: false, of: place, start + .seconds(700 + number))
        }
        #expect(memory.endpointCount == AddressMemory.endpointsMax)
    }
}
