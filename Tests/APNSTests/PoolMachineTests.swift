import EventLoop
import Testing

@testable import APNS

/// Transcripts of a pool's decisions.
@Suite struct PoolMachineTests {
    private let shared = PoolMachine.Demand(hasShared: true)
    private let fresh = PoolMachine.Demand(hasFresh: true)
    private let both = PoolMachine.Demand(hasShared: true, hasFresh: true)
    private let nothing = PoolMachine.Demand()
    private let refused = TransportError(.refused, "refused")

    private func at(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000_000 + Int64(seconds * 1_000_000_000))
    }

    private func machine(connectionsMax: Int = 1, streamsMax: Int = 1) -> PoolMachine {
        PoolMachine(
            PoolMachine.Limits(
                connectionsMax: connectionsMax, streamsMax: streamsMax, probeAnswerSecondsMax: 5),
            ReconnectPolicy.Configuration())
    }

    /// Returns a machine whose only connection, in slot 0, has answered.
    private func opened(connectionsMax: Int = 1, streamsMax: Int = 1) -> PoolMachine {
        var machine = machine(connectionsMax: connectionsMax, streamsMax: streamsMax)
        #expect(machine.nextOpening(shared, at(0)) == .open(slot: 0))
        #expect(machine.settingsReceived(0, streamsMax: nil) == true)
        machine.streamBegan(0, at(0))
        machine.streamEnded(0, .authenticated, at(0))
        return machine
    }

    @Test func opensAnotherConnectionBeforeAllStreamsAreInUse() {
        var machine = opened(connectionsMax: 2, streamsMax: 100)
        let growthRequests = (0..<77).map { _ in machine.streamBegan(0, at(1)) }
        #expect(
            growthRequests.firstIndex(of: true) == 75 && growthRequests.count { $0 } == 1,
            "the check was not requested once at three quarters")
        let (first, second) = (
            machine.nextOpening(.init(isHigh: true), at(1)), machine.nextOpening(.init(isHigh: true), at(1))
        )
        #expect(first == .open(slot: 1) && second == .none, "not exactly one connection was opened")
        _ = machine.settingsReceived(1, streamsMax: nil)
        machine.streamBegan(1, at(2))
        machine.streamEnded(1, .authenticated, at(2))
        #expect(machine.nextOpening(.init(isHigh: true), at(3)) == .none, "a connection was opened beyond the limit")
    }

    @Test func pushesOfOneIterationUseOneConnection() {
        var machine = opened(connectionsMax: 2, streamsMax: 100)
        for _ in 0..<76 { machine.streamBegan(0, at(1)) }
        #expect(machine.nextOpening(.init(isHigh: true), at(1)) == .open(slot: 1))
        _ = machine.settingsReceived(1, streamsMax: nil)
        #expect(machine.choose(priority: 0, at(1)) == 1, "the connection with far fewer requests was not chosen")
        machine.streamBegan(1, at(2))
        machine.streamEnded(1, .authenticated, at(2))
        for _ in 0..<76 { machine.streamEnded(0, .authenticated, at(3)) }
        machine.streamBegan(1, at(4))
        #expect(machine.choose(priority: 0, at(4)) == 1, "the connection changed within one iteration")
        #expect(machine.choose(priority: 0, at(5)) == 0, "the connection with fewer requests was not chosen")
    }

    @Test(arguments: [(0, 300.0), (300_000, 600), (300_001, 300)] as [(UInt64, Double)])
    func drainsAnUnneededConnectionAfterADelay(random: UInt64, wait: Double) {
        var machine = opened(connectionsMax: 2, streamsMax: 100)
        #expect(machine.nextShrinking(at(1)) { random } == .none, "the only connection was drained")
        for _ in 0..<76 { machine.streamBegan(0, at(1)) }
        #expect(machine.nextOpening(.init(isHigh: true), at(1)) == .open(slot: 1))
        _ = machine.settingsReceived(1, streamsMax: nil)
        #expect(machine.nextShrinking(at(2)) { random } == .later(at(2 + wait)))
        for _ in 0..<76 { machine.streamEnded(0, .authenticated, at(50)) }
        for number in 1...26 { machine.streamBegan(0, at(50 + Double(number))) }
        #expect(
            machine.nextShrinking(at(2 + wait)) { random } == .later(at(76 + wait)),
            "the use of more than a quarter did not restart the delay")
        machine.streamBegan(1, at(77))
        machine.streamEnded(1, .authenticated, at(77))
        #expect(
            machine.nextShrinking(at(76 + wait)) { random } == .drain(slot: 0),
            "a connection other than the oldest was drained")
        machine.drain(0)
        #expect(machine.nextShrinking(at(76 + wait)) { random } == .none)
    }

    @Test func theOnlyOpenConnectionIsNotDrained() {
        var machine = opened(connectionsMax: 2, streamsMax: 100)
        #expect(machine.nextOpening(.init(isHigh: true), at(1)) == .open(slot: 1))
        #expect(machine.settingsReceived(1, streamsMax: nil) == true)
        #expect(machine.nextShrinking(at(2)) { 0 } == .later(at(302)))
        #expect(machine.nextShrinking(at(302)) { 0 } == .drain(slot: 1))
    }

    @Test func aReservedConnectionIsNotDrainedForLowLoad() {
        var machine = machine(connectionsMax: 3, streamsMax: 100)
        #expect(machine.nextOpening(shared, at(0)) == .open(slot: 0))
        #expect(machine.nextOpening(fresh, at(0)) == .open(slot: 1))
        for slot in 0...1 { #expect(machine.settingsReceived(slot, streamsMax: nil) == true) }
        #expect(machine.nextShrinking(at(1)) { 0 } == .none, "the only shared connection was drained")
        machine.streamBegan(0, at(1))
        machine.streamEnded(0, .authenticated, at(1))
        #expect(machine.nextOpening(.init(isHigh: true), at(1)) == .open(slot: 2))
        #expect(machine.settingsReceived(2, streamsMax: nil) == true)
        machine.drain(0)
        #expect(machine.nextOpening(.init(isHigh: true), at(1)) == .none)
        machine.streamBegan(2, at(1))
        machine.streamEnded(2, .authenticated, at(1))
        #expect(machine.nextOpening(.init(isHigh: true), at(1)) == .open(slot: 3))
        #expect(machine.nextShrinking(at(2)) { 0 } == .later(at(302)))
        #expect(machine.nextShrinking(at(302)) { 0 } == .drain(slot: 3), "a reserved connection was drained")
    }

    // With few streams, one request at a time does not justify another connection.
    @Test(arguments: [3, 4, 7, 8]) func aTrickleKeepsNoUnneededConnection(streamsMax: Int) {
        var machine = opened(connectionsMax: 2, streamsMax: streamsMax)
        let growthRequests = (0..<streamsMax).map { _ in machine.streamBegan(0, at(1)) }
        #expect(growthRequests.contains(true), "no check was requested with all streams in use")
        for _ in 0..<streamsMax { machine.streamEnded(0, .authenticated, at(1)) }
        #expect(machine.nextOpening(.init(isHigh: true), at(1)) == .open(slot: 1))
        #expect(machine.settingsReceived(1, streamsMax: nil) == true)
        #expect(machine.nextShrinking(at(2)) { 0 } == .later(at(302)))
        for second in 3..<302 {
            #expect(machine.streamBegan(0, at(Double(second))) == false)
            machine.streamEnded(0, .authenticated, at(Double(second)))
        }
        #expect(machine.nextShrinking(at(302)) { 0 } == .drain(slot: 1))
    }

    @Test func opensNoConnectionWithoutDemand() {
        var machine = machine()
        #expect(machine.nextOpening(nothing, at(0)) == .none)
        #expect(machine.choose(priority: 0, at(30)) == nil)
    }

    @Test func opensTheNextConnectionOnceTheFirstIsBusy() {
        var machine = machine(connectionsMax: 2)
        #expect(machine.nextOpening(shared, at(0)) == .open(slot: 0))
        #expect(machine.nextOpening(shared, at(0)) == .none, "a second connection was opened while one connects")
        #expect(machine.choose(priority: 0, at(30)) == nil)
        #expect(machine.settingsReceived(0, streamsMax: nil) == true)
        #expect(machine.settingsReceived(0, streamsMax: 10) == false, "later SETTINGS counted as the first")
        #expect(machine.choose(priority: 0, at(30)) == 0)
        machine.streamBegan(0, at(1))
        #expect(machine.choose(priority: 0, at(30)) == nil)
        #expect(machine.nextOpening(shared, at(2)) == .later(at(6)), "the first answer was not awaited")
        machine.streamEnded(0, .authenticated, at(2))
        machine.streamBegan(0, at(2))
        #expect(machine.nextOpening(shared, at(2)) == .open(slot: 1))
        #expect(machine.nextOpening(shared, at(2)) == .none)
        #expect(machine.settingsReceived(1, streamsMax: nil) == true)
        #expect(machine.choose(priority: 0, at(30)) == 1)
        machine.streamBegan(1, at(2))
        machine.streamEnded(1, .authenticated, at(2))
        machine.streamBegan(1, at(2))
        #expect(machine.nextOpening(shared, at(2)) == .none, "a connection was opened beyond the limit of two")
        #expect(machine.begun == 2)
    }

    @Test func anUnansweredFirstPushAllowsOneMoreConnection() {
        var machine = machine(connectionsMax: 1)
        #expect(machine.nextOpening(shared, at(0)) == .open(slot: 0))
        #expect(machine.settingsReceived(0, streamsMax: nil) == true)
        machine.streamBegan(0, at(1))
        #expect(machine.nextOpening(shared, at(5.9)) == .later(at(6)))
        #expect(machine.nextOpening(shared, at(6)) == .open(slot: 1))
        #expect(machine.nextOpening(shared, at(6)) == .none)
        #expect(machine.settingsReceived(1, streamsMax: nil) == true)
        machine.streamBegan(1, at(7))
        #expect(machine.nextOpening(shared, at(20)) == .none, "two connections were opened beyond the limit")
        machine.streamEnded(1, .authenticated, at(20))
        #expect(machine.choose(priority: 0, at(30)) == 1)
    }

    @Test func aRefusedStreamAllowsAnotherConnection() {
        var machine = opened(streamsMax: 10)
        machine.streamBegan(0, at(1))
        machine.streamBegan(0, at(1))
        machine.streamEnded(0, .refused, at(2))
        #expect(machine.choose(priority: 0, at(30)) == nil)
        #expect(machine.nextOpening(shared, at(3)) == .later(at(7)))
        #expect(machine.nextOpening(shared, at(7)) == .open(slot: 1))
    }

    @Test func aFreshPushGetsAReservedConnection() {
        var machine = opened(streamsMax: 10)
        #expect(machine.nextOpening(fresh, at(1)) == .open(slot: 1))
        #expect(machine.nextOpening(fresh, at(1)) == .none, "two connections for fresh pushes were opened at a time")
        #expect(machine.settingsReceived(1, streamsMax: nil) == true)
        #expect(machine[1]?.isReserved == true)
        #expect(machine.choose(priority: 0, at(30)) == 0, "another push got the reserved connection")
        machine.streamBegan(1, at(1))
        machine.streamEnded(1, .authenticated, at(1))
        #expect(machine.freshEnded(1, isAccepted: true) == [0])
        machine.drain(0)
        #expect(machine.choose(priority: 0, at(30)) == 1)
    }

    @Test func aRefusedFreshPushDrainsOnlyItsConnection() {
        var machine = opened(streamsMax: 10)
        #expect(machine.nextOpening(fresh, at(1)) == .open(slot: 1))
        #expect(machine.settingsReceived(1, streamsMax: nil) == true)
        machine.streamBegan(1, at(1))
        machine.streamEnded(1, .authenticated, at(1))
        #expect(machine.choose(priority: 0, at(30)) == 0)
        #expect(machine.freshEnded(1, isAccepted: false) == [1])
        machine.drain(1)
        #expect(machine.choose(priority: 0, at(30)) == 0)
        #expect(machine.nextOpening(fresh, at(2)) == .open(slot: 2), "the next fresh push got no connection")
    }

    // Refused topics may repeatedly need reserved connections. If reserved connections came first, the limit of
    // connects per minute could delay the shared connection.
    @Test func aSharedConnectionPrecedesAReservedOne() {
        var machine = machine()
        #expect(machine.nextOpening(both, at(0)) == .open(slot: 0))
        #expect(machine[0]?.isReserved == false)
        #expect(machine.nextOpening(both, at(0)) == .open(slot: 1))
        #expect(machine[1]?.isReserved == true)
        #expect(machine.nextOpening(both, at(0)) == .none)
    }

    @Test func aReleasedConnectionIsShared() {
        var machine = machine()
        #expect(machine.nextOpening(fresh, at(0)) == .open(slot: 0))
        #expect(machine.settingsReceived(0, streamsMax: nil) == true)
        #expect(machine.choose(priority: 0, at(30)) == nil)
        machine.release(0)
        #expect(machine.choose(priority: 0, at(30)) == 0)
    }

    // Without the drain, the fresh push could not be sent while both connections are up.
    @Test func aFreshPushDrainsAConnectionAtTheLimit() {
        var machine = opened()
        #expect(machine.nextOpening(fresh, at(1)) == .open(slot: 1))
        #expect(machine.settingsReceived(1, streamsMax: nil) == true)
        machine.release(1)
        machine.streamBegan(0, at(2))
        #expect(machine.nextOpening(nothing, at(2)) == .none)
        #expect(
            machine.nextOpening(fresh, at(2)) == .drain(slot: 1),
            "a connection other than the less busy one was drained")
        machine.drain(1)
        #expect(machine.nextOpening(fresh, at(2)) == .open(slot: 2))
        #expect(machine.nextOpening(fresh, at(2)) == .none)
    }

    @Test func failuresAreCountedUntilAConnectionIsUp() {
        var machine = machine()
        var since: [MonotonicTime] = []
        var now = at(0)
        for failure in 1...3 {
            guard case .open(let slot) = machine.nextOpening(shared, now) else {
                Issue.record("no connection was opened")
                return
            }
            since.append(now)
            let event = machine.closed(slot, refused, now, random: { 0 })
            #expect(event == .cannotConnect(refused, failures: failure, since: since[0]))
            guard case .later(let time) = machine.nextOpening(shared, now) else {
                Issue.record("the next connect has no delay")
                return
            }
            #expect(time > now && time <= now + .seconds(10))
            now = time
        }
        #expect(machine.nextOpening(shared, now) == .open(slot: 0))
        #expect(machine.settingsReceived(0, streamsMax: nil) == true)
        #expect(machine.closed(0, refused, now, random: { 0 }) == .lost(isIdle: true))
        now = now + .seconds(20)
        #expect(machine.nextOpening(shared, now) == .open(slot: 0))
        #expect(
            machine.closed(0, refused, now, random: { 0 }) == .cannotConnect(refused, failures: 1, since: now))
    }

    // A peer that refuses the certificate is reachable, so later failures are another outage.
    @Test func aRefusedCertificateResetsTheFailureCount() {
        var machine = machine()
        let errors = [refused, TransportError(.certificateRefused, "revoked"), refused]
        let events = errors.enumerated().map { index, error in
            let now = at(Double(index) * 20)
            #expect(machine.nextOpening(shared, now) == .open(slot: 0))
            return machine.closed(0, error, now, random: { 0 })
        }
        #expect(
            events == [
                .cannotConnect(refused, failures: 1, since: at(0)), nil,
                .cannotConnect(refused, failures: 1, since: at(40)),
            ])
    }

    /// Opens a connection at the earliest time that the machine allows. Returns the slot of the connection; nil if the
    /// machine opens none.
    private func open(_ machine: inout PoolMachine, _ now: inout MonotonicTime) -> Int? {
        var opening = machine.nextOpening(shared, now)
        if case .later(let time) = opening {
            now = time
            opening = machine.nextOpening(shared, now)
        }
        guard case .open(let slot) = opening else {
            Issue.record("no connection was opened")
            return nil
        }
        return slot
    }

    /// Opens a connection, and begins and ends one push for each element of `ends`. Drains the connection if
    /// `isDrained` is true, and closes the connection. Returns the event of the close; nil without an event.
    private func end(
        _ machine: inout PoolMachine, _ now: inout MonotonicTime, _ ends: [StreamGate.End], isDrained: Bool = false,
        _ error: TransportError = TransportError(.reset, "reset")
    ) -> PoolEvent? {
        guard let slot = open(&machine, &now) else { return nil }
        #expect(machine.settingsReceived(slot, streamsMax: nil) == true)
        for end in ends {
            machine.streamBegan(slot, now)
            machine.streamEnded(slot, end, now)
        }
        if isDrained { machine.drain(slot) }
        return machine.closed(slot, error, now, random: { 0 })
    }

    @Test func connectionsThatEndWithAPushInFlightAreCountedUntilOneIsAnswered() {
        var (machine, now) = (machine(), at(0))
        let reset = TransportError(.reset, "reset")
        for connections in 1...3 {
            #expect(end(&machine, &now, [.cutOff]) == .endedUnanswered(reset, connections: connections))
        }
        #expect(now > at(2), "the delays did not grow")
        #expect(
            end(&machine, &now, []) == .lost(isIdle: true), "the end of an idle connection was reported as unanswered")
        #expect(
            end(&machine, &now, [.other]) == .lost(isIdle: true),
            "the end after a completed push was reported as unanswered")
        #expect(end(&machine, &now, [.cutOff], isDrained: true) == nil)
        #expect(end(&machine, &now, [.cutOff], TransportError(.certificateRefused, "revoked")) == .lost(isIdle: false))
        #expect(end(&machine, &now, [.cutOff]) == .endedUnanswered(reset, connections: 4))
        #expect(end(&machine, &now, [.answered, .cutOff]) == .lost(isIdle: false))
        #expect(end(&machine, &now, [.cutOff]) == .endedUnanswered(reset, connections: 1))
        #expect(end(&machine, &now, [.authenticated, .cutOff]) == .lost(isIdle: false))
        #expect(end(&machine, &now, [.cutOff]) == .endedUnanswered(reset, connections: 1))
    }

    // With a certificate, many pushes may be sent at once, and APNs may have processed each.
    @Test func whileConnectionsEndUnansweredEachGetsOnePush() {
        var machine = PoolMachine(
            PoolMachine.Limits(connectionsMax: 1, streamsMax: 100, requiresTokenProof: false, probeAnswerSecondsMax: 5),
            ReconnectPolicy.Configuration())
        var now = at(0)
        _ = end(&machine, &now, [.cutOff])
        #expect(open(&machine, &now) == 0)
        #expect(machine.settingsReceived(0, streamsMax: nil) == true)
        #expect(machine[0]?.gate.free() == 1 && !machine.isAuthenticated)
        machine.streamBegan(0, now)
        machine.streamEnded(0, .authenticated, now)
        #expect(machine[0]?.gate.free() == 100 && machine.isAuthenticated)
    }

    @Test func reportsNoLossWhileAnotherConnectionIsUp() {
        var machine = opened(connectionsMax: 3)
        machine.streamBegan(0, at(1))
        #expect(machine.nextOpening(shared, at(1)) == .open(slot: 1))
        #expect(machine.closed(1, refused, at(2), random: { 0 }) == nil)
        #expect(machine.nextOpening(shared, at(20)) == .open(slot: 1))
        #expect(machine.settingsReceived(1, streamsMax: nil) == true)
        #expect(machine.goAwayReceived(1) == nil)
        #expect(machine.closed(1, refused, at(21), random: { 0 }) == nil)
        #expect(machine.closed(0, refused, at(22), random: { 0 }) == .lost(isIdle: false))
    }

    @Test func answersOnOtherConnectionsDoNotShortenTheDelayAfterAFailure() {
        var machine = opened(connectionsMax: 2)
        machine.streamBegan(0, at(1))
        #expect(machine.nextOpening(shared, at(1)) == .open(slot: 1))
        #expect(machine.closed(1, refused, at(1), random: { 0 }) == nil)
        #expect(machine.nextOpening(shared, at(1)) == .later(at(2)))
        machine.streamEnded(0, .authenticated, at(1))
        machine.streamBegan(0, at(1))
        #expect(machine.nextOpening(shared, at(1)) == .later(at(2)))
    }

    @Test func reportsNoLossOfADrainedConnection() {
        var machine = opened()
        machine.drain(0)
        #expect(machine.closed(0, refused, at(1), random: { 0 }) == nil)
        machine = opened()
        #expect(machine.goAwayReceived(0) == .lost(isIdle: true), "a drain by the peer was not reported as a loss")
        #expect(machine.closed(0, refused, at(1), random: { 0 }) == nil, "one loss was reported twice")
    }

    @Test func probingConnectsWithoutAPush() {
        var machine = machine()
        #expect(machine.probe() == false)
        #expect(machine.nextOpening(nothing, at(0)) == .open(slot: 0))
        #expect(machine.nextOpening(nothing, at(0)) == .none)
        _ = machine.closed(0, refused, at(0), random: { 0 })
        guard case .later(let time) = machine.nextOpening(nothing, at(0)) else {
            Issue.record("the next probe has no delay")
            return
        }
        #expect(machine.nextOpening(nothing, time) == .open(slot: 0))
        #expect(machine.settingsReceived(0, streamsMax: nil) == true)
        #expect(machine.probe() == true, "the connection was not noticed")
        _ = machine.closed(0, refused, time, random: { 0 })
        #expect(machine.nextOpening(nothing, time + .seconds(60)) == .none, "probing continued after the connect")
        #expect(machine.probe() == false)
        machine.stopProbing()
        #expect(machine.nextOpening(nothing, time + .seconds(60)) == .none)
    }

    @Test func retiredConnectionsDoNotCountAsFailures() {
        var machine = machine()
        #expect(machine.nextOpening(shared, at(0)) == .open(slot: 0))
        #expect(machine.retire() == [0])
        machine.drain(0)
        #expect(
            machine.nextOpening(shared, at(0)) == .open(slot: 1), "the retired connection was not replaced immediately")
        #expect(machine.closed(0, refused, at(0), random: { 0 }) == nil)
        #expect(machine.settingsReceived(1, streamsMax: nil) == true)
        #expect(machine.retire() == [1])
        machine.drain(1)
        #expect(machine.retire() == [])
        #expect(machine.nextOpening(shared, at(0)) == .open(slot: 0))
    }

    @Test func opensNoConnectionAfterStopAccepting() {
        var machine = opened()
        machine.streamBegan(0, at(1))
        machine.stopAccepting()
        _ = machine.probe()
        #expect(machine.nextOpening(both, at(1)) == .none)
        #expect(machine.closed(0, refused, at(2), random: { 0 }) == nil)
    }
}
