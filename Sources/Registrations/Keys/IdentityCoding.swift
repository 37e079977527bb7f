/// The encoding of the plaintext of a row. A byte for the version precedes token, user, device ID and scope. One byte
/// encodes two digits of the token. Each of the four parts follows its length in two bytes. The length of a missing
/// part is zero, because no part is empty.
enum IdentityCoding {
    private static let version: UInt8 = 1

    /// Returns nil if the token is not an even number of lower-case hexadecimal digits. Also returns nil if a part is
    /// empty or longer than 65,535 bytes.
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
        bytes.withUnsafeBytes { bytes in
            guard let parts = Parts(bytes) else { return nil }
            func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
            return RegistrationIdentity(
                token: digits(of: UnsafeRawBufferPointer(rebasing: bytes[parts.token])), user: text(parts.user),
                deviceID: parts.deviceID.isEmpty ? nil : text(parts.deviceID),
                scope: parts.scope.isEmpty ? nil : text(parts.scope))
        }
    }

    /// Returns the digits of an identity's token; nil for bytes in another format than that of ``bytes(of:)``.
    static func tokenDigits(in bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let parts = Parts(bytes) else { return nil }
        let token = UnsafeRawBufferPointer(rebasing: bytes[parts.token])
        return [UInt8](unsafeUninitializedCapacity: 2 * token.count) { $1 = write(digitsOf: token, to: $0) }
    }

    /// The positions of the parts in a plaintext.
    private struct Parts {
        let token: Range<Int>
        let user: Range<Int>
        let deviceID: Range<Int>
        let scope: Range<Int>

        init?(_ bytes: UnsafeRawBufferPointer) {
            guard bytes.first == version else { return nil }
            var place = 1
            func next() -> Range<Int>? {
                guard place + 2 <= bytes.count else { return nil }
                let start = place + 2
                place = start + (Int(bytes[place]) << 8 | Int(bytes[place + 1]))
                return place <= bytes.count ? start..<place : nil
            }
            guard let token = next(), let user = next(), let deviceID = next(), let scope = next(),
                place == bytes.count, !token.isEmpty, !user.isEmpty
            else { return nil }
            (self.token, self.user, self.deviceID, self.scope) = (token, user, deviceID, scope)
        }
    }

    private static func append(_ part: some Collection<UInt8>, to bytes: inout [UInt8]) -> Bool {
        guard let count = UInt16(exactly: part.count) else { return false }
        bytes.append(UInt8(count >> 8))
        bytes.append(UInt8(count & 0xFF))
        bytes.append(contentsOf: part)
        return true
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

    static func digits(of bytes: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: 2 * bytes.count) { write(digitsOf: bytes, to: $0) }
    }

    /// Writes two digits for each byte. Returns the number of digits.
    private static func write(
        digitsOf bytes: UnsafeRawBufferPointer, to text: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        for (index, byte) in bytes.enumerated() {
            text[2 * index] = digit(byte >> 4)
            text[2 * index + 1] = digit(byte & 15)
        }
        return 2 * bytes.count
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value &+ (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
    }
}
