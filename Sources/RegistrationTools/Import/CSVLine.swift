/// A line of a CSV file (RFC 4180). A field cannot contain a line break.
enum CSVLine {
    enum Mistake: Error, Equatable {
        case invalidUTF8
        case unclosedQuote
        /// A quote inside an unquoted field, or text after a closing quote.
        case misplacedQuote

        var sentence: String {
            switch self {
            case .invalidUTF8: "The line is not valid UTF-8."
            case .unclosedQuote: "A quoted field has no closing quote on its line; fields cannot contain line breaks."
            case .misplacedQuote: "A quote is not at the beginning or end of its field; double it in a quoted field."
            }
        }
    }

    private static let quote = UInt8(ascii: "\"")
    private static let comma = UInt8(ascii: ",")

    static func fields(of line: [UInt8]) throws(Mistake) -> [String] {
        var fields: [String] = []
        var place = 0
        while true {
            let field: [UInt8]
            if place < line.count, line[place] == quote {
                field = try quotedField(of: line, at: &place)
            } else {
                let end = line[place...].firstIndex(of: comma) ?? line.count
                guard !line[place..<end].contains(quote) else { throw .misplacedQuote }
                field = Array(line[place..<end])
                place = end
            }
            guard let text = String(validating: field, as: UTF8.self) else { throw .invalidUTF8 }
            fields.append(text)
            guard place < line.count else { return fields }
            place += 1
        }
    }

    /// Returns the content of a quoted field. Moves `place` from the opening quote to the next comma or the end of the
    /// line.
    private static func quotedField(of line: [UInt8], at place: inout Int) throws(Mistake) -> [UInt8] {
        var field: [UInt8] = []
        place += 1
        while place < line.count {
            guard line[place] == quote else {
                field.append(line[place])
                place += 1
                continue
            }
            place += 1
            guard place < line.count, line[place] == quote else {
                guard place == line.count || line[place] == comma else { throw .misplacedQuote }
                return field
            }
            field.append(quote)
            place += 1
        }
        throw .unclosedQuote
    }
}
