import APNSProtocol

/// A numeric setting of the work. The raw value is the name of its option.
enum WorkSetting: String, CaseIterable {
    case inFlight = "in-flight"
    case delayMilliseconds = "delay-ms"
    case payloadBytes = "payload-bytes"
    case apps = "apps"
    case keys = "keys"
    case lanes = "lanes"
    case workers = "workers"
    case shards = "shards"
    case nodes = "nodes"

    var flag: String { "--\(rawValue)" }

    /// The help text of the option, without the default.
    var help: String {
        switch self {
        case .inFlight: "requests in flight per lane"
        case .delayMilliseconds: "milliseconds until the simulator answers"
        case .payloadBytes: "bytes of a request's payload; above 4096, the requests are VoIP pushes"
        case .apps: "apps, in rotation"
        case .keys: "keys of the apps, in rotation; each key has at least one app, and baselines use one key"
        case .lanes: "lanes of each worker"
        case .workers: "concurrent workers; a baseline is always one process"
        case .shards: "shards of the request queue; baselines use an unsharded queue"
        case .nodes: "nodes of the broker, 1 or 3; its processor time is the total of all nodes"
        }
    }

    /// The label of the values, with their unit.
    var valueLabel: String {
        switch self {
        case .inFlight: "requests in flight"
        case .delayMilliseconds: "milliseconds until APNs answers"
        case .payloadBytes: "bytes of payload"
        case .apps: "apps"
        case .keys: "keys"
        case .lanes: "lanes"
        case .workers: "workers"
        case .shards: "shards"
        case .nodes: "nodes of the broker"
        }
    }

    var range: ClosedRange<Int> {
        switch self {
        case .inFlight: 1...65535
        case .delayMilliseconds: 0...60_000
        case .payloadBytes: BenchMessage.payloadBytes...APNSLimits.payloadBytesMaxVoIP
        case .apps: 1...10_000
        case .keys: 1...100
        case .lanes: 1...64
        case .workers: 1...16
        case .shards: 1...64
        case .nodes: 1...3
        }
    }

    var path: WritableKeyPath<EndToEndOptions, Int> {
        switch self {
        case .inFlight: \.inFlight
        case .delayMilliseconds: \.delayMilliseconds
        case .payloadBytes: \.payloadBytes
        case .apps: \.apps
        case .keys: \.keys
        case .lanes: \.lanes
        case .workers: \.workers
        case .shards: \.shards
        case .nodes: \.nodes
        }
    }
}
