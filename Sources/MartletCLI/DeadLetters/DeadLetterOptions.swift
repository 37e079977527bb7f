import BrokerTopology
import CommandKit
import Configuration
import DeadLetters
import Text

/// What `martlet dead-letters …` is asked for.
struct DeadLetterOptions: Equatable, Sendable {
    enum Action: String, Sendable {
        case stats, list, show, redrive, export, `import`, edit, drop
    }

    static let listedDefault = 100
    /// RabbitMQ's own, from 4.0 on, which is assumed of every version that is not seen to have another.
    static let deliveryLimitDefault = DeliveryLimit.standard

    var action: Action
    var source = MessageSource.deadLetters
    var broker = BrokerOptions()
    var ids: [String] = []
    /// Of `export`, `import` and `drop`; `-` is standard output for the first.
    var file = ""
    /// The text of `--where`.
    var filter: String?
    var limit: Int?
    var groupedBy: [DeadLetterGroups.Key] = [.class, .code, .app]
    var ratePerSecond: Int?
    var isDryRun = false
    var resetsAttempts = false
    /// Of `import`.
    var redrives = false
    /// Of the file that is imported: lines before it are passed over.
    var firstLine = 1
    /// nil: where each came from.
    var target: String?
    var reveals = false
    var isJSON = false
    var saysYes = false
    /// Of `redrive`: every dead letter is meant.
    var choosesAll = false
    /// nil: the queue has none.
    var deliveryLimit: Int? = deliveryLimitDefault
    /// Whether nobody said it.
    var isDeliveryLimitAssumed = true
}

extension DeadLetterOptions {
    /// Whether the command would send every dead letter and no option says that this is meant.
    var needsConfirmation: Bool {
        action == .redrive && ids.isEmpty && filter == nil && limit == nil && !isDryRun && !choosesAll && !saysYes
    }

    /// Whether dead letters become requests.
    var sendsRequests: Bool {
        guard source == .deadLetters else { return false }
        return switch action {
        case .redrive, .edit: true
        case .import: redrives
        case .stats, .list, .show, .export, .drop: false
        }
    }

    /// At a low rate, of a wait queue.
    private static let scanWindowMin = 10

    /// Messages that one scan may hold.
    ///
    /// A request that is held is not returned to its request queue when its wait ends. Without a filter a scan of a wait
    /// queue holds only what the rate allows within a second.
    var scanWindow: Int {
        guard source == .waits, !isDryRun, filter == nil, ids.isEmpty, let rate = ratePerSecond else {
            return DeadLetterScan.windowMax
        }
        return min(max(rate, Self.scanWindowMin), DeadLetterScan.windowMax)
    }

    /// The command line of these options, for an operator to paste.
    func command(_ commands: CommandAdvice) -> String {
        let word = source == .deadLetters ? action.rawValue : source.resendWord
        var words = [commands.completed("\(source.command) \(word)")]
        if firstLine > 1 { words.append("--from-line \(firstLine)") }
        if redrives { words.append("--redrive") }
        // A filter with a shortened device token would match others.
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
        // `-` alone is an operand.
        if operands.contains(where: { $0.hasPrefix("-") && $0 != "-" }) { words.append("--") }
        return (words + operands.map { Shell.word($0) }).joined(separator: " ")
    }

    /// `martlet dead-letters edit` of a dead letter that these options choose.
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
                    "option --delivery-limit: each look is a delivery, and under a limit of "
                        + "\(DeadLetterScan.deliveriesSpared) or less none is to spare")
            }
        } else if !isDeliveryLimitAssumed || source == .waits {
            deliveryLimit = nil
        }
        switch action {
        case .export, .import:
            guard parsed.operands.count == 1 else {
                throw UsageError("there is one FILE, not \(parsed.operands.count)")
            }
            file = parsed.operands[0]
        case .drop:
            guard let export = parsed.options["export"] else {
                throw UsageError("nothing is dropped without --export FILE, by which it can be brought back")
            }
            (file, ids) = (export, parsed.operands)
        case .edit:
            guard parsed.operands.count == 1 else {
                throw UsageError("one dead letter is edited at a time")
            }
            ids = parsed.operands
        case .stats, .list, .show, .redrive:
            ids = parsed.operands
        }
        if choosesAll, filter != nil || !ids.isEmpty {
            throw UsageError("option --all does not go with \(filter == nil ? "an ID" : "--where")")
        }
        if !redrives, action == .import, target != nil || resetsAttempts {
            throw UsageError("option --\(target != nil ? "to" : "reset-attempts") goes with --redrive")
        }
    }

    private static func keys(_ text: String) throws(UsageError) -> [DeadLetterGroups.Key] {
        var keys: [DeadLetterGroups.Key] = []
        for word in text.split(separator: ",") {
            guard let key = DeadLetterGroups.Key(rawValue: String(word)) else {
                throw UsageError("option --by takes some of \(DeadLetterGroups.Key.list), not '\(word)'")
            }
            if !keys.contains(key) { keys.append(key) }
        }
        return keys
    }

    /// `500/s`, or the number alone.
    private static func rate(_ text: String) throws(UsageError) -> Int {
        let digits = text.hasSuffix("/s") ? String(text.dropLast(2)) : text
        guard let rate = Int(digits), 1...ratePerSecondMax ~= rate else {
            throw UsageError("option --rate takes messages a second, as in 500/s, not '\(text)'")
        }
        return rate
    }
}
