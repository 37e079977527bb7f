package import JSON

/// A line of the journal: a JSON array of a word and an object.
package enum JournalLine: Sendable, Hashable {
    /// The body of a result message.
    case result([UInt8])
    case wait(JournalWait)
    case dead(JournalSample)

    private enum Word {
        static let result = "result"
        static let wait = "wait"
        static let dead = "dead"
    }

    /// Reads a line. Returns nil if the word is unknown, or if the line is malformed or too large.
    package init?(_ json: JSONValue) {
        guard json.kind == .array, json.count >= 2, json.sourceRange.count <= JournalLimits.lineBytesMax else {
            return nil
        }
        var elements = json.elements.makeIterator()
        guard let word = elements.next()?.string, let object = elements.next(), object.kind == .object else {
            return nil
        }
        switch word {
        case Word.result: self = .result(object.sourceBytes)
        case Word.wait:
            guard let wait = try? JournalWait.codec.read(object) else { return nil }
            self = .wait(wait)
        case Word.dead:
            guard let sample = try? JournalSample.codec.read(object) else { return nil }
            self = .dead(sample)
        default: return nil
        }
    }

    package func write(to json: inout JSONWriter) {
        switch self {
        case .result(let body): body.withUnsafeBytes { Self.writeResult($0, to: &json) }
        case .wait(let wait):
            json.beginArray()
            json.string(Word.wait)
            JournalWait.codec.write(wait, to: &json)
            json.endArray()
        case .dead(let sample):
            json.beginArray()
            json.string(Word.dead)
            JournalSample.codec.write(sample, to: &json)
            json.endArray()
        }
    }

    /// Writes the line of a result without a copy of its body.
    ///
    /// - Parameter body: the body of the result message, a JSON object.
    package static func writeResult(_ body: UnsafeRawBufferPointer, to json: inout JSONWriter) {
        json.beginArray()
        json.string(Word.result)
        json.raw(body)
        json.endArray()
    }
}
