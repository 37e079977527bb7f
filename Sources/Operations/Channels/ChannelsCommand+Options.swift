import APNS
import APNSProtocol
import Delivery

extension ChannelsCommand.Options {
    init(_ parsed: ParsedArguments) throws(UsageError) {
        let options = parsed.options
        self.init(
            work: try Self.work(parsed), configPath: options["config"] ?? "", app: options["app"] ?? "",
            isJSON: options["json"] != nil)
        if let name = options["environment"] {
            guard let environment = APNSEnvironment(rawValue: name) else {
                throw UsageError(message: "--environment is production or sandbox", command: parsed.command)
            }
            self.environment = environment
        }
    }

    private static func work(_ parsed: ParsedArguments) throws(UsageError) -> ChannelsCommand.Work {
        switch parsed.command {
        case "channels create":
            guard let policy = parsed.options["storage"].flatMap({ ChannelRequest.StoragePolicy(word: $0) }) else {
                throw UsageError(message: "--storage is none or newest", command: parsed.command)
            }
            return .create(policy)
        case "channels read": return .read(parsed.operands)
        case "channels delete": return .delete(parsed.operands)
        default: return .list
        }
    }
}
