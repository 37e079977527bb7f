/// A resolver of `${NAME}` and `file:PATH` in strings of a configuration, so that the file need not contain secrets.
package struct ReferenceResolver: Sendable {
    /// The lookup of an environment variable, which returns nil if the variable is not set.
    package var environment: @Sendable (String) -> String?
    /// The function that reads a file. The path may be relative to the folder of the configuration file.
    package var readFile: @Sendable (String) throws(ReadFailure) -> [UInt8]

    package init(
        environment: @escaping @Sendable (String) -> String?,
        readFile: @escaping @Sendable (String) throws(ReadFailure) -> [UInt8]
    ) {
        self.environment = environment
        self.readFile = readFile
    }

    /// The reason why a file cannot be read, in a few words.
    package struct ReadFailure: Error, Equatable {
        package let reason: String

        package init(reason: String) {
            self.reason = reason
        }
    }

    /// A mistake in a reference. The message names the source, never the content.
    package struct Mistake: Error, Equatable {
        package let message: String

        package init(message: String) {
            self.message = message
        }
    }

    /// Replaces each `${NAME}` with the environment variable (`$${` is a literal `${`). Replaces a text of the form
    /// `file:PATH` with the content of the file, without a final line break.
    package func resolve(_ text: String) throws(Mistake) -> String {
        if text.hasPrefix("file:") {
            let path = String(text.dropFirst("file:".count))
            return try contents(of: try replacingVariables(path), writtenAs: path)
        }
        return try replacingVariables(text)
    }

    /// Replaces only variables, for values that are paths.
    func replacingVariables(_ text: String) throws(Mistake) -> String {
        var result = ""
        var rest = text[...]
        while let dollar = rest.firstIndex(of: "$") {
            result += rest[..<dollar]
            rest = rest[dollar...]
            if rest.hasPrefix("$${") {
                result += "${"
                rest = rest.dropFirst(3)
            } else if rest.hasPrefix("${") {
                guard let end = rest.firstIndex(of: "}") else { throw Mistake(message: "missing } after ${") }
                result += try variable(String(rest[rest.index(rest.startIndex, offsetBy: 2)..<end]))
                rest = rest[rest.index(after: end)...]
            } else {
                result += "$"
                rest = rest.dropFirst()
            }
        }
        return result + rest
    }

    private func variable(_ name: String) throws(Mistake) -> String {
        let isName = name.utf8.enumerated().allSatisfy { index, byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): index > 0
            default: false
            }
        }
        guard isName, !name.isEmpty else {
            throw Mistake(
                message: "expected the name of an environment variable between ${ and }: letters, digits and _")
        }
        guard let value = environment(name) else {
            throw Mistake(message: "environment variable \(name) is not set")
        }
        return value
    }

    private func contents(of path: String, writtenAs written: String) throws(Mistake) -> String {
        var bytes: [UInt8]
        do {
            bytes = try readFile(path)
        } catch {
            throw Mistake(message: "cannot read \(written): \(error.reason)")
        }
        bytes.removeLineEnd()
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Mistake(message: "\(written) must be UTF-8 text")
        }
        return text
    }
}
