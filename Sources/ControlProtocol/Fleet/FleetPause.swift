package import Delivery
import JSON

/// A pause of all workers of a fleet.
package struct FleetPause: Sendable, Hashable {
    package var scope: PauseScope
    /// The operator.
    package var by: String
    /// The reason.
    package var why: String
    /// The start, in UNIX milliseconds of the operator's clock.
    package var since: Int64
    /// The end, in UNIX milliseconds; nil for a pause without a planned end.
    package var until: Int64?

    package init(scope: PauseScope, by: String, why: String, since: Int64, until: Int64? = nil) {
        self.scope = scope
        self.by = by
        self.why = why
        self.since = since
        self.until = until
    }

    /// The operator and reason, as in the status of a worker.
    package var note: PauseNote { PauseNote(by: by, reason: why) }

    /// Returns whether the pause has not ended. A pause whose start is in the future is in force, because the clock of
    /// its operator may be ahead.
    package func isInForce(at now: Int64) -> Bool { until.map { $0 > now } ?? true }

    /// Returns whether both pauses have the same effect and the same words. Their starts may differ.
    func isRepeat(of other: FleetPause) -> Bool {
        (scope, by, why, until) == (other.scope, other.by, other.why, other.until)
    }

    /// The reason why the pause is invalid; nil if the pause is valid.
    package var violation: PauseViolation? {
        if !scope.description.isPrintable(bytesMax: FleetLimits.scopeBytesMax) || PauseScope(scope.description) == nil {
            return PauseViolation(.scope, Self.isNotPrintable("scope", FleetLimits.scopeBytesMax))
        }
        if !by.isPrintable(bytesMax: FleetLimits.byBytesMax) {
            return PauseViolation(.by, Self.isNotPrintable("by", FleetLimits.byBytesMax))
        }
        if !why.isPrintable(bytesMax: FleetLimits.whyBytesMax) {
            return PauseViolation(.why, Self.isNotPrintable("why", FleetLimits.whyBytesMax))
        }
        if !FleetLimits.times.contains(since) {
            return PauseViolation(.since, "since must be a time in UNIX milliseconds")
        }
        guard let until else { return nil }
        let isValid =
            FleetLimits.times.contains(until) && until > since
            && until - since <= FleetLimits.pauseMillisecondsMax
        return isValid ? nil : PauseViolation(.until, "until must be at most 30 days after since")
    }

    private static func isNotPrintable(_ name: String, _ bytesMax: Int) -> String {
        "\(name) must be a text of 1 to \(bytesMax) bytes without control characters"
    }

    static let codec = ObjectCodec(
        "a pause", from: Self(scope: .everything, by: "-", why: "-", since: FleetLimits.times.lowerBound),
        ignoresUnknown: true,
        [
            .required("scope", \.scope, .scope),
            .required("by", \.by, .printable(bytesMax: FleetLimits.byBytesMax)),
            .required("why", \.why, .printable(bytesMax: FleetLimits.whyBytesMax)),
            .required("since", \.since, .int(FleetLimits.times)),
            .optional("until", \.until, .int(FleetLimits.times)),
        ],
        check: { pause, members throws(InputError) in
            if let violation = pause.violation { throw members.error(violation.sentence) }
        })
}
