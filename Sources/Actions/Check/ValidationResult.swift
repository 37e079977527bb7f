package import Delivery
package import JSON
package import JSONSchema

/// The result of validating one document.
package struct ValidationResult: Equatable {
    package var errors: [Problem] = []
    /// Whether further errors were omitted.
    package var hasMore = false
    package var warnings: [Warning] = []

    package var isValid: Bool { errors.isEmpty }

    /// A finding that does not make the document invalid.
    package struct Warning: Equatable {
        package var key: UnknownApsKey
        package var position: JSONPosition
    }

    package enum Problem: Equatable, Sendable {
        case json(JSONError)
        case schema(SchemaViolation, JSONPosition)
        /// A violation of a limit of requests or of a rule of the configuration.
        case violation(RequestViolation, JSONPosition)

        package var position: JSONPosition {
            switch self {
            case .json(let error): error.position
            case .schema(_, let position), .violation(_, let position): position
            }
        }

        package var message: String {
            switch self {
            case .json(let error): error.message
            case .schema(let violation, _): violation.description
            case .violation(let violation, _): violation.sentence
            }
        }

        /// Class and code as in a worker's dead letter, such as `schema.enum`.
        package var reason: String {
            switch self {
            case .json(let error): "json.\(error.code.rawValue)"
            case .schema(let violation, _): "schema.\(violation.keyword)"
            case .violation(let violation, _): "\(violation.violationClass.rawValue).\(violation.code)"
            }
        }
    }

    /// Returns one line: `{"valid":true}`, or `false` with `errors`. The line may also contain `more` and `warnings`.
    ///
    /// - Parameters:
    ///   - file: name of the document's file; nil for a single file.
    ///   - firstLine: the line of the file on which the document begins, counted from 1.
    package func json(file: String?, firstLine: Int) -> String {
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
                case .violation(let violation, _):
                    json.member("class", violation.violationClass.rawValue)
                    json.member("code", violation.code)
                    json.member("instance_pointer", violation.path ?? "")
                    json.member("message", violation.sentence)
                }
                json.place(error.position, firstLine: firstLine)
                json.endObject()
            }
            json.endArray()
            if hasMore {
                json.key("more")
                json.bool(true)
            }
        }
        if !warnings.isEmpty {
            json.beginArray("warnings")
            for warning in warnings {
                json.beginObject()
                json.member("instance_pointer", warning.key.pointer)
                json.member("message", warning.key.message)
                if let suggestion = warning.key.suggestion { json.member("suggestion", suggestion) }
                json.place(warning.position, firstLine: firstLine)
                json.endObject()
            }
            json.endArray()
        }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}

extension JSONWriter {
    fileprivate mutating func place(_ position: JSONPosition, firstLine: Int) {
        member("offset", Int64(position.offset))
        member("line", Int64(position.line + firstLine - 1))
        member("column", Int64(position.column))
    }
}
