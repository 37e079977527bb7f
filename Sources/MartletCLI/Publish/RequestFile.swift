import AMQP
import Actions
import CommandKit
import Configuration
import Crypto
import Delivery
import JSON
import Text

/// A file that contains a request.
struct RequestFile: Sendable {
    /// Maximum size of a file: the default size limit of a message in RabbitMQ 4.
    private static let bytesMax = 16 << 20

    enum Destination: Sendable {
        case exchange(String)
        case queue(String)
    }

    var name: String
    var body: [UInt8]

    /// Reads a file. `-` is standard input. Prints a warning for each unknown `aps` key. Returns nil after an error
    /// line if the file cannot be read.
    static func read(_ name: String) -> RequestFile? {
        do {
            let body = try FileReader.bytes(of: name, bytesMax: bytesMax, allowsStandardInput: true)
            let file = RequestFile(name: name, body: body)
            for key in file.unknownKeys {
                let sentence = DeadLetterText.shown(key.sentence, reveals: false)
                Terminal.error.line("martlet: \(name): warning: \(sentence)".printable)
            }
            return file
        } catch {
            Terminal.error.line("martlet: cannot read \(name): \(error.reason)".printable)
            return nil
        }
    }

    private var unknownKeys: [UnknownApsKey] {
        (try? JSONDocument(body).root).map { UnknownApsKey.all(in: CloudEvent.request(in: $0)) } ?? []
    }

    /// Returns the body with a new id. Returns the body unchanged if it has no id.
    func withNewID() throws(CryptoError) -> [UInt8] {
        guard let root = (try? JSONDocument(body))?.root,
            let place = (CloudEvent.request(in: root)["id"] ?? root["id"])?.sourceRange
        else { return body }
        var body = body
        body.replaceSubrange(place, with: Array("\"\(try UUIDValue.random())\"".utf8))
        return body
    }

    /// Returns the file with users as the target of the request instead of a device, a channel or other users. Returns
    /// the file unchanged if the request is not a JSON object.
    ///
    /// - Parameters:
    ///   - users: one or more.
    ///   - scope: nil to keep the scope of the file.
    func addressed(to users: [String], scope: String?) -> RequestFile {
        guard let root = (try? JSONDocument(body))?.root else { return self }
        let request = CloudEvent.request(in: root)
        guard request.kind == .object else { return self }
        var replaced: Set = ["device_token", "channel_id", "storage_policy", "user", "users"]
        if scope != nil { replaced.insert("scope") }
        var json = JSONWriter()
        json.beginObject()
        for (key, value) in request.members {
            guard let name = key.string, !replaced.contains(name) else { continue }
            json.key(name)
            json.raw(value.sourceBytes)
        }
        if users.count == 1 {
            json.member("user", users[0])
        } else {
            json.beginArray("users")
            for user in users { json.string(user) }
            json.endArray()
        }
        if let scope { json.member("scope", scope) }
        json.endObject()
        var file = self
        file.body.replaceSubrange(request.sourceRange, with: json.bytes)
        return file
    }

    /// Returns a message for the request exchange or a queue.
    ///
    /// - Parameter id: the message-id; nil for the id of the body, or for a new UUID if the body has no id.
    static func message(
        body: [UInt8], to destination: Destination, id: String?, unixSeconds: Int64
    ) throws(CryptoError) -> OutgoingMessage {
        let root = (try? JSONDocument(body).root).map { CloudEvent.request(in: $0) }
        let messageID: String
        if let id = id ?? RequestIdentity.of(body: body, messageID: nil)?.description {
            messageID = id
        } else {
            messageID = try UUIDValue.random().description
        }
        let (exchange, routingKey) =
            switch destination {
            case .exchange(let name): (name, routingKey(app: root?["app"]?.string))
            // Each queue is bound by its name to the default exchange, whose name is empty (AMQP 0-9-1, section
            // 3.1.3.1).
            case .queue(let name): ("", name)
            }
        var message = OutgoingMessage(exchange: exchange, routingKey: routingKey, body: body, messageID: messageID)
        message.timestampSeconds = UInt64(exactly: unixSeconds)
        message.appID = "martlet publish"
        return message
    }

    /// Returns the app as the routing key, so that an operator can bind one queue for each app. Returns `-` if the
    /// app is missing, empty or too long for a routing key.
    private static func routingKey(app: String?) -> String {
        guard let app, !app.isEmpty, app.utf8.count <= 255 else { return "-" }
        return app
    }
}
