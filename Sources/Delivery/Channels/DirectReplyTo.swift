import Crypto

/// The names that the broker substitutes for `amq.rabbitmq.reply-to` (https://www.rabbitmq.com/docs/direct-reply-to).
/// The prefix is followed by the Base64 of an Erlang process identifier, a dot, and the Base64 of a key.
///
/// RabbitMQ 3.10 decodes the identifier with `binary_to_term` and crashes the channel that used a malformed name.
enum DirectReplyTo {
    static let prefix = "amq.rabbitmq.reply-to."

    /// Returns whether `name` begins with the prefix and RabbitMQ can decode the rest.
    static func isWellFormed(_ name: String) -> Bool {
        guard name.hasPrefix(prefix) else { return false }
        let parts = name.dropFirst(prefix.count).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let process = decoded(parts[0]), let key = decoded(parts[1]) else { return false }
        return isProcessIdentifier(process[...]) && !key.isEmpty
    }

    /// Returns whether the bytes are a process identifier in the External Term Format
    /// (https://www.erlang.org/doc/apps/erts/erl_ext_dist). A process identifier consists of the version, a tag, the
    /// node as an atom, and numbers of fixed length.
    private static func isProcessIdentifier(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        guard rest.popFirst() == 131, let tag = rest.popFirst(), let atomTag = rest.popFirst() else { return false }
        let numberBytes: Int
        switch tag {
        case UInt8(ascii: "g"): numberBytes = 9
        case UInt8(ascii: "X"): numberBytes = 12
        default: return false
        }
        let isUTF8 = [UInt8(ascii: "v"), UInt8(ascii: "w")].contains(atomTag)
        guard isUTF8 || [UInt8(ascii: "d"), UInt8(ascii: "s")].contains(atomTag), var atomBytes = rest.popFirst() else {
            return false
        }
        // The length field of these two tags has two bytes. Node names are shorter than 256 bytes, so the first byte is
        // 0.
        if [UInt8(ascii: "d"), UInt8(ascii: "v")].contains(atomTag) {
            guard atomBytes == 0, let low = rest.popFirst() else { return false }
            atomBytes = low
        }
        guard rest.count == Int(atomBytes) + numberBytes else { return false }
        return !isUTF8 || String(validating: rest.prefix(Int(atomBytes)), as: UTF8.self) != nil
    }

    /// Returns the bytes of padded Base64 (RFC 4648, section 4); nil for any other text.
    private static func decoded(_ text: Substring) -> [UInt8]? {
        let padding = text.utf8.reversed().prefix(2).prefix { $0 == UInt8(ascii: "=") }.count
        guard text.utf8.count % 4 == 0, !text.contains(where: { $0 == "-" || $0 == "_" }) else { return nil }
        let urlText = text.utf8.dropLast(padding).map { byte in
            byte == UInt8(ascii: "+") ? UInt8(ascii: "-") : byte == UInt8(ascii: "/") ? UInt8(ascii: "_") : byte
        }
        return urlText.withUnsafeBytes { Base64URL.decode($0) }
    }
}
