package import Configuration
package import DeadLetters

/// The choice and the limits of a publication of messages again: dead letters as requests, unrouted results or waiting
/// requests.
package struct ResendSettings: Sendable {
    /// Lower bound of the scan window for a wait queue at a low rate.
    private static let waitsWindowMin = 10

    package var source: MessageSource
    package var choice: DeadLetterChoice
    /// The destination of dead letters.
    package var target: RedriveTarget
    /// The rules by which requests are checked before they are sent; nil to check only the contract.
    package var rules: RequestRules?
    /// Maximum number of messages; nil without a limit.
    package var limit: Int?
    /// Maximum number of messages per second; nil without a limit.
    package var ratePerSecond: Int?
    /// Whether to count the messages without publishing them.
    package var isDryRun = false
    /// Whether to reset the number of attempts of dead letters to 0.
    package var resetsAttempts = false

    package init(_ source: MessageSource, _ choice: DeadLetterChoice, to target: RedriveTarget) {
        (self.source, self.choice, self.target) = (source, choice, target)
    }

    /// Returns the maximum number of unacknowledged messages of one scan.
    ///
    /// While a request is unacknowledged, it does not return to its request queue, even if its delay expires. With a
    /// rate, but no filter and no IDs, the window of a wait queue is therefore small. It covers the requests of one
    /// second, but at least ``waitsWindowMin``. A dry run has no such limit.
    package static func window(_ source: MessageSource, choosesAll: Bool, ratePerSecond: Int?, isDryRun: Bool) -> Int {
        guard source == .waits, !isDryRun, choosesAll, let ratePerSecond else { return DeadLetterScan.windowMax }
        return min(max(ratePerSecond, waitsWindowMin), DeadLetterScan.windowMax)
    }

    /// Maximum number of unacknowledged messages of one scan.
    var window: Int {
        Self.window(
            source, choosesAll: choice.filter == nil && choice.ids.isEmpty, ratePerSecond: ratePerSecond,
            isDryRun: isDryRun)
    }
}
