import Actions
import BrokerTopology
import CommandKit
import Configuration
import DeadLetters
import Text

/// The options of a command on dead letters, unrouted results or waiting requests.
struct DeadLetterOptions: Equatable, Sendable {
    enum Action: String, Sendable {
        case stats, list, show, redrive, export, `import`, edit, drop
    }

    static let listedDefault = 100
    /// The assumed delivery limit of a queue whose limit is unknown: RabbitMQ's default since 4.0.
    static let deliveryLimitDefault = DeliveryLimit.standard

    var action: Action
    var source = MessageSource.deadLetters
    var broker = BrokerOptions()
    var ids: [String] = []
    /// The operand of `export` and `import`, or the value of `--export` of `drop`. `-` is standard output or input,
    /// except for `drop`.
    var file = ""
    /// The text of `--where`.
    var filter: String?
    var limit: Int?
    var groupedBy: [DeadLetterGroups.Key] = [.class, .code, .app]
    var ratePerSecond: Int?
    var isDryRun = false
    var resetsAttempts = false
    /// Whether `import` sends requests instead of dead letters.
    var redrives = false
    /// First line to import. Earlier lines are skipped.
    var firstLine = 1
    /// Destination queue; nil for the original queue of each message.
    var target: String?
    var reveals = false
    var isJSON = false
    var saysYes = false
    /// Whether the command may send every message without confirmation.
    var choosesAll = false
    /// Delivery limit of the queue; nil if unlimited.
    var deliveryLimit: Int? = deliveryLimitDefault
    /// Whether no option sets `deliveryLimit`.
    var isDeliveryLimitAssumed = true
}

extension DeadLetterOptions {
    /// Whether the command would send every message and no option confirms it.
    var needsConfirmation: Bool {
        action == .redrive && ids.isEmpty && filter == nil && limit == nil && !isDryRun && !choosesAll && !saysYes
    }

    /// Whether the command holds the lock of its queues from the beginning to the end. `edit` holds it only while it
    /// reads the queue.
    var locksQueue: Bool { action == .redrive || action == .drop }

    /// Whether the command sends dead letters as requests.
    var sendsRequests: Bool {
        guard source == .deadLetters else { return false }
        return switch action {
        case .redrive, .edit: true
        case .import: redrives
        case .stats, .list, .show, .export, .drop: false
        }
    }

    /// Maximum number of unacknowledged messages of one scan.
    var scanWindow: Int {
        ResendSettings.window(
            source, choosesAll: filter == nil && ids.isEmpty, ratePerSecond: ratePerSecond, isDryRun: isDryRun)
    }

    /// Returns a command line with these options, for an operator to paste.
    func command(_ commands: CommandAdvice) -> String {
        let word = source == .deadLetters ? action.rawValue : source.resendWord
        var words = [commands.completed("\(source.command) \(word)")]
        if firstLine > 1 { words.append("--from-line \(firstLine)") }
        if redrives { words.append("--redrive") }
        // A filter with a shortened device token would not match the same messages.
        if let filter {
            words.append("--where \(DeadLetterText.operand(filter) == filter ? Shell.word(filter) : "FILTER")")
        }
        if choosesAll { words.append("--all") }
        if let limit { words.append("--limit \(limit)") }
        if let ratePerSecond { words.append("--rate \(ratePerSecond)/s") }
        if isDryRun { words.append("--dry-run") }
        if let target { words.append("--to \(Shell.word(target))") }
        if resetsAttempts { words.append("--reset-attempts") }
        if saysYes { words.append("--yes") }
        if !isDeliveryLimitAssumed { words.append("--delivery-limit \(deliveryLimit.map { "\($0)" } ?? "none")") }
        if isJSON { words.append("--json") }
        let operands = ids.map { DeadLetterText.operand($0) } + (action == .import ? [file] : [])
        // A single `-` is an operand.
        if operands.contains(where: { $0.hasPrefix("-") && $0 != "-" }) { words.append("--") }
        return (words + operands.map { Shell.word($0) }).joined(separator: " ")
    }

    /// Returns the options of `martlet dead-letters edit` for one of the chosen dead letters.
    func edit(_ id: String) -> DeadLetterOptions {
        var options = DeadLetterOptions(action: .edit)
        (options.broker, options.filter, options.target, options.ids) = (broker, filter, target, [id])
        (options.deliveryLimit, options.isDeliveryLimitAssumed) = (deliveryLimit, isDeliveryLimitAssumed)
        return options
    }

    private static let ratePerSecondMax = 1_000_000

    init(
        _ action: Action, of source: MessageSource = .deadLetters,
        groupedBy: [DeadLetterGroups.Key] = [.class, .code, .app], _ parsed: ParsedArguments
    ) throws(UsageError) {
        self.init(action: action, source: source, groupedBy: groupedBy)
        broker = try BrokerOptions(parsed)
        filter = parsed.options["where"]
        limit = try parsed.integer("limit", upTo: .max)
        isDryRun = parsed.has("dry-run")
        resetsAttempts = parsed.has("reset-attempts")
        redrives = parsed.has("redrive")
        firstLine = try parsed.integer("from-line", upTo: .max) ?? 1
        target = parsed.options["to"]
        reveals = parsed.has("reveal")
        isJSON = parsed.has("json")
        saysYes = parsed.has("yes")
        choosesAll = parsed.has("all")
        if let text = parsed.options["by"] { self.groupedBy = try Self.keys(text) }
        if let text = parsed.options["rate"] { ratePerSecond = try Self.rate(text) }
        isDeliveryLimitAssumed = !parsed.has("delivery-limit")
        if let text = parsed.options["delivery-limit"], text != "none" {
            deliveryLimit = try parsed.integer("delivery-limit", upTo: 1_000_000)
            guard deliveryLimit ?? .max > DeadLetterScan.deliveriesSpared else {
                throw UsageError(
                    "option --delivery-limit: expected a number above \(DeadLetterScan.deliveriesSpared), "
                        + "got '\(text)': each scan counts as a failed delivery")
            }
        } else if !isDeliveryLimitAssumed || source == .waits {
            deliveryLimit = nil
        }
        switch action {
        case .export, .import:
            guard parsed.operands.count == 1 else {
                throw UsageError("expected one FILE, got \(parsed.operands.count)")
            }
            file = parsed.operands[0]
        case .drop:
            guard let export = parsed.options["export"] else {
                throw UsageError("option --export FILE is missing; name a new file for the dropped dead letters")
            }
            (file, ids) = (export, parsed.operands)
        case .edit:
            guard parsed.operands.count == 1 else {
                throw UsageError("expected one ID, got \(parsed.operands.count)")
            }
            ids = parsed.operands
        case .stats, .list, .show, .redrive:
            ids = parsed.operands
        }
        if choosesAll, filter != nil || !ids.isEmpty {
            throw UsageError("option --all and \(filter == nil ? "an ID" : "--where") are mutually exclusive")
        }
        if !redrives, action == .import, target != nil || resetsAttempts {
            throw UsageError("option --\(target != nil ? "to" : "reset-attempts") requires --redrive")
        }
    }

    private static func keys(_ text: String) throws(UsageError) -> [DeadLetterGroups.Key] {
        var keys: [DeadLetterGroups.Key] = []
        for word in text.split(separator: ",") {
            guard let key = DeadLetterGroups.Key(rawValue: String(word)) else {
                throw UsageError("option --by: expected one or more of \(DeadLetterGroups.Key.list), got '\(word)'")
            }
            if !keys.contains(key) { keys.append(key) }
        }
        return keys
    }

    /// Parses `500/s` or `500`.
    private static func rate(_ text: String) throws(UsageError) -> Int {
        let digits = text.hasSuffix("/s") ? String(text.dropLast(2)) : text
        guard let rate = Int(digits), 1...ratePerSecondMax ~= rate else {
            throw UsageError(
                "option --rate: expected 1 to \(ratePerSecondMax) messages per second, such as 500/s, got '\(text)'")
        }
        return rate
    }
}
