import EventLoop
import Testing

@testable import Worker

/// A test harness that feeds events to a rollout and compares its actions.
struct RolloutTranscript {
    typealias Machine = Rollout<String>

    var rollout: Machine

    init(_ version: String) { rollout = Machine(.init(0, version)) }

    mutating func expect(
        _ event: Machine.Event, at seconds: Int64, _ actions: Machine.Action...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(rollout.handle(event, now: .at(seconds)) == actions, "\(event)", sourceLocation: sourceLocation)
    }

    private mutating func feed(_ events: Machine.Event..., at seconds: Int64) {
        for event in events { _ = rollout.handle(event, now: .at(seconds)) }
    }

    /// Puts generation 0 of version A in force, and reports it as ready.
    mutating func reachSteady() {
        feed(
            .processStarted, .topologyChecked(0, nil), .started(0), .readinessChanged(0, isReady: true, lane: 0), at: 0)
    }

    /// Starts a generation that is not ready yet. It must be ready within 30 s.
    mutating func warm(_ version: String, _ number: Int, at seconds: Int64) {
        feed(.versionRead(version), .topologyChecked(number, nil), .started(number), at: seconds)
    }

    /// Reports a temporary obstacle for a generation. The retry is due 10 s later.
    mutating func retry(_ version: String, _ number: Int, at seconds: Int64) {
        feed(.versionRead(version), .topologyChecked(number, .temporary("the broker is away")), at: seconds)
    }

    /// Puts a generation in force, and checks that generation `previous` retires. The announcement is due at most 15 s
    /// later.
    mutating func takeOver(with version: String, _ number: Int, retiring previous: Int, at seconds: Int64) {
        warm(version, number, at: seconds)
        feed(.readinessChanged(number, isReady: true, lane: 0), at: seconds)
        #expect(rollout.retired.last == previous)
    }
}

extension Rollout<String>.Generation {
    init(_ number: Int, _ version: String, isReady: Bool = false) {
        self.init(number: number, version: version, isReady: isReady)
    }
}

extension MonotonicTime {
    static func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }
}
