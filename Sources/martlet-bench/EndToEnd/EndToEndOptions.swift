import AMQP

/// What the command line asks for.
struct EndToEndOptions {
    /// Of a message's payload, the largest that APNs takes (Apple, "Generating a remote notification").
    private static let payloadBytesMax = 4096

    var messages = 100_000
    var samples = 5
    var warmUp = 10_000
    var inFlight = 1000
    var delayMilliseconds = 0
    var payloadBytes = BenchMessage.payloadBytes
    var apps = 1
    var lanes = 1
    var workers = 1
    var wantsJSON = false

    init(_ arguments: ArraySlice<String>) throws(UsageError) {
        var arguments = Arguments(arguments)
        while let argument = arguments.next() {
            switch argument {
            case "--messages": messages = try arguments.number(for: argument, in: 1...10_000_000)
            case "--samples": samples = try arguments.number(for: argument, in: 1...1000)
            case "--warm-up": warmUp = try arguments.number(for: argument, in: 0...1_000_000)
            case "--in-flight": inFlight = try arguments.number(for: argument, in: 1...65535)
            case "--delay-ms": delayMilliseconds = try arguments.number(for: argument, in: 0...60_000)
            case "--payload-bytes":
                payloadBytes = try arguments.number(
                    for: argument, in: BenchMessage.payloadBytesMin...Self.payloadBytesMax)
            case "--apps": apps = try arguments.number(for: argument, in: 1...10_000)
            case "--lanes": lanes = try arguments.number(for: argument, in: 1...64)
            case "--workers": workers = try arguments.number(for: argument, in: 1...16)
            case "--quick": (messages, samples, warmUp) = (10_000, 1, 2000)
            case "--json": wantsJSON = true
            default: throw UsageError(message: "what is \(argument)?")
            }
        }
    }

    /// What all programs that are compared are given to do.
    var description: String {
        var words = [
            "\(messages) messages of \(messageBytes) bytes a sample", "\(inFlight) in flight",
            workers == 1 ? "one worker" : "\(workers) workers", lanes == 1 ? "one lane" : "\(lanes) lanes", "TLS",
            "quorum queues",
        ]
        if apps > 1 { words.insert("\(apps) apps", at: 2) }
        if delayMilliseconds > 0 { words.insert("answers after \(delayMilliseconds) ms", at: 2) }
        return words.joined(separator: ", ") + "; median of \(samples)"
    }

    var messageBytes: Int {
        BenchMessage(round: 0, apps: apps, payloadBytes: payloadBytes).message(0, queue: "").body.count
    }
}
