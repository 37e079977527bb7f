import APNS
import APNSProtocol
import CommandKit
import Delivery

/// The options of a command on the broadcast channels of an app.
struct ChannelCommandOptions: Equatable, Sendable {
    enum Work: Equatable, Sendable {
        case create(ChannelRequest.StoragePolicy)
        case read([String])
        case delete([String])
        case list
    }

    var work: Work
    var configPath: String
    var app: String
    /// The environment; nil for the environment of the app.
    var environment: APNSEnvironment?
    var isJSON = false
}

extension ChannelCommandOptions {
    init(_ work: Work, _ parsed: ParsedArguments) {
        self.init(
            work: work, configPath: parsed.required("config"), app: parsed.required("app"),
            environment: parsed.word("environment"), isJSON: parsed.has("json"))
    }
}
