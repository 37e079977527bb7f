import Text

/// An answer to a request. The endpoint adds default headers for caching and browser security.
public struct AdminResponse: Sendable {
    public var status: Int
    public var contentType: String
    public var body: [UInt8]
    /// Headers other than `Content-Type`. A header here replaces the endpoint's default header of the same name.
    public var headers: [(name: String, value: String)] = []

    public init(status: Int = 200, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// Returns an answer with a complete JSON text.
    public static func json(_ text: [UInt8], status: Int = 200) -> AdminResponse {
        AdminResponse(status: status, contentType: "application/json", body: text)
    }

    /// Returns an answer with the body `{"error":"sentence"}`.
    public static func error(_ status: Int, _ sentence: String) -> AdminResponse {
        var text = #"{"error":""#
        for scalar in sentence.unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case _ where scalar.steersTerminal: text += " "
            default: text.unicodeScalars.append(scalar)
            }
        }
        return .json(Array((text + "\"}\n").utf8), status: status)
    }
}

/// A refusal of a request, sent as `{"error":"sentence"}`.
public struct AdminError: Error, Sendable, Hashable {
    public var status: Int
    /// The cause, and the remedy if there is one.
    public var sentence: String

    public init(_ status: Int, _ sentence: String) {
        self.status = status
        self.sentence = sentence
    }
}
