package import BrokerTopology
package import Configuration
package import DeadLetters
import Delivery
import Text

/// A publication of messages again: dead letters as requests, or waiting requests to their request queues.
package struct ResendAction: Sendable, Hashable {
    package static let rateMax = 1_000_000
    /// The rate of an action that stops itself, unless the operator chooses another. The results of the first requests
    /// arrive after some seconds, in which the action sends further requests.
    package static let watchedRate = 500

    package enum Choice: Sendable, Hashable {
        case deadLetters(DeadLetterSelection)
        /// Waiting requests.
        ///
        /// - Parameters:
        ///   - code: the cause, without the mark of a breaker; nil for every cause.
        ///   - apps: the bundle IDs; nil for every app.
        case waits(code: String?, apps: [String]?)
    }

    package var choice: Choice
    /// Maximum number of messages; nil without a limit.
    package var limit: Int?
    package var ratePerSecond: Int?
    /// The percentage of failures above which the action stops itself; nil without a limit. Only a console has results.
    package var stopAbovePercent: Int?

    package init(
        _ choice: Choice, limit: Int? = nil, ratePerSecond: Int? = nil, stopAbovePercent: Int? = nil
    ) {
        (self.choice, self.limit, self.ratePerSecond) = (choice, limit, ratePerSecond)
        self.stopAbovePercent = stopAbovePercent
    }

    package var source: MessageSource {
        switch choice {
        case .deadLetters: .deadLetters
        case .waits: .waits
        }
    }

    /// The name of the action.
    package var name: String {
        switch choice {
        case .deadLetters: "redrive"
        case .waits: "bring_back"
        }
    }

    /// Whether the filter of the choice is valid. A list of apps can exceed the size of a filter.
    package var isValid: Bool { (try? selection.choice()) != nil }

    /// The choice of messages by a filter.
    private var selection: DeadLetterSelection {
        switch choice {
        case .deadLetters(let selection): return selection
        case .waits(let code, let apps):
            func isOne(_ field: String, of texts: [String]) -> String {
                "\(field) in [\(texts.map(Self.quoted).joined(separator: ", "))]"
            }
            let conditions = [
                code.map { isOne("code", of: [$0, MessageHeaderName.heldCode($0)]) }, apps.map { isOne("app", of: $0) },
            ].compactMap(\.self)
            return DeadLetterSelection(filter: conditions.isEmpty ? nil : conditions.joined(separator: " && "))
        }
    }

    /// Returns a text as a string of a filter.
    package static func quoted(_ text: String) -> String {
        "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }

    /// The equivalent command, without the options of the broker. It does not stop itself.
    var commandLine: String {
        var words = ["\(source.command) \(source.resendWord) \(selection.options)"]
        if let limit { words.append("--limit \(limit)") }
        if let ratePerSecond { words.append("--rate \(ratePerSecond)/s") }
        return words.joined(separator: " ")
    }

    /// Returns the effect in words.
    func summary(_ extent: MessageExtent, _ names: TopologyNames) -> String {
        let number = extent.counted(source.noun)
        let stays =
            (extent.invalid > 0 ? "; \(extent.invalid) would fail again and stay" : "")
            + (extent.unsendable > 0 ? "; \(extent.unsendable) cannot be sent and stay" : "")
        let stops = stopAbovePercent.map { "; stops itself above \($0) % failures" } ?? ""
        let rate = ratePerSecond.map { ", at most \($0) a second" } ?? ""
        return switch choice {
        case .deadLetters: "Sends \(number) of \(source.place(names)) as requests\(rate)\(stays)\(stops)"
        case .waits(_, let apps):
            "Returns \(number) \(apps.map { "of \($0.count.counted("app"))" } ?? "of all apps") from "
                + "\(source.place(names)) to the request queues\(rate)"
        }
    }

    /// Returns the settings of the publication.
    ///
    /// - Throws: the mistake in the filter.
    package func settings(_ names: TopologyNames, _ rules: RequestRules?) throws(FilterError) -> ResendSettings {
        var settings = ResendSettings(source, try selection.choice(), to: RedriveTarget(names: names, queue: nil))
        (settings.rules, settings.limit, settings.ratePerSecond) = (rules, limit, ratePerSecond)
        return settings
    }
}
