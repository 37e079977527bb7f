import EventLoop

/// The counts of pushes to each device token and of broadcasts to each channel in the current second.
struct RateLimit {
    /// Maximum number of device tokens and channels counted in one second. Further tokens and channels are not
    /// limited.
    static let targetsMax = 100_000

    private var second: Int64 = .min
    private var counts: [UInt64: Int] = [:]

    /// Counts a push to a device. Returns false if the push exceeds the limit.
    mutating func admits(deviceToken: UnsafeRawBufferPointer, at now: Now, requestsMax: Int) -> Bool {
        admits(DeviceTable.hash(deviceToken), at: now, requestsMax: requestsMax)
    }

    /// Counts a broadcast to a channel. Returns false if the broadcast exceeds the limit.
    mutating func admits(channelID: String, at now: Now, requestsMax: Int) -> Bool {
        // Device tokens and channels share the table. Equal hashes of a token and a channel are unlikely.
        let hash = channelID.utf8.reduce(UInt64(5381)) { $0 &* 33 &+ UInt64($1) }
        return admits(~hash, at: now, requestsMax: requestsMax)
    }

    private mutating func admits(_ target: UInt64, at now: Now, requestsMax: Int) -> Bool {
        if second != now.unixSeconds {
            second = now.unixSeconds
            counts.removeAll(keepingCapacity: true)
        }
        guard let count = counts[target] else {
            if counts.count < Self.targetsMax { counts[target] = 1 }
            return true
        }
        counts[target] = count + 1
        return count < requestsMax
    }
}
