import APNSProtocol

/// A number that decides what the programs have to do, by the name of its option.
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

    /// As a command line has it.
    var flag: String { "--\(rawValue)" }

    /// The explanation of the option.
    var help: String {
        switch self {
        case .inFlight: "messages that a lane may have in flight"
        case .delayMilliseconds: "milliseconds until the simulator answers"
        case .payloadBytes: "of a message; with more than 4096 they are VoIP pushes"
        case .apps: "apps to which the messages go, in turns"
        case .keys: "keys of the apps, in turns; each has an app at least, the baselines have one always"
        case .lanes: "of each worker"
        case .workers: "at once; a baseline is one process always"
        case .shards: "of the queue of requests; the baselines take from the queue itself"
        case .nodes: "of the broker, 1 or 3; its processor time is that of all"
        }
    }

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
