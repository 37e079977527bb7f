import EventLoop

/// The login codes that `martlet console open` has requested. A code is valid once and for a short time. It performs no
/// I/O.
struct LoginCodes: Sendable {
    static let validSeconds = 60
    /// Maximum number of codes. A further code replaces the oldest.
    static let codesMax = 32

    private struct Code {
        let hash: String
        let login: Operator
        let madeAt: MonotonicTime
    }

    /// The codes, oldest first.
    private var codes: [Code] = []

    mutating func add(hash: String, _ login: Operator, at now: MonotonicTime) {
        removeExpired(at: now)
        if codes.count >= Self.codesMax { codes.removeFirst() }
        codes.append(Code(hash: hash, login: login, madeAt: now))
    }

    /// Returns the operator of a code, and removes the code; nil for an unknown, used or expired code.
    mutating func redeem(hash: String, at now: MonotonicTime) -> Operator? {
        removeExpired(at: now)
        guard let index = codes.firstIndex(where: { $0.hash == hash }) else { return nil }
        return codes.remove(at: index).login
    }

    private mutating func removeExpired(at now: MonotonicTime) {
        codes.removeAll { !now.isWithin(.seconds(Self.validSeconds), of: $0.madeAt) }
    }
}
