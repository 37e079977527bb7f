import Crypto
import JSON

extension RegistrationReply {
    /// The AMQP property `type` of a reply.
    public static let type = "push.registration-reply.v1"

    /// The outcome of an invalid command.
    private static let invalidWord = "invalid"

    /// Returns the body of the reply to a command (`schemas/registration-reply.schema.json`).
    public func body(to received: ReceivedCommand) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("id", received.id.description)
        json.member("command", received.command.word.rawValue)
        if let app = received.command.app { json.member("app", app) }
        json.member("outcome", rawValue)
        json.endObject()
        return json.bytes
    }

    /// Returns the body of the reply to an invalid command.
    public static func body(_ violation: CommandViolation) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("outcome", invalidWord)
        json.member("message", violation.sentence)
        json.beginObject("error")
        json.member("class", violation.violationClass.rawValue)
        json.member("code", violation.code)
        if let path = violation.path { json.member("path", path) }
        json.endObject()
        json.endObject()
        return json.bytes
    }
}
