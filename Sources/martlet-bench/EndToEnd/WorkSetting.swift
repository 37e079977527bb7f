import APNSProtocol

/// A number that says what programs are given to do, by its option.
enum WorkSetting: String, CaseIterable {
    case inFlight = "--in-flight"
    case delayMilliseconds = "--delay-ms"
    case payloadBytes = "--payload-bytes"
    case apps = "--apps"
    case keys = "--keys"
    case lanes = "--lanes"
    case workers = "--workers"
    case shards = "--shards"
    case nodes = "--nodes"

    /// The option without its dashes.
    var name: String { String(rawValue.dropFirst(2)) }

    /// What its values are.
    var words: String {
        switch self {
        case .inFlight: "messages in flight"
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
