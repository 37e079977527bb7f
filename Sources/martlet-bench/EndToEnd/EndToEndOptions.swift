import AMQP

/// What the command line asks for.
struct EndToEndOptions {
    var messages = 100_000
    var samples = 5
    var warmUp = 10_000
    var inFlight = 1000
    var delayMilliseconds = 0
    var payloadBytes = BenchMessage.payloadBytes
    /// Each with a bundle ID; at least one for each key.
    var apps = 1
    var keys = 1
    var lanes = 1
    var workers = 1
    /// Of the queue of requests, for the workers; the floors take from the queue itself.
    var shards = 1
    /// Of the broker: 1 or 3.
    var nodes = 1
    var wantsJSON = false

    init() {}

    /// - Parameter settings: that may be given.
    init(_ arguments: ArraySlice<String>, settings: [WorkSetting] = WorkSetting.allCases) throws(UsageError) {
        var arguments = Arguments(arguments)
        while let argument = arguments.next() {
            if let setting = WorkSetting(rawValue: argument), settings.contains(setting) {
                self[keyPath: setting.path] = try arguments.number(for: argument, in: setting.range)
            } else {
                try read(argument, &arguments)
            }
        }
        try check()
    }

    /// Reads an option that is no setting.
    mutating func read(_ argument: String, _ arguments: inout Arguments) throws(UsageError) {
        switch argument {
        case "--messages": messages = try arguments.number(for: argument, in: 1...Self.messagesMax)
        case "--samples": samples = try arguments.number(for: argument, in: 1...1000)
        case "--warm-up": warmUp = try arguments.number(for: argument, in: 0...1_000_000)
        case "--quick": (messages, samples, warmUp) = (10_000, 1, 2000)
        case "--json": wantsJSON = true
        default: throw UsageError(message: "what is \(argument)?")
        }
    }

    var inFlightOfAll: Int { inFlight * lanes * workers }

    /// What a queue is filled with at most, and a program told to do.
    static let messagesMax = 10_000_000

    func check() throws(UsageError) {
        guard nodes != 2 else { throw UsageError(message: "two nodes have no majority when one is away: 1 or 3") }
        guard shards == 1 || inFlight > shards else {
            throw UsageError(message: "\(shards) shards need more than as many messages in flight")
        }
        guard warmUp + messages + inFlightOfAll <= Self.messagesMax else {
            throw UsageError(
                message: "messages, those to warm up and those in flight are \(Self.messagesMax) together at most")
        }
    }

    var bundleIDs: [String] { BenchMessage.bundleIDs(max(apps, keys)) }

    /// What all programs that are compared are given to do.
    ///
    /// - Parameter setting: that differs between them.
    func description(without setting: WorkSetting? = nil) -> String {
        let size = setting == .payloadBytes ? "" : " of \(messageBytes) bytes"
        var words = ["\(messages) messages\(size) a sample"]
        func say(_ part: WorkSetting, _ text: String, if isSpecial: Bool = true) {
            if part != setting, isSpecial { words.append(text) }
        }
        say(.inFlight, "\(inFlight) in flight")
        say(.delayMilliseconds, "answers after \(delayMilliseconds) ms", if: delayMilliseconds > 0)
        say(.apps, "\(bundleIDs.count) apps", if: bundleIDs.count > 1)
        say(.keys, "\(keys) keys", if: keys > 1)
        say(.workers, workers == 1 ? "one worker" : "\(workers) workers")
        say(.lanes, lanes == 1 ? "one lane" : "\(lanes) lanes")
        say(.shards, "\(shards) shards", if: shards > 1)
        say(.nodes, "\(nodes) nodes", if: nodes > 1)
        return (words + ["TLS", "quorum queues"]).joined(separator: ", ") + "; median of \(samples)"
    }

    var messageBytes: Int { message(round: 0).message(0, queue: "").body.count }

    func message(round: Int) -> BenchMessage {
        BenchMessage(round: round, apps: bundleIDs.count, payloadBytes: payloadBytes)
    }
}
