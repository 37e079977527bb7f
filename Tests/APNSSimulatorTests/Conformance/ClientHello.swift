/// A handwritten first message of a TLS client (RFC 5246, 7.4.1.2). The message can offer versions that the TLS
/// library no longer supports. The server's answer stays unencrypted.
enum ClientHello {
    /// Returns the record of a ClientHello that offers one version, one cipher suite and P-256.
    ///
    /// - Parameter version: `0x0302` for TLS 1.1, `0x0303` for TLS 1.2.
    static func record(version: UInt16, cipherSuite: UInt16, applicationProtocol: String = "h2") -> [UInt8] {
        let name = Array(applicationProtocol.utf8)
        let extensions =
            extensionOf(10, sized16(big(23)))  // supported_groups: secp256r1
            + extensionOf(11, [1, 0])  // ec_point_formats: uncompressed
            + extensionOf(13, sized16(big(0x0403)))  // signature_algorithms: ecdsa_secp256r1_sha256
            + extensionOf(16, sized16([UInt8(name.count)] + name))  // ALPN
        let hello =
            big(version) + [UInt8](repeating: 7, count: 32) + [0] + sized16(big(cipherSuite)) + [1, 0]
            + sized16(extensions)
        let handshake: [UInt8] = [1, 0] + sized16(hello)
        return [22] + big(0x0301) + sized16(handshake)
    }

    /// Returns the types of the handshake messages in a server's unencrypted records.
    static func handshakeTypes(in records: [UInt8]) -> [UInt8] {
        var rest = records[...]
        var messages: [UInt8] = []
        while rest.count >= 5, rest.first == 22 {
            let count = Int(rest.dropFirst(3).first ?? 0) << 8 | Int(rest.dropFirst(4).first ?? 0)
            messages += rest.dropFirst(5).prefix(count)
            rest = rest.dropFirst(5 + count)
        }
        var types: [UInt8] = []
        while let type = messages.first, messages.count >= 4 {
            types.append(type)
            let count = messages[1...3].reduce(0) { $0 << 8 | Int($1) }
            messages.removeFirst(min(messages.count, 4 + count))
        }
        return types
    }

    private static func extensionOf(_ type: UInt16, _ contents: [UInt8]) -> [UInt8] { big(type) + sized16(contents) }

    private static func sized16(_ bytes: [UInt8]) -> [UInt8] { big(UInt16(bytes.count)) + bytes }

    private static func big(_ word: UInt16) -> [UInt8] { [UInt8(word >> 8), UInt8(word & 255)] }
}
