/// Where a message was before this delivery, as far as it tells repeated publishes of ours from copies of others.
struct WaitMark: Hashable {
    private static let quarantine: UInt16 = 0x8000
    /// ``Attempts/waitID`` is at most this.
    static let waitIDMax: UInt16 = quarantine - 1

    private let bits: UInt16

    init(waitID: UInt16, isQuarantined: Bool) {
        bits = waitID & Self.waitIDMax | (isQuarantined ? Self.quarantine : 0)
    }

    static let none = WaitMark(waitID: 0, isQuarantined: false)

    /// A worker has published it: what comes twice with the same mark was published twice for want of a confirm.
    var isOurs: Bool { bits != 0 }

    /// The same message, moved to the quarantine since.
    func isMoved(from earlier: WaitMark) -> Bool { bits == earlier.bits | Self.quarantine && self != earlier }
}
