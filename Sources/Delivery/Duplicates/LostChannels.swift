import EventLoop

/// The channels that were lost last, with the time of each loss. Pure; of more than its bound it forgets the oldest.
struct LostChannels {
    /// Outages whose lost channels are remembered: one loses every channel of every lane at once.
    static let outagesMax = 4
    static let countMin = 256
    /// Half of the numbers that channels have, so that no two of those remembered share one.
    static let countLimit = 1 << 15

    private(set) var countMax = countMin
    /// As a ring, the oldest first from `oldest` on.
    private var order: [UInt16] = []
    private var oldest = 0
    private var times: [UInt16: MonotonicTime] = [:]

    /// Raises the bound to the channels that this many can lose.
    ///
    /// - Parameter channels: that are open at the same time.
    mutating func expect(channels: Int) {
        let wanted = min(channels, Self.countLimit) * Self.outagesMax
        guard wanted > countMax, countMax < Self.countLimit else { return }
        order = Array(order[oldest...] + order[..<oldest])
        oldest = 0
        countMax = min(wanted, Self.countLimit)
    }

    mutating func add(_ channel: DuplicateMemory.Channel, at time: MonotonicTime) {
        if order.count < countMax {
            order.append(channel.number)
        } else {
            times[order[oldest]] = nil
            order[oldest] = channel.number
            oldest = (oldest + 1) % countMax
        }
        times[channel.number] = time
    }

    /// When it was lost; nil if it was not, or too many were lost since.
    func time(of channel: DuplicateMemory.Channel) -> MonotonicTime? { times[channel.number] }
}
