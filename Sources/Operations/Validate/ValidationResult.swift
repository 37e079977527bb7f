import JSON
import JSONSchema

/// What a check of one document came to.
struct ValidationResult: Equatable {
    var errors: [Problem] = []

    var isValid: Bool { errors.isEmpty }

    enum Problem: Equatable {
        case json(JSONError)
        case schema(SchemaViolation, JSONPosition)

        var position: JSONPosition {
            switch self {
            case .json(let error): error.position
            case .schema(_, let position): position
            }
        }

        /// For a person.
        var message: String {
            switch self {
            case .json(let error): error.message
            case .schema(let violation, _): violation.description
            }
        }
    }

    /// One line: `{"valid":true}`, or `false` with `errors`.
    ///
    /// - Parameter firstLine: the line of the file on which the document begins, counted from 1.
    func json(firstLine: Int) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.key("valid")
        json.bool(isValid)
        if !isValid {
            json.key("errors")
            json.beginArray()
            for error in errors {
                json.beginObject()
                switch error {
                case .json(let error):
                    json.member("class", "json")
                    json.member("code", error.code.rawValue)
                    json.member("message", error.message)
                case .schema(let violation, _):
                    json.member("class", "schema")
                    json.member("keyword", violation.keyword)
                    json.member("instance_pointer", violation.instancePointer)
                    json.member("schema_pointer", violation.schemaPointer)
                    json.member("schema_location", violation.schemaLocation)
                    json.member("message", violation.message)
                    if let suggestion = violation.suggestion { json.member("suggestion", suggestion) }
                }
                json.member("offset", Int64(error.position.offset))
                json.member("line", Int64(error.position.line + firstLine - 1))
                json.member("column", Int64(error.position.column))
                json.endObject()
            }
            json.endArray()
        }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
