import AdminHTTP
import JSON
import Text

extension AdminResponse {
    /// Returns a response whose body is the JSON value that `write` writes.
    static func value(status: Int = 200, _ write: (inout JSONWriter) -> Void) -> AdminResponse {
        var json = JSONWriter()
        write(&json)
        return .json(json.bytes + [UInt8(ascii: "\n")], status: status)
    }

    /// The response to a deletion: `{"deleted": true}`.
    static var deleted: AdminResponse { .object { $0.member("deleted", true) } }

    /// Returns a response whose body is a JSON object with the members that `write` adds.
    static func object(status: Int = 200, _ write: (inout JSONWriter) -> Void) -> AdminResponse {
        .value(status: status) { json in
            json.beginObject()
            write(&json)
            json.endObject()
        }
    }
}

extension AdminRequest {
    /// Parses the body as JSON.
    ///
    /// - Throws: status 400 if the body is not JSON. The message has the position of the error.
    func json() throws(AdminError) -> JSONDocument { try Self.json(body) }

    private static func json(_ text: [UInt8]) throws(AdminError) -> JSONDocument {
        do throws(JSONError) {
            return try JSONDocument(text, limits: JSONLimits(bytesMax: SimulatorAdmin.bodyBytesMax))
        } catch {
            throw AdminError(400, "the body is not JSON: \(error)")
        }
    }

    /// Reads a value from the JSON body.
    ///
    /// - Parameter canBeEmpty: whether an empty body means `{}`.
    /// - Throws: status 400 if the body is not JSON, or if `read` throws.
    func read<Value>(
        canBeEmpty: Bool = false, _ read: (JSONValue) throws(InputError) -> Value
    ) throws(AdminError) -> Value {
        let document = try Self.json(canBeEmpty && body.isEmpty ? Array("{}".utf8) : body)
        do throws(InputError) {
            return try read(document.root)
        } catch {
            throw error.adminError(in: document)
        }
    }

    /// Returns the case of `Word` whose raw value is the value of this query parameter; nil if the query has no such
    /// parameter.
    ///
    /// - Throws: status 400 if no case has the value.
    func word<Word: RawRepresentable<String> & CaseIterable>(_ name: String) throws(AdminError) -> Word? {
        guard let text = query(name) else { return nil }
        guard let word = Word(rawValue: text) else {
            throw AdminError(400, "\(name) must be \(Word.allCases.map(\.rawValue).enumerated(with: "or"))")
        }
        return word
    }

    /// Returns the query parameter of this name as an integer; nil if the query has no such parameter.
    ///
    /// - Throws: status 400 if the value is not an integer in the range.
    func number(_ name: String, _ range: ClosedRange<Int>) throws(AdminError) -> Int? {
        guard let text = query(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw AdminError(400, "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

extension InputError {
    /// Returns this error with status 400. If the error is not on the body's first line, its position precedes the
    /// message.
    func adminError(in document: JSONDocument) -> AdminError {
        guard let node else { return AdminError(400, message) }
        let position = document.position(ofNode: node)
        return AdminError(400, position.line > 1 ? "\(position.line):\(position.column): \(message)" : message)
    }
}
