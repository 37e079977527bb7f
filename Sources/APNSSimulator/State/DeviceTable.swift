import APNSProtocol
import Hashing

/// The registered devices. Lookups by token ignore case and allocate no memory.
struct DeviceTable: Sendable {
    private struct Entry: Sendable {
        var device: Device
        /// Index of another device whose token has the same hash; -1 for none.
        var next: Int
    }

    private var entries: [Entry] = []
    private var firstByHash: [UInt64: Int] = [:]

    var count: Int { entries.count }
    /// All devices, in no particular order.
    var all: [Device] { entries.map(\.device) }

    /// Adds a device, or replaces the device with the same token.
    mutating func insert(_ device: Device) {
        let hash = device.token.withUnsafeBytes(Self.hash)
        if let index = device.token.withUnsafeBytes({ index(of: $0, hash: hash) }) {
            entries[index].device = device
        } else {
            entries.append(Entry(device: device, next: firstByHash[hash] ?? -1))
            firstByHash[hash] = entries.count - 1
        }
    }

    /// Removes the device with this token, whose case does not matter. Returns the removed device; nil if the token is
    /// not registered.
    mutating func remove(token: [UInt8]) -> Device? {
        let hash = token.withUnsafeBytes(Self.hash)
        guard let index = token.withUnsafeBytes({ index(of: $0, hash: hash) }) else { return nil }
        let removed = entries[index].device
        point(to: entries[index].next, insteadOf: index, hash: hash)
        // The last entry fills the gap.
        let last = entries.removeLast()
        if index < entries.count {
            point(to: index, insteadOf: entries.count, hash: last.device.token.withUnsafeBytes(Self.hash))
            entries[index] = last
        }
        return removed
    }

    /// Makes the reference to the entry `old`, which has this hash, refer to `new`. If `new` is -1, the reference is
    /// removed.
    private mutating func point(to new: Int, insteadOf old: Int, hash: UInt64) {
        if firstByHash[hash] == old {
            firstByHash[hash] = new < 0 ? nil : new
            return
        }
        var index = firstByHash[hash] ?? -1
        while index >= 0 {
            if entries[index].next == old {
                entries[index].next = new
                return
            }
            index = entries[index].next
        }
    }

    /// Returns the device with this token, whose case does not matter; nil if the token is not registered.
    subscript(token: UnsafeRawBufferPointer) -> Device? {
        guard !entries.isEmpty else { return nil }
        return index(of: token, hash: Self.hash(token)).map { entries[$0].device }
    }

    private func index(of token: UnsafeRawBufferPointer, hash: UInt64) -> Int? {
        var index = firstByHash[hash] ?? -1
        while index >= 0 {
            let candidate = entries[index].device.token
            if candidate.count == token.count, zip(candidate, token).allSatisfy({ $0 == lowercased($1) }) {
                return index
            }
            index = entries[index].next
        }
        return nil
    }

    /// Returns the FNV-1a hash of the bytes in lower case.
    static func hash(_ token: UnsafeRawBufferPointer) -> UInt64 {
        var hash = FNV1a()
        for digit in token { hash.mix(lowercased(digit)) }
        return hash.value
    }
}
