import JSON

extension SchemaCompiler {
    /// The subschema that a `$ref` leads to: a JSON pointer into this document, after `#` or after its own `$id`.
    mutating func reference(_ value: JSONValue) throws(SchemaError) -> Int {
        guard let text = value.string else { throw malformed(value, "$ref must be a string") }
        let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let own = document.root["$id"]?.string?.split(separator: "#").first
        guard let base = parts.first, base.isEmpty || base == own else {
            throw SchemaError(
                code: .unsupported, pointer: value.pointer,
                message: "$ref must lead into the same document, as #/$defs/name does")
        }
        guard let pointer = percentDecoded(parts.count > 1 ? parts[1] : ""), pointer.isEmpty || pointer.hasPrefix("/"),
            let target = document.root.at(pointer: pointer)
        else {
            throw SchemaError(code: .reference, pointer: value.pointer, message: "$ref leads to nothing")
        }
        return try subschema(target, keyword: "$ref")
    }

    private func percentDecoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let digits = String(rest.prefix(2)), rest.count >= 2, let decoded = UInt8(digits, radix: 16) else {
                return nil
            }
            bytes.append(decoded)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
