import Actions
import BrokerTopology
import Configuration
import ControlProtocol
import Crypto
import JSON

/// The effect of an action in the current state of the fleet.
struct ActionPlan: Sendable, Hashable {
    var command: String
    /// The command as the audit records it.
    var recordedCommand: String
    var summary: String
    /// The number of workers, of breakers for a probe, or of messages, that the action concerns; nil for a test
    /// notification.
    var count: Int?
    /// The words that the operator must type; nil without them.
    var phrase: String?
    /// A digest of the request and of the state on which its effect depends.
    var expect: String
    var role: OperatorRole
    /// The messages that the action concerns; nil for other actions.
    var messages: MessageExtent?
    /// The complete arguments as JSON; nil for an action whose arguments have no other default than null.
    var arguments: [UInt8]?

    /// - Parameters:
    ///   - commands: completes the command.
    ///   - pauses: the revision of the pauses; nil if it is unknown.
    ///   - workers: the number of reporting workers.
    ///   - probed: the breakers that the action probes; empty for other actions.
    ///   - messages: the messages that the action concerns; empty for other actions.
    init(
        _ request: ActionRequest, commands: CommandAdvice, _ names: TopologyNames, pauses: PauseRevision?, workers: Int,
        probed: FleetProbe.Plan, messages: MessageExtent = MessageExtent()
    ) {
        command = commands.completedCommand(request.action.commandLine)
        recordedCommand = commands.completedCommand(request.action.recordedCommandLine)
        summary = request.action.summary(workers: workers, probed: probed, messages: messages, names)
        phrase = request.action.phrase(prefix: names.prefix, messages: messages)
        role = request.action.role
        switch request.action {
        case .pause:
            count = workers
            let revision = pauses.map { "\($0.series) \($0.number)" } ?? "none"
            expect = Self.digest("\(request.content)\n\(revision)")
        case .probe:
            // A probe is harmless in any state.
            count = probed.breakerCount
            expect = Self.digest(request.content)
        case .test:
            count = nil
            expect = Self.digest(request.content)
        case .messages(let action):
            count = messages.count
            self.messages = messages
            arguments = action.arguments
            expect = Self.digest("\(request.content)\n\(messages.count)")
        }
    }

    private static func digest(_ text: String) -> String {
        String(Secret.text(Digest.sha256(Array(text.utf8))).prefix(32))
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("command", command)
        json.member("summary", summary)
        json.key("count")
        if let count { json.int(Int64(count)) } else { json.null() }
        json.key("phrase")
        if let phrase { json.string(phrase) } else { json.null() }
        json.member("expect", expect)
        json.member("role", role.rawValue)
        json.member("at_most", messages?.isAtMost ?? false)
        if let messages { json.member("invalid", messages.invalid) }
        if let arguments {
            json.key("arguments")
            json.raw(arguments)
        }
        json.endObject()
    }
}

extension ActionRequest {
    /// A text that two requests share only if they request the same.
    var content: String {
        guard case .messages(let messages) = action else { return "\(action.name)\n\(action.commandLine)\n\(why)" }
        // The command lacks some arguments.
        return "\(action.name)\n\(Secret.text(Digest.sha256(messages.arguments)))\n\(why)"
    }
}
