import APNSProtocol

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
            let word = parsed.options["storage"]
            guard let known = ChannelsCommand.policies.first(where: { $0.word == word }) else {
                throw UsageError(message: "--storage is none or newest", command: parsed.command)
            }
            return .create(known.policy)
        case "channels read": return .read(parsed.operands)
        case "channels delete": return .delete(parsed.operands)
        default: return .list
        }
    }
}
