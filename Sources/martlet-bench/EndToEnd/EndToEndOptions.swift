import AMQP
import CommandKit

/// The options of `end-to-end` and `amqp`. `growth` uses these options at each value.
struct EndToEndOptions {
    var messages = 100_000
    var samples = 5
    var warmUp = 10_000
    var inFlight = 1000
    var delayMilliseconds = 0
    var payloadBytes = BenchMessage.payloadBytes
    /// The number of apps. With more keys than apps, the benchmark uses one app for each key.
    var apps = 1
    var keys = 1
    var lanes = 1
    var workers = 1
    /// The number of shards of the workers' request queue. Baselines consume from an unsharded queue.
    var shards = 1
    /// The number of broker nodes, 1 or 3.
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

    /// Reads the options that are not a `WorkSetting`.
    ///
    /// - Parameter quick: The numbers of requests with `--quick`.
    mutating func read(_ parsed: ParsedArguments, quick: (messages: Int, warmUp: Int)) throws(UsageError) {
        if parsed.has("quick") { (messages, warmUp, samples) = (quick.messages, quick.warmUp, 1) }
        messages = try parsed.integer("messages", upTo: Self.messagesMax) ?? messages
        samples = try parsed.integer("samples", upTo: 1000) ?? samples
        warmUp = try parsed.integer("warm-up", in: 0...1_000_000) ?? warmUp
        wantsJSON = parsed.has("json")
    }

    var inFlightOfAll: Int { inFlight * lanes * workers }

    /// The maximum number of requests in a queue.
    static let messagesMax = 10_000_000

    func check() throws(UsageError) {
        guard nodes != 2 else { throw UsageError("option --nodes: expected 1 or 3, got '2'") }
        guard shards == 1 || inFlight > shards else {
            throw UsageError("option --in-flight must be greater than \(shards), the number of shards")
        }
        guard warmUp + messages + inFlightOfAll <= Self.messagesMax else {
            throw UsageError(
                "options --messages plus --warm-up plus the requests in flight must be at most \(Self.messagesMax)")
        }
    }

    var bundleIDs: [String] { BenchMessage.bundleIDs(max(apps, keys)) }

    /// Returns a description of the work of each compared program.
    ///
    /// - Parameter setting: A setting to omit, since its values differ; nil to omit none.
    func description(without setting: WorkSetting? = nil) -> String {
        let size = setting == .payloadBytes ? "" : " of \(messageBytes) bytes"
        var parts = ["\(messages) requests\(size) per sample"]
        func add(_ part: WorkSetting, _ text: String, if isSpecial: Bool = true) {
            if part != setting, isSpecial { parts.append(text) }
        }
        add(.inFlight, "\(inFlight) in flight")
        add(.delayMilliseconds, "responses after \(delayMilliseconds) ms", if: delayMilliseconds > 0)
        add(.apps, "\(bundleIDs.count) apps", if: bundleIDs.count > 1)
        add(.keys, "\(keys) keys", if: keys > 1)
        add(.workers, workers == 1 ? "one worker" : "\(workers) workers")
        add(.lanes, lanes == 1 ? "one lane" : "\(lanes) lanes")
        add(.shards, "\(shards) shards", if: shards > 1)
        add(.nodes, "\(nodes) nodes", if: nodes > 1)
        return (parts + ["TLS", "quorum queues"]).joined(separator: ", ") + "; median of \(samples)"
    }

    var messageBytes: Int { message(round: 0).message(0, queue: "").body.count }

    func message(round: Int) -> BenchMessage {
        BenchMessage(round: round, apps: bundleIDs.count, payloadBytes: payloadBytes)
    }
}
