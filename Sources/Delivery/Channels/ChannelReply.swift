import AMQP
import APNS
import APNSProtocol
import Crypto
import JSON

/// The reply to a channel command (`schemas/channel-reply.schema.json`).
package enum ChannelReply {
    package static let type = "push.channel-reply.v1"

    /// Returns the body of the reply to an executed command.
    ///
    /// - Parameter environment: The environment of the channels.
    static func body(_ result: ChannelResult, to command: ChannelCommand, in environment: APNSEnvironment) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("id", "\(command.id)")
        json.member("app", command.app)
        json.member("environment", environment.rawValue)
        json.member("command", command.request.word)
        result.write(to: &json, of: command.request)
        json.endObject()
        return json.bytes
    }

    /// Returns the body of the reply to an invalid command, which was not executed.
    ///
    /// - Parameter command: The command; nil if the command was not read or could not be read.
    static func body(_ violation: RequestViolation, to command: ChannelCommand?) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        if let command {
            json.member("id", "\(command.id)")
            json.member("app", command.app)
            json.member("command", command.request.word)
        }
        json.member("outcome", "invalid")
        json.member("message", violation.sentence)
        json.key("error")
        json.beginObject()
        json.member("class", violation.violationClass.rawValue)
        json.member("code", violation.code)
        if let path = violation.path { json.member("path", path) }
        json.endObject()
        json.endObject()
        return json.bytes
    }
}
