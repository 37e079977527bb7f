internal import COpenSSL

/// The PEM blocks of a text. Repairs the damage that environment variables, secret stores and YAML files do. Examples
/// are lost line ends, spaces or a literal `\n` in place of line ends, and indentation. Further examples are quotes,
/// and Base64 around the whole text.
///
/// DER becomes a block, too. A text with damage that cannot be repaired stays unchanged.
struct PEMText {
    struct Block: Equatable {
        var label: String
        /// The block as PEM, in lines of 64 characters. A block with headers is unchanged.
        var text: [UInt8]
    }

    /// The blocks; empty if the text contains no block, or an incomplete or invalid block.
    private(set) var blocks: [Block] = []
    /// The blocks as one PEM text, or PKCS #12 without Base64 around it. Any other text is unchanged.
    private(set) var bytes: [UInt8]
    /// Whether the text is PKCS #12 (`.p12`), which is not PEM.
    private(set) var isPKCS12 = false

    /// Reads the blocks of a text.
    ///
    /// - Throws: `malformed` if the text is empty or only white space.
    init(_ given: [UInt8], what: String) throws(CryptoError) {
        guard given.contains(where: { !Self.isSpace($0) }) else { throw CryptoError(.malformed, "\(what) is empty") }
        bytes = given
        if !read(given), let decoded = Self.outerBase64(given) { _ = read(decoded) }
        if !blocks.isEmpty { bytes = blocks.flatMap(\.text) }
    }

    /// Reads PEM, DER or PKCS #12. Returns false for other contents.
    private mutating func read(_ given: [UInt8]) -> Bool {
        if given.first == 0x30 {
            if let label = Self.label(ofDER: given) {
                blocks = [Self.block(label, base64: Self.base64(given))]
                return true
            }
            isPKCS12 = Self.isPKCS12(given)
            if isPKCS12 { bytes = given }
        }
        if !isPKCS12 { blocks = Self.blocks(of: given) }
        return isPKCS12 || !blocks.isEmpty
    }

    // MARK: Text

    private static let begin = Array("-----BEGIN".utf8)
    private static let end = Array("-----END".utf8)
    private static let dashes = Array("-----".utf8)

    private static func blocks(of given: [UInt8]) -> [Block] {
        var blocks: [Block] = []
        var rest = given[...]
        while let start = rest.firstRange(of: begin) {
            guard let label = rest[start.upperBound...].firstRange(of: dashes),
                let stop = rest[label.upperBound...].firstRange(of: end),
                let close = rest[stop.upperBound...].firstRange(of: dashes)
            else { return [] }
            let name = self.label(rest[start.upperBound..<label.lowerBound])
            let body = rest[label.upperBound..<stop.lowerBound]
            guard name == self.label(rest[stop.upperBound..<close.lowerBound]) else { return [] }
            if body.contains(UInt8(ascii: ":")) {
                // The headers of an encrypted key (RFC 1421) need their line ends.
                blocks.append(Block(label: name, text: rest[start.lowerBound..<close.upperBound] + [0x0A]))
            } else {
                guard let base64 = plainBase64(body) else { return [] }
                blocks.append(block(name, base64: base64))
            }
            rest = rest[close.upperBound...]
        }
        return blocks
    }

    private static func block(_ label: String, base64: [UInt8]) -> Block {
        var text = Array("-----BEGIN \(label)-----\n".utf8)
        for start in stride(from: 0, to: base64.count, by: 64) {
            text += base64[start..<min(start + 64, base64.count)] + [0x0A]
        }
        return Block(label: label, text: text + Array("-----END \(label)-----\n".utf8))
    }

    private static let labels = [
        "PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PUBLIC KEY", "CERTIFICATE",
    ]

    /// Returns the label with single spaces between its words. Restores lost spaces in the labels of `labels`.
    private static func label(_ bytes: ArraySlice<UInt8>) -> String {
        let words = bytes.split { isSpace($0) }.map { String(decoding: $0, as: UTF8.self) }
        let joined = words.joined()
        return labels.first { $0.filter { $0 != " " } == joined } ?? words.joined(separator: " ")
    }

    /// Returns the Base64 characters, without white space, escapes and quotes; nil if the text contains other
    /// characters or unknown escapes.
    private static func plainBase64(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var base64: [UInt8] = []
        base64.reserveCapacity(bytes.count)
        var isEscaped = false
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\\"): isEscaped = true
            case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
                if !isEscaped { base64.append(byte) }
                isEscaped = false
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
                // After a backslash, the character would be an unknown escape.
                guard !isEscaped else { return nil }
                base64.append(byte)
            case UInt8(ascii: "\""), UInt8(ascii: "'"): isEscaped = false
            default:
                guard isSpace(byte) else { return nil }
                isEscaped = false
            }
        }
        return base64
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0D ~= byte }

    // MARK: Base64

    private static func base64(_ bytes: [UInt8]) -> [UInt8] {
        // One more byte, since OpenSSL appends a zero.
        var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let count = EVP_EncodeBlock(&text, bytes, Int32(clamping: bytes.count))
        return Array(text.prefix(Int(max(0, count))))
    }

    /// Decodes a text of Base64. Ignores white space, quotes and escapes. Returns nil for other texts.
    private static func outerBase64(_ bytes: [UInt8]) -> [UInt8]? {
        guard let base64 = plainBase64(bytes[...]), !base64.isEmpty, base64.count % 4 == 0 else { return nil }
        let padding = base64.suffix(2).count { $0 == UInt8(ascii: "=") }
        var decoded = [UInt8](repeating: 0, count: base64.count / 4 * 3)
        let count = EVP_DecodeBlock(&decoded, base64, Int32(clamping: base64.count))
        OpenSSLErrors.clear()
        return count == decoded.count ? Array(decoded.dropLast(padding)) : nil
    }

    // MARK: DER

    private static func label(ofDER bytes: [UInt8]) -> String? {
        defer { OpenSSLErrors.clear() }
        if reads(bytes, { d2i_PKCS8_PRIV_KEY_INFO(nil, &$0, $1) }, { PKCS8_PRIV_KEY_INFO_free($0) }) {
            return "PRIVATE KEY"
        }
        if reads(bytes, { d2i_X509_SIG(nil, &$0, $1) }, { X509_SIG_free($0) }) { return "ENCRYPTED PRIVATE KEY" }
        if reads(bytes, { d2i_X509(nil, &$0, $1) }, { X509_free($0) }) { return "CERTIFICATE" }
        if reads(bytes, { d2i_PUBKEY(nil, &$0, $1) }, { EVP_PKEY_free($0) }) { return "PUBLIC KEY" }
        var isEC = false
        let isKey = reads(
            bytes, { d2i_AutoPrivateKey(nil, &$0, $1) },
            {
                isEC = EVP_PKEY_get_base_id($0) == EVP_PKEY_EC
                EVP_PKEY_free($0)
            })
        return isKey ? (isEC ? "EC PRIVATE KEY" : "RSA PRIVATE KEY") : nil
    }

    private static func isPKCS12(_ bytes: [UInt8]) -> Bool {
        defer { OpenSSLErrors.clear() }
        return reads(bytes, { d2i_PKCS12(nil, &$0, $1) }, { PKCS12_free($0) })
    }

    /// Returns whether one of OpenSSL's `d2i` functions reads all bytes.
    private static func reads(
        _ bytes: [UInt8], _ d2i: (inout UnsafePointer<UInt8>?, Int) -> OpaquePointer?, _ free: (OpaquePointer) -> Void
    ) -> Bool {
        bytes.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            guard let value = d2i(&position, buffer.count) else { return false }
            free(value)
            return position == buffer.baseAddress.map { $0 + buffer.count }
        }
    }
}
