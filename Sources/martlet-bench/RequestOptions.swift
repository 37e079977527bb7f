import APNSProtocol
import CommandKit

/// The options of benchmarks that send requests to an APNs server.
struct RequestOptions {
    /// The number of device tokens, which the requests use in rotation.
    static let devices = 10_000
    private static let requestsMax = 10_000_000

    var requests = 200_000
    var samples = 5
    var warmUp = 20_000
    var connections = 4
    var streams = 100
    var payloadBytes = BenchMessage.payloadBytes
    var wantsJSON = false
    /// Whether the benchmark fails if the simulator exceeds its limit; false with `--quick`.
    var enforcesLimits = true

    init() {}

    init(_ parsed: ParsedArguments) throws(UsageError) {
        if parsed.has("quick") { (requests, samples, warmUp, enforcesLimits) = (20_000, 1, 2000, false) }
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
            throw UsageError("options --requests plus --warm-up must be at most \(Self.requestsMax)")
        }
        guard connections <= min(requests, warmUp) else {
            throw UsageError(
                "options --requests and --warm-up must be at least \(connections), the number of connections")
        }
    }

    /// The options of the load. Each benchmark adds further options.
    static let syntax: [OptionSyntax] = {
        let standard = RequestOptions()
        return [
            OptionSyntax(name: "requests", value: "N", help: "requests per sample (\(standard.requests))"),
            OptionSyntax(name: "warm-up", value: "N", help: "requests before each sample (\(standard.warmUp))"),
            OptionSyntax(name: "connections", value: "N", help: "connections of the client (\(standard.connections))"),
            OptionSyntax(name: "streams", value: "N", help: "concurrent streams per connection (\(standard.streams))"),
            OptionSyntax(
                name: "payload-bytes", value: "N", help: "bytes of a request's payload (\(standard.payloadBytes))"),
        ]
    }()

    /// The work of each compared program.
    var description: String {
        """
        \(requests) requests per sample to \(Self.devices) devices, payloads of \(payloadBytes) bytes, \(connections) \
        connections with \(streams) streams each, TLS; median of \(samples)
        """
    }
}
