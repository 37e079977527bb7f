import Delivery
import JSON
import JSONSchema

/// What a check of one document came to.
struct ValidationResult: Equatable {
    var errors: [Problem] = []
    /// There are more errors than are told.
    var hasMore = false

    var isValid: Bool { errors.isEmpty }

    enum Problem: Equatable {
        case json(JSONError)
        case schema(SchemaViolation, JSONPosition)
        /// A limit of messages that no schema can say.
        case limit(Refusal, JSONPosition)

        var position: JSONPosition {
            switch self {
            case .json(let error): error.position
            case .schema(_, let position), .limit(_, let position): position
            }
        }

        /// For a person.
        var message: String {
            switch self {
            case .json(let error): error.message
            case .schema(let violation, _): violation.description
            case .limit(let refusal, _): refusal.sentence
            }
        }
    }

    /// One line: `{"valid":true}`, or `false` with `errors`.
    ///
    /// - Parameters:
    ///   - file: of several, the one that it is about.
    ///   - firstLine: the line of the file on which the document begins, counted from 1.
    func json(file: String?, firstLine: Int) -> String {
        var json = JSONWriter()
        json.beginObject()
        if let file { json.member("file", file) }
        json.key("valid")
        json.bool(isValid)
        if !isValid {
            json.beginArray("errors")
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
                case .limit(let refusal, _):
                    json.member("class", refusal.refusalClass.rawValue)
                    json.member("code", refusal.code)
                    json.member("instance_pointer", refusal.path ?? "")
                    json.member("message", refusal.sentence)
                }
                json.member("offset", Int64(error.position.offset))
                json.member("line", Int64(error.position.line + firstLine - 1))
                json.member("column", Int64(error.position.column))
                json.endObject()
            }
            json.endArray()
            if hasMore {
                json.key("more")
                json.bool(true)
            }
        }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
