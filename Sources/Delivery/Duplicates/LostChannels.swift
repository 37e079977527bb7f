import EventLoop

/// The last lost channels, with the time of each loss. Pure. At most `countMax` channels are kept. The oldest are
/// forgotten first.
struct LostChannels {
    /// The number of outages whose lost channels are remembered. One outage may lose every channel of every lane.
    static let outagesMax = 4
    static let countMin = 256
    /// The limit of `countMax`. It is half of all channel numbers, so that no two remembered channels share a number.
    static let countLimit = 1 << 15

    private(set) var countMax = countMin
    /// The channel numbers, as a ring whose oldest element is at `oldest`.
    private var order: [UInt16] = []
    private var oldest = 0
    private var times: [UInt16: MonotonicTime] = [:]

    /// Raises `countMax` to the number of channels that `outagesMax` outages can lose, but at most to `countLimit`.
    ///
    /// - Parameter channels: The number of channels that are open at the same time.
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

    /// Returns the time at which the channel was lost; nil if it was not lost, or its loss was forgotten.
    func time(of channel: DuplicateMemory.Channel) -> MonotonicTime? { times[channel.number] }
}
