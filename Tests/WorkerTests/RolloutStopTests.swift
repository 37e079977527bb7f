import EventLoop
import Testing

@testable import ControlProtocol
@testable import Worker

/// Transcripts of signals and of terminated lanes, in every state.
@Suite struct RolloutStopTests {
    private typealias Machine = Rollout<String>
    private typealias Transcript = RolloutTranscript

    private var transcript = Transcript("A")

    private static func terminated(_ undrained: Int) -> Machine.Event {
        .signalled(.terminate, undrained: undrained, drainDeadlineSeconds: 30)
    }

    /// Sends SIGTERM, and expects a drain. Deliveries have 30 s, and the process exits 5 s later at the latest.
    private mutating func stop(at seconds: Int64, undrained: Int = 2) {
        transcript.expect(
            Self.terminated(undrained), at: seconds, .notifyStopping, .drain(deadlineSeconds: 30),
            .setTimer(.at(seconds + 35)))
        #expect(transcript.rollout.phase == .draining)
    }

    @Test mutating func aSignalWhileTheTopologyIsMissingEndsTheWorker() {
        transcript.expect(.processStarted, at: 0, .awaitTopology(.init(0, "A")))
        transcript.expect(Self.terminated(0), at: 1, .notifyStopping, .exit(.success))
        transcript.expect(.topologyChecked(0, nil), at: 2)
        transcript.expect(.versionRead("B"), at: 3)
        transcript.expect(Self.terminated(0), at: 4)
    }

    @Test mutating func aSignalDrainsAndTheEndOfTheLastThreadEndsTheWorker() {
        transcript.reachSteady()
        stop(at: 10)
        transcript.expect(.laneDrained(unfinished: 0), at: 11)
        transcript.expect(.laneDrained(unfinished: 0), at: 12)
        transcript.expect(.ended(0), at: 13, .exit(.success), .setTimer(nil))
        #expect(transcript.rollout.state == .stopped(.success))
        transcript.expect(Self.terminated(0), at: 13)
    }

    /// The consumers of registration and channel commands may take longer to close than the lanes take to drain.
    @Test mutating func aSecondSignalEndsTheWorkerWhileOtherThreadsClose() {
        transcript.reachSteady()
        stop(at: 10)
        transcript.expect(.laneDrained(unfinished: 0), at: 11)
        transcript.expect(.laneDrained(unfinished: 0), at: 11)
        #expect(transcript.rollout.phase == .draining)
        transcript.expect(Self.terminated(0), at: 12, .abort(.terminated), .setTimer(nil))
        transcript.expect(.ended(0), at: 13)
    }

    @Test mutating func threadsThatDoNotEndAreAbandonedAfterTheDrainDeadline() {
        transcript.reachSteady()
        stop(at: 10)
        transcript.expect(.laneDrained(unfinished: 0), at: 11)
        transcript.expect(.laneDrained(unfinished: 0), at: 11)
        transcript.expect(.timerFired, at: 45, .abort(.timedOut))
        transcript.expect(.ended(0), at: 46)
    }

    @Test mutating func unfinishedDeliveriesShowInTheExitStatus() {
        transcript.reachSteady()
        stop(at: 10)
        transcript.expect(.laneDrained(unfinished: 3), at: 11)
        transcript.expect(.laneDrained(unfinished: 0), at: 12)
        transcript.expect(.ended(0), at: 13, .exit(.timedOut), .setTimer(nil))
    }

    @Test mutating func lanesThatDoNotReportAreAbandonedAfterTheDrainDeadline() {
        transcript.reachSteady()
        stop(at: 10)
        transcript.expect(.laneDrained(unfinished: 0), at: 11)
        transcript.expect(.timerFired, at: 45, .abort(.timedOut))
        transcript.expect(.laneDrained(unfinished: 0), at: 46)
    }

    @Test(arguments: [(StopSignal.terminate, WorkerExit.terminated), (.interrupt, .interrupted)])
    mutating func aSecondSignalEndsTheWorkerImmediately(signal: StopSignal, exit: WorkerExit) {
        transcript.reachSteady()
        stop(at: 10)
        let second = Machine.Event.signalled(signal, undrained: 2, drainDeadlineSeconds: 30)
        transcript.expect(second, at: 11, .abort(exit), .setTimer(nil))
        transcript.expect(second, at: 12)
        transcript.expect(.timerFired, at: 45)
    }

    @Test mutating func aSignalWhileTheTopologyOfAChangeIsCheckedDrainsTheCurrentLanes() {
        transcript.reachSteady()
        transcript.expect(.versionRead("B"), at: 9, .checkTopology(.init(1, "B")))
        transcript.expect(.versionRead("C"), at: 9)
        stop(at: 10)
        transcript.expect(.topologyChecked(1, nil), at: 11)
        transcript.expect(.laneDrained(unfinished: 0), at: 12)
        transcript.expect(.laneDrained(unfinished: 0), at: 12)
        transcript.expect(.ended(0), at: 13, .exit(.success), .setTimer(nil))
    }

    @Test mutating func aSignalWhileLanesStartDrainsThemToo() {
        transcript.reachSteady()
        transcript.warm("B", 1, at: 9)
        stop(at: 10, undrained: 2)
        transcript.expect(.readinessChanged(1, isReady: true, lane: 0), at: 11)
        transcript.expect(.laneDrained(unfinished: 0), at: 11)
        transcript.expect(.laneDrained(unfinished: 0), at: 12)
        transcript.expect(.ended(1), at: 12)
        transcript.expect(.ended(0), at: 13, .exit(.success), .setTimer(nil))
    }

    @Test mutating func aSignalWhileARetryWaitsEndsTheRetry() {
        transcript.reachSteady()
        transcript.retry("B", 1, at: 9)
        stop(at: 10, undrained: 1)
        transcript.expect(.timerFired, at: 19, .setTimer(.at(45)))
        transcript.expect(.laneDrained(unfinished: 0), at: 20)
        transcript.expect(.ended(0), at: 21, .exit(.success), .setTimer(nil))
    }

    @Test mutating func aSignalWaitsForRetiredGenerationsAndEndsTheirAnnouncement() {
        transcript.reachSteady()
        transcript.takeOver(with: "B", 1, retiring: 0, at: 9)
        stop(at: 10)
        transcript.expect(.stoppedConsuming(0), at: 11)
        transcript.expect(.laneDrained(unfinished: 0), at: 11)
        transcript.expect(.ended(0), at: 11)
        transcript.expect(.laneDrained(unfinished: 0), at: 12)
        transcript.expect(.ended(1), at: 13, .exit(.success), .setTimer(nil))
    }

    @Test mutating func noChangeBeginsDuringTheDrain() {
        transcript.reachSteady()
        stop(at: 10)
        transcript.expect(.versionRead("B"), at: 11)
        transcript.expect(.readinessChanged(0, isReady: false, lane: 0), at: 11)
        transcript.expect(.started(1), at: 11)
        transcript.expect(.startFailed(1, .temporary("no thread")), at: 11)
        transcript.expect(.laneDrained(unfinished: 0), at: 12)
        transcript.expect(.laneDrained(unfinished: 0), at: 12)
        transcript.expect(.versionRead("C"), at: 12)
    }

    /// A lane that ends because of a defect reports one unfinished delivery, since deliveries may have been in flight.
    @Test mutating func aLaneThatEndsDuringTheDrainDoesNotDelayTheDrain() {
        transcript.reachSteady()
        stop(at: 10)
        transcript.expect(.laneDrained(unfinished: 1), at: 11)
        transcript.expect(.laneDrained(unfinished: 0), at: 12)
        transcript.expect(.ended(0), at: 13, .exit(.timedOut), .setTimer(nil))
    }

    @Test mutating func aWorkerWhoseLanesAllEndDuringTheDrainEnds() {
        transcript.reachSteady()
        stop(at: 10)
        transcript.expect(.ended(0), at: 11, .exit(.timedOut), .setTimer(nil))
    }

    @Test mutating func aWorkerThatHadNoLaneLeftAtTheSignalEnds() {
        transcript.reachSteady()
        stop(at: 10, undrained: 0)
        transcript.expect(.ended(0), at: 11, .exit(.success), .setTimer(nil))
    }

    @Test(arguments: ["steady", "checking", "warming", "retrying"])
    mutating func aWorkerWhoseCurrentLanesHaveEndedEnds(state: String) {
        transcript.reachSteady()
        switch state {
        case "checking": transcript.expect(.versionRead("B"), at: 9, .checkTopology(.init(1, "B")))
        case "warming": transcript.warm("B", 1, at: 9)
        case "retrying": transcript.retry("B", 1, at: 9)
        default: break
        }
        #expect("\(transcript.rollout.state)".hasPrefix(state))
        let actions = transcript.rollout.handle(.ended(0), now: .at(10))
        let reason = Obstacle.permanent("all lane threads exited")
        #expect(Array(actions.prefix(2)) == [.reportLanesWithoutThread(reason), .abort(.failed)])
        #expect(transcript.rollout.state == .stopped(.failed))
    }

    @Test mutating func aNextGenerationWhoseLanesEndIsRolledBackImmediately() {
        transcript.reachSteady()
        transcript.warm("B", 1, at: 10)
        transcript.expect(.ended(1), at: 11, .finish(1), .reportDelay(.notReady(1)), .setTimer(.at(21)))
        transcript.expect(.ended(1), at: 11, .remove(1))
        transcript.expect(.timerFired, at: 21, .checkTopology(.init(2, "B")))
    }

    @Test mutating func theEndOfUnknownLanesHasNoEffect() {
        transcript.expect(.processStarted, at: 0, .awaitTopology(.init(0, "A")))
        transcript.expect(.ended(0), at: 1)
        transcript.reachSteady()
        transcript.expect(.ended(7), at: 2)
        stop(at: 10)
        transcript.expect(.ended(7), at: 11)
    }

    /// With events in any order, limits hold, no generation begins twice, and the worker exits at most once.
    @Test(arguments: 0..<200) func anyOrderOfEventsKeepsTheBounds(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
        var rollout = Machine(.init(0, "A"))
        var seconds: Int64 = 0
        var begun: [Int] = []
        var ends = 0
        for _ in 0..<400 {
            seconds += Int64(pick(8))
            let number = max(0, (begun.last ?? 0) - pick(6))
            let obstacles: [Obstacle?] = [nil, nil, nil, .temporary("t"), .permanent("p")]
            let event: Machine.Event =
                switch pick(40) {
                case 0: .signalled(.terminate, undrained: pick(3), drainDeadlineSeconds: 30)
                case 1..<8: .versionRead("\(seconds)")
                case 8..<14: .topologyChecked(number, obstacles[pick(5)])
                case 14..<20: .started(number)
                case 20: .startFailed(number, .temporary("t"))
                case 21..<28: .readinessChanged(number, isReady: pick(4) > 0, lane: 0)
                case 28..<30: .stoppedConsuming(number)
                case 30..<32: .laneDrained(unfinished: pick(2))
                case 32..<36 where rollout.retired.contains(number): .ended(number)
                case 36: .processStarted
                default: .timerFired
                }
            for action in rollout.handle(event, now: .at(seconds)) {
                switch action {
                case .checkTopology(let generation): begun.append(generation.number)
                case .exit, .abort: ends += 1
                default: break
                }
            }
            if rollout.phase == .running { #expect(rollout.retired.count <= RolloutLimits.retiredMax) }
        }
        #expect(Set(begun).count == begun.count && ends <= 1, "\(begun) \(ends)")
    }
}
