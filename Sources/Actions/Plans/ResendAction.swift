package import BrokerTopology
package import Configuration
package import DeadLetters
import Delivery
import Text

/// A publication of messages again: dead letters as requests, or waiting requests to their request queues.
package struct ResendAction: Sendable, Hashable {
    package static let rateMax = 1_000_000

    package enum Choice: Sendable, Hashable {
        case deadLetters(DeadLetterSelection)
        /// Waiting requests.
        ///
        /// - Parameters:
        ///   - code: the cause, without the mark of a breaker; nil for every cause.
        ///   - app: nil for every app.
        case waits(code: String?, app: String?)
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

    /// The choice of messages by a filter.
    private var selection: DeadLetterSelection {
        switch choice {
        case .deadLetters(let selection): return selection
        case .waits(let code, let app):
            let codes = code.map { [$0, MessageHeaderName.heldCode($0)].map(Self.quoted).joined(separator: ", ") }
            let conditions = [codes.map { "code in [\($0)]" }, app.map { "app == \(Self.quoted($0))" }]
                .compactMap(\.self)
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
        let stays = extent.invalid > 0 ? "; \(extent.invalid) would fail again and stay" : ""
        let stops = stopAbovePercent.map { "; stops itself above \($0) % failures" } ?? ""
        return switch choice {
        case .deadLetters: "Sends \(number) of \(source.place(names)) as requests\(stays)\(stops)"
        case .waits: "Returns \(number) from \(source.place(names)) to the request queues"
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
