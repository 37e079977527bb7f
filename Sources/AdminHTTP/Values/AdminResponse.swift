import Text

/// What a request is answered with. The endpoint adds the headers that keep it out of caches and foreign pages.
public struct AdminResponse: Sendable {
    public var status: Int
    public var contentType: String
    public var body: [UInt8]
    /// Beyond those about content; in place of the endpoint's own about caches and security where it has one.
    public var headers: [(name: String, value: String)] = []

    public init(status: Int = 200, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// A JSON text that is written already.
    public static func json(_ text: [UInt8], status: Int = 200) -> AdminResponse {
        AdminResponse(status: status, contentType: "application/json", body: text)
    }

    /// `{"error":"sentence"}`
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

/// Why a request is refused: becomes `{"error":"sentence"}`.
public struct AdminError: Error, Sendable, Hashable {
    public var status: Int
    /// What is wrong and what to do about it.
    public var sentence: String

    public init(_ status: Int, _ sentence: String) {
        self.status = status
        self.sentence = sentence
    }
}
