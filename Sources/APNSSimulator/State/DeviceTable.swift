import APNSProtocol
import Hashing

/// The registered devices, found by their token's bytes in either case without making a key.
struct DeviceTable: Sendable {
    private struct Entry: Sendable {
        var device: Device
        /// Index of another device whose token has the same hash; -1 for none.
        var next: Int
    }

    private var entries: [Entry] = []
    private var firstByHash: [UInt64: Int] = [:]

    var count: Int { entries.count }
    /// In no order that means anything.
    var all: [Device] { entries.map(\.device) }

    /// Adds a device, or takes the place of the one with the same token.
    mutating func insert(_ device: Device) {
        let hash = device.token.withUnsafeBytes(Self.hash)
        if let index = device.token.withUnsafeBytes({ index(of: $0, hash: hash) }) {
            entries[index].device = device
        } else {
            entries.append(Entry(device: device, next: firstByHash[hash] ?? -1))
            firstByHash[hash] = entries.count - 1
        }
    }

    /// Removes the device of this token, given in lower case; the one that was there.
    mutating func remove(token: [UInt8]) -> Device? {
        let hash = token.withUnsafeBytes(Self.hash)
        guard let index = token.withUnsafeBytes({ index(of: $0, hash: hash) }) else { return nil }
        let removed = entries[index].device
        point(to: entries[index].next, insteadOf: index, hash: hash)
        // The last one takes the empty place.
        let last = entries.removeLast()
        if index < entries.count {
            point(to: index, insteadOf: entries.count, hash: last.device.token.withUnsafeBytes(Self.hash))
            entries[index] = last
        }
        return removed
    }

    /// Has whatever points to the entry `old`, of this hash, point to another; -1 for none.
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

    /// The device of this token, given in hexadecimal of either case.
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

    /// FNV-1a over the lower case bytes.
    static func hash(_ token: UnsafeRawBufferPointer) -> UInt64 {
        var hash = FNV1a()
        for digit in token { hash.mix(lowercased(digit)) }
        return hash.value
    }
}
