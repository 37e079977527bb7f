import AMQP
import CommandKit

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
    /// Of the queue of requests, for the workers; the baselines take from the queue itself.
    var shards = 1
    /// Of the broker: 1 or 3.
    var nodes = 1
    var wantsJSON = false

    init() {}

    init(_ parsed: ParsedArguments) throws(UsageError) {
        try read(parsed, quick: (messages: 10_000, warmUp: 2000))
        for setting in WorkSetting.allCases {
            guard let value = try parsed.integer(setting.rawValue, in: setting.range) else { continue }
            self[keyPath: setting.path] = value
        }
        try check()
    }

    /// Reads the options that are no settings.
    ///
    /// - Parameter quick: with `--quick`.
    mutating func read(_ parsed: ParsedArguments, quick: (messages: Int, warmUp: Int)) throws(UsageError) {
        if parsed.has("quick") { (messages, warmUp, samples) = (quick.messages, quick.warmUp, 1) }
        messages = try parsed.integer("messages", upTo: Self.messagesMax) ?? messages
        samples = try parsed.integer("samples", upTo: 1000) ?? samples
        warmUp = try parsed.integer("warm-up", in: 0...1_000_000) ?? warmUp
        wantsJSON = parsed.has("json")
    }

    var inFlightOfAll: Int { inFlight * lanes * workers }

    /// The most messages that fill a queue.
    static let messagesMax = 10_000_000

    func check() throws(UsageError) {
        guard nodes != 2 else { throw UsageError("two nodes have no majority when one is away: 1 or 3") }
        guard shards == 1 || inFlight > shards else {
            throw UsageError("\(shards) shards need more than as many messages in flight")
        }
        guard warmUp + messages + inFlightOfAll <= Self.messagesMax else {
            throw UsageError(
                "messages, those to warm up and those in flight are \(Self.messagesMax) together at most")
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
