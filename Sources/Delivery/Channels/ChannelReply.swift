import AMQP
import APNS
import APNSProtocol
import Crypto
import JSON

/// What a command is answered with (`schemas/channel-reply.schema.json`).
package enum ChannelReply {
    package static let type = "push.channel-reply.v1"

    /// - Parameter environment: where it was done.
    static func body(_ report: ChannelResult, to command: ChannelCommand, in environment: APNSEnvironment) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("id", "\(command.id)")
        json.member("app", command.app)
        json.member("environment", environment.rawValue)
        json.member("command", command.request.word)
        report.write(to: &json, of: command.request)
        json.endObject()
        return json.bytes
    }

    /// Nothing was done.
    ///
    /// - Parameter command: nil: it could not be read.
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
