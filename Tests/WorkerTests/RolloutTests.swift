import EventLoop
import Testing

@testable import ControlProtocol
@testable import Worker

/// Transcripts of the actions that follow each event. Versions are letters, and generations count from 0.
@Suite struct RolloutTests {
    private typealias Machine = Rollout<String>

    private var transcript = RolloutTranscript("A")

    @Test mutating func theFirstLanesStartOnceTheTopologyIsComplete() {
        transcript.expect(.processStarted, at: 0, .awaitTopology(.init(0, "A")))
        #expect(transcript.rollout.phase == .starting)
        transcript.expect(.topologyChecked(0, nil), at: 5, .start(.init(0, "A")))
        transcript.expect(.started(0), at: 5, .superviseLanes, .monitorQueues(.init(0, "A")))
        #expect(transcript.rollout.phase == .running)
        transcript.expect(.readinessChanged(0, isReady: true, lane: 1), at: 6, .reportReadiness(lane: 1))
        #expect(transcript.rollout.state == .steady(current: .init(0, "A", isReady: true)))
    }

    @Test mutating func aWorkerWithoutTopologyWaitsForTheNewestVersionsTopology() {
        transcript.expect(.processStarted, at: 0, .awaitTopology(.init(0, "A")))
        transcript.expect(
            .versionRead("B"), at: 60, .putInForce(.init(1, "B")), .announce, .awaitTopology(.init(1, "B")))
        transcript.expect(.topologyChecked(0, nil), at: 61)
        transcript.expect(.topologyChecked(1, nil), at: 70, .start(.init(1, "B")))
        transcript.expect(.started(1), at: 70, .superviseLanes, .monitorQueues(.init(1, "B")))
    }

    @Test mutating func aWorkerWhoseFirstLanesHaveNoThreadEnds() {
        transcript.expect(.processStarted, at: 0, .awaitTopology(.init(0, "A")))
        transcript.expect(.topologyChecked(0, nil), at: 1, .start(.init(0, "A")))
        transcript.expect(
            .startFailed(0, .temporary("no thread")), at: 1, .reportLanesWithoutThread(.temporary("no thread")),
            .abort(.failed))
        transcript.expect(.ended(0), at: 2)
    }

    @Test mutating func aReadyGenerationTakesOver() {
        transcript.reachSteady()
        transcript.expect(.versionRead("B"), at: 10, .checkTopology(.init(1, "B")))
        transcript.expect(.topologyChecked(1, nil), at: 11, .start(.init(1, "B")), .setTimer(.at(41)))
        transcript.expect(.started(1), at: 11)
        let ready = Machine.Generation(1, "B", isReady: true)
        transcript.expect(
            .readinessChanged(1, isReady: true, lane: 0), at: 12, .putInForce(ready), .finish(0), .monitorQueues(ready),
            .setTimer(.at(27)))
        // While lanes of A still consume, the log does not report B, for 15 s at most.
        transcript.expect(.stoppedConsuming(0), at: 13, .announce, .setTimer(nil))
        transcript.expect(.ended(0), at: 600, .remove(0))
        #expect(transcript.rollout.state == .steady(current: ready))
    }

    @Test mutating func aPreviousGenerationThatStillConsumesDelaysTheAnnouncementFor15Seconds() {
        transcript.reachSteady()
        transcript.takeOver(with: "B", 1, retiring: 0, at: 10)
        transcript.expect(.timerFired, at: 25, .announce)
        transcript.expect(.stoppedConsuming(0), at: 30)
    }

    @Test mutating func thePreviousGenerationMayEndBeforeTheAnnouncement() {
        transcript.reachSteady()
        transcript.takeOver(with: "B", 1, retiring: 0, at: 10)
        transcript.expect(.ended(0), at: 11, .announce, .remove(0), .setTimer(nil))
    }

    @Test mutating func aGenerationThatIsNotReadyInTimeIsRolledBackAndRetried() {
        transcript.reachSteady()
        transcript.warm("B", 1, at: 10)
        transcript.expect(
            .timerFired, at: 40, .finish(1), .reportDelay(.notReady(1)), .setTimer(.at(50)))
        #expect(
            transcript.rollout.state
                == .retrying(current: .init(0, "A", isReady: true), next: "B", at: .at(50)))
        transcript.expect(.readinessChanged(1, isReady: true, lane: 0), at: 41)
        transcript.expect(.stoppedConsuming(1), at: 42)
        transcript.expect(.ended(1), at: 43, .remove(1))
        transcript.expect(.timerFired, at: 50, .checkTopology(.init(2, "B")))
        // The log contains at most one warning a minute until a decision.
        transcript.expect(.topologyChecked(2, .temporary("the broker is away")), at: 51, .setTimer(.at(61)))
        transcript.expect(.timerFired, at: 61, .checkTopology(.init(3, "B")))
        transcript.expect(
            .topologyChecked(3, .temporary("the broker is away")), at: 101,
            .reportDelay(.temporary("the broker is away")), .setTimer(.at(111)))
    }

    @Test mutating func aGenerationWithoutThreadsIsRolledBackAndRetried() {
        transcript.reachSteady()
        transcript.expect(.versionRead("B"), at: 10, .checkTopology(.init(1, "B")))
        transcript.expect(.topologyChecked(1, nil), at: 11, .start(.init(1, "B")), .setTimer(.at(41)))
        transcript.expect(
            .startFailed(1, .temporary("no thread")), at: 11, .finish(1), .reportDelay(.temporary("no thread")),
            .setTimer(.at(21)))
        transcript.expect(.ended(1), at: 12, .remove(1))
        transcript.expect(.timerFired, at: 21, .checkTopology(.init(2, "B")))
    }

    /// After a decision, the next delay belongs to a new outage. It is logged although the last line is less than a
    /// minute old.
    @Test(arguments: [true, false]) mutating func aDecisionEndsTheOutageOfDelays(isAccepted: Bool) {
        transcript.reachSteady()
        let (away, missing) = (Obstacle.temporary("away"), Obstacle.permanent("a queue is missing"))
        transcript.expect(.versionRead("B"), at: 10, .checkTopology(.init(1, "B")))
        transcript.expect(.topologyChecked(1, away), at: 11, .reportDelay(away), .setTimer(.at(21)))
        if isAccepted {
            transcript.expect(.versionRead("C"), at: 12, .checkTopology(.init(2, "C")), .setTimer(nil))
            transcript.expect(.topologyChecked(2, nil), at: 12, .start(.init(2, "C")), .setTimer(.at(42)))
            let next = Machine.Generation(2, "C", isReady: true)
            transcript.expect(
                .readinessChanged(2, isReady: true, lane: 0), at: 12, .putInForce(next), .finish(0),
                .monitorQueues(next), .setTimer(.at(27)))
            transcript.expect(.stoppedConsuming(0), at: 13, .announce, .setTimer(nil))
        } else {
            transcript.expect(.timerFired, at: 21, .checkTopology(.init(2, "B")))
            transcript.expect(.topologyChecked(2, missing), at: 22, .reject("B", inForce: "A", missing))
        }
        transcript.expect(.versionRead("D"), at: 30, .checkTopology(.init(3, "D")))
        transcript.expect(.topologyChecked(3, away), at: 31, .reportDelay(away), .setTimer(.at(41)))
    }

    @Test mutating func aPermanentObstacleRejectsTheVersion() {
        transcript.reachSteady()
        transcript.expect(.versionRead("B"), at: 10, .checkTopology(.init(1, "B")))
        transcript.expect(
            .topologyChecked(1, .permanent("a queue is missing")), at: 11,
            .reject("B", inForce: "A", .permanent("a queue is missing")))
        #expect(transcript.rollout.state == .steady(current: .init(0, "A", isReady: true)))
        transcript.expect(.versionRead("B"), at: 60, .checkTopology(.init(2, "B")))
    }

    @Test mutating func aCurrentGenerationThatIsNotReadyIsReplaced() {
        transcript.reachSteady()
        transcript.expect(.readinessChanged(0, isReady: false, lane: 0), at: 9, .reportReadiness(lane: 0))
        transcript.expect(.versionRead("B"), at: 10, .checkTopology(.init(1, "B")))
        transcript.expect(.topologyChecked(1, nil), at: 11, .start(.init(1, "B")), .setTimer(.at(41)))
        transcript.expect(
            .started(1), at: 11, .putInForce(.init(1, "B")), .finish(0), .monitorQueues(.init(1, "B")),
            .setTimer(.at(26)))
        transcript.expect(.readinessChanged(1, isReady: true, lane: 0), at: 12, .reportReadiness(lane: 0))
    }

    @Test mutating func aCurrentGenerationThatLosesReadinessIsReplacedImmediately() {
        transcript.reachSteady()
        transcript.warm("B", 1, at: 10)
        transcript.expect(
            .readinessChanged(0, isReady: false, lane: 0), at: 12, .reportReadiness(lane: 0),
            .putInForce(.init(1, "B")), .finish(0), .monitorQueues(.init(1, "B")), .setTimer(.at(27)))
    }

    @Test(arguments: [true, false]) mutating func theNewestVersionFollowsTheChangeInProgress(isWarming: Bool) {
        transcript.reachSteady()
        transcript.expect(.versionRead("B"), at: 10, .checkTopology(.init(1, "B")))
        if !isWarming { for version in ["C", "D"] { transcript.expect(.versionRead(version), at: 10) } }
        transcript.expect(.topologyChecked(1, nil), at: 11, .start(.init(1, "B")), .setTimer(.at(41)))
        transcript.expect(.started(1), at: 11)
        if isWarming { for version in ["C", "D"] { transcript.expect(.versionRead(version), at: 11) } }
        let (second, third) = (Machine.Generation(1, "B", isReady: true), Machine.Generation(2, "D"))
        transcript.expect(
            .readinessChanged(1, isReady: true, lane: 0), at: 12, .putInForce(second), .finish(0),
            .monitorQueues(second), .checkTopology(third), .setTimer(.at(27)))
        transcript.expect(.stoppedConsuming(0), at: 13, .announce, .setTimer(nil))
    }

    @Test mutating func onlyTheLatestOfTwoQuickChangesIsAnnounced() {
        transcript.reachSteady()
        transcript.takeOver(with: "B", 1, retiring: 0, at: 10)
        transcript.expect(.versionRead("C"), at: 11, .checkTopology(.init(2, "C")))
        // The timer stays, because the deadline of B's announcement is earlier.
        transcript.expect(.topologyChecked(2, nil), at: 12, .start(.init(2, "C")))
        transcript.expect(.started(2), at: 12)
        let third = Machine.Generation(2, "C", isReady: true)
        transcript.expect(
            .readinessChanged(2, isReady: true, lane: 0), at: 13, .putInForce(third), .finish(1), .monitorQueues(third),
            .setTimer(.at(28)))
        transcript.expect(.stoppedConsuming(0), at: 14)
        transcript.expect(.stoppedConsuming(1), at: 15, .announce, .setTimer(nil))
    }

    @Test(arguments: [Obstacle.temporary("away"), .permanent("missing")])
    mutating func aNewerVersionReplacesOneThatFails(obstacle: Obstacle) {
        transcript.reachSteady()
        transcript.expect(.versionRead("B"), at: 10, .checkTopology(.init(1, "B")))
        transcript.expect(.versionRead("C"), at: 11)
        let report: Machine.Action =
            obstacle == .temporary("away") ? .reportDelay(obstacle) : .reject("B", inForce: "A", obstacle)
        transcript.expect(.topologyChecked(1, obstacle), at: 12, report, .checkTopology(.init(2, "C")))
    }

    @Test mutating func aNewerVersionDoesNotWaitForTheRetry() {
        transcript.reachSteady()
        transcript.retry("B", 1, at: 10)
        transcript.expect(.versionRead("C"), at: 12, .checkTopology(.init(2, "C")), .setTimer(nil))
        transcript.expect(.timerFired, at: 20)
    }

    @Test mutating func retiredGenerationsAreBounded() {
        transcript.reachSteady()
        for (number, version) in ["B", "C", "D", "E"].enumerated() {
            transcript.takeOver(with: version, number + 1, retiring: number, at: 10)
            transcript.expect(.stoppedConsuming(number), at: 10, .announce, .setTimer(nil))
        }
        #expect(transcript.rollout.retired == [0, 1, 2, 3])
        transcript.expect(.versionRead("F"), at: 20, .reportPostponement)
        transcript.expect(.versionRead("G"), at: 21, .reportPostponement)
        transcript.expect(.ended(2), at: 3600, .remove(2), .checkTopology(.init(5, "G")))
        transcript.expect(.ended(0), at: 3600, .remove(0))
        #expect(transcript.rollout.retired == [1, 3])
    }

    @Test mutating func aRetryAlsoWaitsForRetiredGenerations() {
        transcript.reachSteady()
        for (number, version) in ["B", "C", "D"].enumerated() {
            transcript.takeOver(with: version, number + 1, retiring: number, at: 10)
            transcript.expect(.stoppedConsuming(number), at: 10, .announce, .setTimer(nil))
        }
        transcript.warm("E", 4, at: 10)
        transcript.expect(.timerFired, at: 40, .finish(4), .reportDelay(.notReady(4)), .setTimer(.at(50)))
        transcript.expect(.timerFired, at: 50, .reportPostponement)
        transcript.expect(.ended(4), at: 51, .remove(4), .checkTopology(.init(5, "E")))
    }

    @Test mutating func aTimerThatFiresEarlyIsSetAgain() {
        transcript.reachSteady()
        transcript.warm("B", 1, at: 10)
        transcript.expect(.timerFired, at: 39, .setTimer(.at(40)))
    }
}
