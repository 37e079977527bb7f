package import Crypto
import JSON

/// The line of a dead letter. It is a sample of the dead letters with its class, code, app and path.
package struct JournalSample: Sendable, Hashable {
    package struct Header: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    /// The time of the dead letter, in UNIX milliseconds.
    package var at: Int64
    /// The identity of the request; nil if it is unreadable.
    package var id: UUIDValue?
    package var app: String?
    /// The class of the failure, such as `apns`.
    package var failureClass: String
    package var code: String
    /// A JSON pointer into the request.
    package var path: String?
    package var headers: [Header]
    /// The start of the body, at most ``JournalLimits/bodyBytesMax``.
    package var body: [UInt8]
    /// Whether the body of the dead letter is larger.
    package var isTruncated: Bool

    package init(
        at: Int64, id: UUIDValue?, app: String? = nil, failureClass: String, code: String, path: String? = nil,
        headers: [Header] = [], body: [UInt8] = [], isTruncated: Bool = false
    ) {
        self.at = at
        self.id = id
        self.app = app
        self.failureClass = failureClass
        self.code = code
        self.path = path
        self.headers = headers
        self.body = body
        self.isTruncated = isTruncated
    }

    static let codec = ObjectCodec(
        "a sample", from: Self(at: 0, id: nil, failureClass: "", code: ""), ignoresUnknown: true,
        [
            .required("at", \.at, .int(FleetLimits.times)),
            .optional("id", \.id, .uuid),
            .optional("app", \.app, .text(1...JournalLimits.appBytesMax)),
            .required("class", \.failureClass, .printable(bytesMax: JournalLimits.codeBytesMax)),
            .required("code", \.code, .printable(bytesMax: JournalLimits.codeBytesMax)),
            .optional("path", \.path, .text(0...JournalLimits.pathBytesMax)),
            .member("headers", \.headers, headersCodec),
            .member("body", \.body, bodyCodec),
            .member("truncated", \.isTruncated, .bool, omitting: false),
        ])

    private static let headersCodec = ValueCodec<[Header]>(
        "an object of at most \(JournalLimits.headersMax) texts of at most \(JournalLimits.headerBytesMax) bytes",
        read: { json in
            guard json.kind == .object, json.count <= JournalLimits.headersMax else { return nil }
            var headers: [Header] = []
            for (key, value) in json.members {
                guard let name = key.string, let text = value.string,
                    max(name.utf8.count, text.utf8.count) <= JournalLimits.headerBytesMax
                else { return nil }
                headers.append(Header(name, text))
            }
            return headers
        },
        write: { headers, json in
            json.beginObject()
            for header in headers {
                json.key(header.name)
                json.string(header.value)
            }
            json.endObject()
        })

    private static let bodyCodec = ValueCodec<String>.text.mapped(
        "at most \(JournalLimits.bodyBytesMax) bytes in Base64",
        read: { text in
            // Base64 needs 4 characters for 3 bytes.
            guard text.utf8.count <= JournalLimits.bodyBytesMax / 3 * 4 + 8, let body = Base64.decode(text),
                body.count <= JournalLimits.bodyBytesMax
            else { return nil }
            return body
        }, write: { Base64.encode($0) })
}
