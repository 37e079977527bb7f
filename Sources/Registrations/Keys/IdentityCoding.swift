/// Encodes the plaintext of a row: a byte for the version, and then token, user, device ID and scope. One byte encodes
/// two digits of the token. Each of the four parts follows its length in two bytes. The length of a missing part is
/// zero, because no part is empty.
enum IdentityCoding {
    private static let version: UInt8 = 1

    /// Returns nil if the token is not an even number of lower-case hexadecimal digits, or if a part is empty or longer
    /// than 65,535 bytes.
    static func bytes(of identity: RegistrationIdentity) -> [UInt8]? {
        guard let token = tokenBytes(identity.token), !identity.user.isEmpty, identity.deviceID != "",
            identity.scope != ""
        else { return nil }
        var bytes = [version]
        bytes.reserveCapacity(9 + token.count + identity.user.utf8.count + 64)
        guard append(token, to: &bytes), append(identity.user.utf8, to: &bytes),
            append((identity.deviceID ?? "").utf8, to: &bytes), append((identity.scope ?? "").utf8, to: &bytes)
        else { return nil }
        return bytes
    }

    /// Returns nil for bytes in another format than that of ``bytes(of:)``.
    static func identity(in bytes: [UInt8]) -> RegistrationIdentity? {
        var rest = bytes[...]
        guard rest.popFirst() == version, let token = part(of: &rest), let user = part(of: &rest),
            let deviceID = part(of: &rest), let scope = part(of: &rest), rest.isEmpty, !token.isEmpty, !user.isEmpty
        else { return nil }
        return RegistrationIdentity(
            token: digits(of: token), user: String(decoding: user, as: UTF8.self),
            deviceID: deviceID.isEmpty ? nil : String(decoding: deviceID, as: UTF8.self),
            scope: scope.isEmpty ? nil : String(decoding: scope, as: UTF8.self))
    }

    private static func append(_ part: some Collection<UInt8>, to bytes: inout [UInt8]) -> Bool {
        guard let count = UInt16(exactly: part.count) else { return false }
        bytes.append(UInt8(count >> 8))
        bytes.append(UInt8(count & 0xFF))
        bytes.append(contentsOf: part)
        return true
    }

    private static func part(of rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let high = rest.popFirst(), let low = rest.popFirst() else { return nil }
        let count = Int(high) << 8 | Int(low)
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    private static func tokenBytes(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for character in text.utf8 {
            guard let digit = value(of: character) else { return nil }
            guard let first = high else {
                high = digit
                continue
            }
            bytes.append(first << 4 | digit)
            high = nil
        }
        return high == nil && !bytes.isEmpty ? bytes : nil
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private static func digits(of bytes: ArraySlice<UInt8>) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { text in
            var count = 0
            for byte in bytes {
                text[count] = digit(byte >> 4)
                text[count + 1] = digit(byte & 15)
                count += 2
            }
            return count
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
