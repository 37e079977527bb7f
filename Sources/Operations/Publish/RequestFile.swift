import AMQP
import Crypto
import JSON

/// A file's bytes as a message for the exchange of requests.
enum RequestFile {
    /// - Parameter id: instead of the body's own.
    static func message(
        body: [UInt8], exchange: String, id: String?, unixSeconds: Int64
    ) throws(CryptoError) -> OutgoingMessage {
        let root = try? JSONDocument(body).root
        let ownID = root?["id"]?.string.flatMap { UUIDValue($0) }
        let messageID: String
        if let id = id ?? ownID?.description { messageID = id } else { messageID = try UUIDValue.random().description }
        var message = OutgoingMessage(
            exchange: exchange, routingKey: routingKey(app: root?["app"]?.string), body: body, messageID: messageID)
        message.timestampSeconds = UInt64(exactly: unixSeconds)
        message.appID = "martlet publish"
        return message
    }

    /// The app, so that somebody may bind a queue of his own for it; `-` where it cannot be read.
    private static func routingKey(app: String?) -> String {
        guard let app, !app.isEmpty, app.utf8.count <= 255 else { return "-" }
        return app
    }
}
