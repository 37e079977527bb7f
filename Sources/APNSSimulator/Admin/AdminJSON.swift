import AdminHTTP
import JSON

extension AdminResponse {
    /// One JSON value that `write` writes.
    static func value(status: Int = 200, _ write: (inout JSONWriter) -> Void) -> AdminResponse {
        var json = JSONWriter()
        write(&json)
        return .json(json.bytes + [UInt8(ascii: "\n")], status: status)
    }

    /// Something is not there any more.
    static var deleted: AdminResponse { .object { $0.member("deleted", true) } }

    /// One JSON object with the members that `write` adds.
    static func object(status: Int = 200, _ write: (inout JSONWriter) -> Void) -> AdminResponse {
        .value(status: status) { json in
            json.beginObject()
            write(&json)
            json.endObject()
        }
    }
}

extension AdminRequest {
    /// The body as JSON.
    ///
    /// - Throws: 400 with the place of the mistake.
    func json() throws(AdminError) -> JSONDocument { try Self.json(body) }

    private static func json(_ text: [UInt8]) throws(AdminError) -> JSONDocument {
        do throws(JSONError) {
            return try JSONDocument(text, limits: JSONLimits(bytesMax: SimulatorAdmin.bodyBytesMax))
        } catch {
            throw AdminError(400, "the body has to be JSON: \(error)")
        }
    }

    /// Reads what the body says.
    ///
    /// - Parameter canBeEmpty: whether no body at all says as much as `{}`.
    /// - Throws: 400 with the place of the mistake.
    func read<Value>(
        canBeEmpty: Bool = false, _ read: (JSONValue) throws(InputError) -> Value
    ) throws(AdminError) -> Value {
        let document = try Self.json(canBeEmpty && body.isEmpty ? Array("{}".utf8) : body)
        do throws(InputError) {
            return try read(document.root)
        } catch {
            throw error.told(of: document)
        }
    }

    /// One of a few words of the query; nil when it has none of this name.
    ///
    /// - Throws: 400 when it is another.
    func word<Word: RawRepresentable<String> & CaseIterable>(_ name: String) throws(AdminError) -> Word? {
        guard let text = query(name) else { return nil }
        guard let word = Word(rawValue: text) else {
            throw AdminError(400, "\(name) is \(Word.allCases.map(\.rawValue).joined(separator: " or "))")
        }
        return word
    }

    /// A whole number of the query; nil when it has none of this name.
    ///
    /// - Throws: 400 when it is no number of the range.
    func number(_ name: String, _ range: ClosedRange<Int>) throws(AdminError) -> Int? {
        guard let text = query(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw AdminError(400, "\(name) is a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

extension InputError {
    /// The same sentence with its place in the body, when that has more than one line.
    func told(of document: JSONDocument) -> AdminError {
        guard let node else { return AdminError(400, message) }
        let place = document.position(ofNode: node)
        return AdminError(400, place.line > 1 ? "\(place.line):\(place.column): \(message)" : message)
    }
}
