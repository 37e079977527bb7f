import AMQP
import BrokerTopology
import JSON
import Registrations

/// A reader that validates the commands of deliveries.
struct CommandReader {
    let names: TopologyNames
    /// Prefix of the names of queues that may receive replies; nil to permit only direct reply-to.
    let replyPrefix: String?
    let environment: ReceivedCommand.EnvironmentLookup

    struct Reading {
        let destination: ReplyDestination
        let command: Result<ReceivedCommand, CommandViolation>
    }

    /// Reads and validates a command.
    ///
    /// - Parameter now: UNIX milliseconds.
    func read(_ message: IncomingMessage, now: Int64) -> Reading {
        let properties = EchoedProperties(message.properties)
        var address: ReplyAddress?
        let command = Result { () throws(CommandViolation) in
            if let replyTo = message.properties.replyTo, !replyTo.isEmpty {
                do throws(RequestViolation) {
                    address = try ReplyAddress(replyTo, prefix: replyPrefix, names)
                } catch {
                    throw CommandViolation(error)
                }
            }
            if let violation = properties.violation { throw CommandViolation(violation) }
            guard !message.isOversized else { throw ReceivedCommand.oversized }
            if let violation = ContentCoding.violation(of: message.properties.contentEncoding) {
                throw CommandViolation(violation)
            }
            return try ReceivedCommand(
                message.body, messageID: RequestIdentity.of(messageID: message.properties.messageID), from: .queue,
                now: now, environment: environment)
        }
        return Reading(destination: ReplyDestination(address: address, properties: properties), command: command)
    }
}

/// The destination of the reply to a command, and the properties by which the requester recognizes the reply.
struct ReplyDestination {
    /// The address of the reply; nil if the command asks for no reply, or its reply-to is invalid.
    let address: ReplyAddress?
    let properties: EchoedProperties
}

extension CommandViolation {
    fileprivate init(_ violation: RequestViolation) {
        self.init(
            Class(violation.violationClass), violation.code, path: violation.path, violation.sentence)
    }
}

extension CommandViolation.Class {
    fileprivate init(_ violationClass: RequestViolation.Class) {
        self =
            switch violationClass {
            case .property: .property
            case .json: .json
            case .schema: .schema
            case .limit: .limit
            case .app, .registration: .app
            case .size: .size
            }
    }
}

extension ReceivedCommand {
    fileprivate static let oversized = CommandViolation(
        .size, "message_bytes", "The body is larger than \(bytesMax) bytes.")
}
