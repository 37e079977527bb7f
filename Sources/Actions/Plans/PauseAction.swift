import AMQP
import Configuration
package import ControlProtocol
package import Delivery
import EventLoop
import Text

/// A pause or resumption of all workers of a fleet.
package struct PauseAction: Sendable, Hashable {
    package enum Effect: Sendable, Hashable {
        /// - Parameters:
        ///   - why: the reason.
        ///   - seconds: the duration; nil until a resumption.
        case pause(why: String, seconds: Int?)
        case resume
    }

    package var scope: PauseScope
    package var effect: Effect

    package init(_ scope: PauseScope, _ effect: Effect) { (self.scope, self.effect) = (scope, effect) }

    /// The command that does the same.
    package var commandLine: String {
        let option = scope.query.map { "--\($0) \(Shell.word($1))" }
        switch effect {
        case .pause(let why, let seconds):
            let until = seconds.map { ["--until \(DurationText.text($0))"] } ?? []
            return (["martlet pause --fleet"] + option + ["--reason \(Shell.word(why))"] + until).joined(separator: " ")
        case .resume: return (["martlet resume --fleet"] + option).joined(separator: " ")
        }
    }

    /// Returns the change of the fleet's pauses.
    ///
    /// - Parameters:
    ///   - operatorName: the operator.
    ///   - now: UNIX milliseconds.
    package func change(by operatorName: String, at now: Int64) -> PauseRecord.Change {
        guard case .pause(let why, let seconds) = effect else { return .resume(scope) }
        return .pause(
            FleetPause(
                scope: scope, by: operatorName, why: why, since: now, until: seconds.map { now + Int64($0) * 1000 }))
    }

    /// Publishes a record with the change. Returns the record once the broker has confirmed and delivered it.
    ///
    /// - Parameter expected: the revision that the change must follow; nil for any revision.
    package func write(
        in session: FleetSession, by operatorName: String, after expected: PauseRevision? = nil
    ) async throws(PauseWriter.Failure) -> PauseRecord {
        try await PauseWriter(session).write(
            change(by: operatorName, at: session.loop.now.unixMilliseconds), after: expected)
    }
}
