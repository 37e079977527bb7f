import APNSProtocol

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

    init(_ arguments: ArraySlice<String>) throws(UsageError) {
        var arguments = Arguments(arguments)
        while let argument = arguments.next() {
            switch argument {
            case "--requests": requests = try arguments.number(for: argument, in: 1...Self.requestsMax)
            case "--samples": samples = try arguments.number(for: argument, in: 1...1000)
            case "--warm-up": warmUp = try arguments.number(for: argument, in: 1...1_000_000)
            case "--connections": connections = try arguments.number(for: argument, in: 1...1000)
            case "--streams": streams = try arguments.number(for: argument, in: 1...1000)
            case "--payload-bytes":
                payloadBytes = try arguments.number(
                    for: argument, in: BenchMessage.payloadBytes...APNSLimits.payloadBytesMax)
            case "--quick": (requests, samples, warmUp, judges) = (20_000, 1, 2000, false)
            case "--json": wantsJSON = true
            default: throw UsageError(message: "what is \(argument)?")
            }
        }
        guard warmUp + requests <= Self.requestsMax else {
            throw UsageError(message: "requests and those to warm up are \(Self.requestsMax) together at most")
        }
        guard connections <= min(requests, warmUp) else {
            throw UsageError(message: "\(connections) connections want as many requests, and as many to warm up")
        }
    }

    /// What all programs that are compared are given to do.
    var description: String {
        """
        \(requests) requests a sample to \(Self.devices) devices, payloads of \(payloadBytes) bytes, \(connections) \
        connections with \(streams) streams each, TLS; median of \(samples)
        """
    }
}
