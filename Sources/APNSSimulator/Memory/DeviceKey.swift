import Crypto

/// What tells devices apart where their tokens are shortened, and tells nothing else of them: without the process's salt
/// no token can be tried out against it.
enum DeviceKey {
    private static let digits = 16
    private static let salt = (0..<16).map { _ in UInt8.random(in: .min ... .max) }

    /// - Parameter token: in either case of its letters the same device.
    static func of(_ token: UnsafeRawBufferPointer) -> String {
        let digest = Digest.sha256(salt + token.map(lowercased))
        return String(SHA256Value(digest: digest).description.prefix(digits))
    }
}
