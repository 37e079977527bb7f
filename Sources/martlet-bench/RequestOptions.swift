import APNSProtocol
import CommandKit

/// What the command line asks for of requests to an APNs.
struct RequestOptions {
    /// Device tokens that requests go to, in turns.
    static let devices = 10_000
    private static let requestsMax = 10_000_000

    var requests = 200_000
    var samples = 5
    var warmUp = 20_000
    var connections = 4
    var streams = 100
    var payloadBytes = BenchMessage.payloadBytes
    var wantsJSON = false
    /// Whether it fails when the simulator costs too much; a few requests say nothing.
    var judges = true

    init() {}

    init(_ parsed: ParsedArguments) throws(UsageError) {
        if parsed.has("quick") { (requests, samples, warmUp, judges) = (20_000, 1, 2000, false) }
        requests = try parsed.integer("requests", upTo: Self.requestsMax) ?? requests
        samples = try parsed.integer("samples", upTo: 1000) ?? samples
        warmUp = try parsed.integer("warm-up", upTo: 1_000_000) ?? warmUp
        connections = try parsed.integer("connections", upTo: 1000) ?? connections
        streams = try parsed.integer("streams", upTo: 1000) ?? streams
        payloadBytes =
            try parsed.integer("payload-bytes", in: BenchMessage.payloadBytes...APNSLimits.payloadBytesMax)
            ?? payloadBytes
        wantsJSON = parsed.has("json")
        guard warmUp + requests <= Self.requestsMax else {
            throw UsageError("requests and those to warm up are \(Self.requestsMax) together at most")
        }
        guard connections <= min(requests, warmUp) else {
            throw UsageError("\(connections) connections want as many requests, and as many to warm up")
        }
    }

    /// The options of the load; each benchmark adds its own.
    static let syntax: [OptionSyntax] = {
        let standard = RequestOptions()
        return [
            OptionSyntax(name: "requests", value: "N", help: "of a sample (\(standard.requests))"),
            OptionSyntax(name: "warm-up", value: "N", help: "requests before it begins (\(standard.warmUp))"),
            OptionSyntax(name: "connections", value: "N", help: "of the client (\(standard.connections))"),
            OptionSyntax(name: "streams", value: "N", help: "of each connection at once (\(standard.streams))"),
            OptionSyntax(name: "payload-bytes", value: "N", help: "of a request (\(standard.payloadBytes))"),
        ]
    }()

    /// What all programs that are compared are given to do.
    var description: String {
        """
        \(requests) requests a sample to \(Self.devices) devices, payloads of \(payloadBytes) bytes, \(connections) \
        connections with \(streams) streams each, TLS; median of \(samples)
        """
    }
}
