import Text

/// An answer to a request. The endpoint adds default headers for caching and browser security.
public struct AdminResponse: Sendable {
    public var status: Int
    public var contentType: String
    public var body: [UInt8]
    /// Headers other than `Content-Type`. A header in this list replaces the endpoint's default header of the
    /// same name.
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
    ///
    /// - Parameters:
    ///   - code: a word for programs, as the member `code`; nil to omit the member.
    ///   - remedy: a command or sentence, as the member `remedy`; nil to omit the member.
    ///   - offset: the place of a mistake, as the member `offset`; nil to omit the member.
    public static func error(
        _ status: Int, _ sentence: String, code: String? = nil, remedy: String? = nil, offset: Int? = nil
    ) -> AdminResponse {
        let texts = [("error", sentence), ("code", code), ("remedy", remedy)].compactMap { name, text in
            text.map { "\"\(name)\":\(quoted($0))" }
        }
        let members = texts + (offset.map { ["\"offset\":\($0)"] } ?? [])
        return .json(Array("{\(members.joined(separator: ","))}\n".utf8), status: status)
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case _ where scalar.steersTerminal: quoted += " "
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

/// A refusal of a request, sent as `{"error":"sentence"}`, with the members `code` and `remedy` if present.
public struct AdminError: Error, Sendable, Hashable {
    public var status: Int
    /// The cause, and the remedy if there is one.
    public var sentence: String
    /// A word for programs; nil if the status suffices.
    public var code: String?
    /// A command or sentence that helps; nil if the sentence contains the remedy.
    public var remedy: String?
    /// The number of bytes before a mistake in a text of the request; nil for other refusals.
    public var offset: Int?

    public init(_ status: Int, _ sentence: String, code: String? = nil, remedy: String? = nil) {
        self.status = status
        self.sentence = sentence
        self.code = code
        self.remedy = remedy
    }

    /// The answer to the refused request.
    public var response: AdminResponse { .error(status, sentence, code: code, remedy: remedy, offset: offset) }
}
