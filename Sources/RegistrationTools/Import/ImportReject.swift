import JSON
import Registrations

/// The number of a line that an import refuses, and the reason. The reason never quotes the line, which may contain a
/// token and a user.
package struct ImportReject: Equatable, Sendable {
    package let line: Int
    /// A class of `CommandViolation`, or `store` if the store refuses the values.
    package let category: String
    package let code: String
    package let path: String?
    package let sentence: String

    init(line: Int, _ violation: CommandViolation) {
        (self.line, category, code) = (line, violation.violationClass.rawValue, violation.code)
        (path, sentence) = (violation.path, violation.sentence)
    }

    init(line: Int, _ fault: StoreFault) {
        (self.line, category, code) = (line, "store", fault.errorClass ?? fault.code.rawValue)
        (path, sentence) = (nil, fault.sentence)
    }

    /// The reject as a line of the file of rejects, with its line end.
    var text: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("line", line)
        json.member("class", category)
        json.member("code", code)
        if let path { json.member("path", path) }
        json.member("message", sentence)
        json.endObject()
        return json.bytes + [UInt8(ascii: "\n")]
    }
}
