package import AMQP
import BrokerTopology
package import Crypto
import EventLoop
import JSON
import Text

/// A request for a test notification to one device.
package struct TestRequest: Sendable, Hashable {
    package static let titleBytesMax = 200
    package static let appBytesMax = 200
    package static let tokenCharactersMax = 400

    package var app: String
    package var deviceToken: String
    package var title: String
    /// The request queue; nil for the exchange of requests.
    package var queue: String?

    package init(app: String, deviceToken: String, title: String, queue: String? = nil) {
        (self.app, self.deviceToken, self.title, self.queue) = (app, deviceToken, title, queue)
    }

    /// The reason why the request is invalid; nil if it is valid.
    package var violation: String? {
        let isApp = { (byte: UInt8) in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard 1...Self.appBytesMax ~= app.utf8.count, app.utf8.allSatisfy(isApp) else {
            return "app must be a bundle ID of 1 to \(Self.appBytesMax) letters, digits, dots and hyphens"
        }
        guard 2...Self.tokenCharactersMax ~= deviceToken.utf8.count, deviceToken.utf8.count.isMultiple(of: 2),
            deviceToken.allSatisfy(\.isHexDigit), deviceToken.utf8.count == deviceToken.count
        else { return "device_token must be hexadecimal, with two digits per byte" }
        guard 1...Self.titleBytesMax ~= title.utf8.count, !title.unicodeScalars.contains(where: \.steersTerminal) else {
            return "title must be a text of 1 to \(Self.titleBytesMax) bytes without control characters"
        }
        return nil
    }

    /// The body of the request. It has no id, because the message-id identifies the request.
    package var json: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("app", app)
        json.member("device_token", deviceToken)
        json.member("push_type", "alert")
        json.beginObject("payload")
        json.beginObject("aps")
        json.beginObject("alert")
        json.member("title", title)
        json.endObject()
        json.endObject()
        json.endObject()
        json.endObject()
        return json.bytes
    }

    /// The command that publishes the same request with another id.
    package var commandLine: String {
        let option = queue.map { " --queue \(Shell.word($0))" } ?? ""
        return "printf %s \(Shell.quoted(String(decoding: json, as: UTF8.self))) | martlet publish\(option) -"
    }

    /// Publishes the request, and waits for the broker's confirm.
    ///
    /// - Parameter id: the id of the request, which is the `apns-id` of the push.
    package func publish(in session: FleetSession, id: UUIDValue) async throws(AMQPError) {
        var message = OutgoingMessage(
            exchange: queue == nil ? session.names.requestsExchange : "", routingKey: queue ?? app, body: json,
            messageID: id.description)
        message.timestampSeconds = UInt64(exactly: session.loop.now.unixSeconds)
        message.appID = "martlet console"
        try await session.publish(message)
    }
}
