import EventLoop

/// How many pushes each device token had within the running second.
struct DeviceRateLimit {
    /// Device tokens counted in one second; those beyond are not limited.
    static let devicesMax = 100_000

    private var second: Int64 = .min
    private var counts: [UInt64: Int] = [:]

    /// Counts a push to the device token of this hash; false when it is one too many.
    mutating func admits(_ deviceHash: UInt64, at now: Now, requestsMax: Int) -> Bool {
        if second != now.unixSeconds {
            second = now.unixSeconds
            counts.removeAll(keepingCapacity: true)
        }
        guard let count = counts[deviceHash] else {
            if counts.count < Self.devicesMax { counts[deviceHash] = 1 }
            return true
        }
        counts[deviceHash] = count + 1
        return count < requestsMax
    }
}
