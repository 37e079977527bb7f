import EventLoop

/// The requests in flight and the last settled requests, by their deduplication key.
///
/// Pure. The table is one share of ``DuplicateMemory``, which interprets the entries. After `settledMax` settlements,
/// each further settlement replaces the oldest one.
struct DuplicateTable {
    enum Found: Equatable {
        /// An unknown request.
        case nothing
        /// A request whose first delivery is in flight.
        case delivering(Held)
        /// A request whose first delivery was settled. `isAccepted`: whether APNs accepted the request.
        /// `hasDuplicates`: whether duplicates of the request arrived.
        case settled(isAccepted: Bool, Held, at: MonotonicTime, hasDuplicates: Bool)
    }

    /// The attributes of the first delivery. With the members in this order, the size is 16 bytes.
    struct Held: Equatable {
        var fingerprint: UInt32
        var waitID: UInt32
        var channel: DuplicateMemory.Channel
        /// The low half of the wait id with which the request is republished; 0 before the republish. The request may
        /// return before the broker confirms the republish.
        var next: UInt16 = 0
        /// The channel of a second delivery with the same wait id; nil without a second delivery. A repeated publish
        /// causes a second delivery, and the lane acknowledges it.
        var twin: DuplicateMemory.Channel?
        /// The number of failed deliveries before this delivery; at most 255.
        var deliveryCount: UInt8

        fileprivate init(_ candidate: DuplicateCandidate) {
            (channel, waitID, deliveryCount) = (candidate.channel, candidate.waitID, candidate.deliveryCount)
            fingerprint = candidate.fingerprint
        }
    }

    private struct State: OptionSet {
        let rawValue: UInt8
        static let settled = State(rawValue: 1)
        static let accepted = State(rawValue: 2)
        static let hasDuplicates = State(rawValue: 4)
    }

    private static let noPlace = UInt16.max

    /// A request in flight or settled. 40 bytes.
    private struct Entry {
        var key: DeduplicationKey
        var held: Held
        var state: State = []
        /// The index in `order` of a settled entry; otherwise `noPlace`.
        var place = noPlace
        /// The time at which the entry was settled, in whole seconds.
        var seconds: Int32 = 0
    }

    /// An index into `entries`, with a part of the entry's key and the distance from its home slot. The slot alone
    /// rules out most entries that do not match. The entries exceed the caches of a processor, so reads of entries are
    /// slow.
    private struct Slot: Equatable {
        static let free = Slot(word: .max)
        /// The number of bits of an index: enough for four million entries.
        private static let indexBits: UInt32 = 22
        private static let distanceBits: UInt32 = 4
        /// The value for this distance and all larger distances.
        private static let distanceMax: UInt32 = 1 << distanceBits - 1
        private static let markShift = indexBits + distanceBits

        private let word: UInt32

        private init(word: UInt32) { self.word = word }

        init(_ index: Int32, _ key: DeduplicationKey, distance: Int) {
            precondition(index < 1 << Self.indexBits - 1, "more requests in flight than any prefetch allows")
            word = Self.mark(of: key) << Self.markShift | Self.part(distance) | UInt32(bitPattern: index)
        }

        func at(distance: Int) -> Slot {
            Slot(word: word & ~(Self.distanceMax << Self.indexBits) | Self.part(distance))
        }

        private static func part(_ distance: Int) -> UInt32 { min(UInt32(distance), distanceMax) << indexBits }

        var index: Int { Int(word & (1 << Self.indexBits - 1)) }

        /// The distance from the home slot; nil if the distance is too large for the slot.
        var distance: Int? {
            let distance = word >> Self.indexBits & Self.distanceMax
            return distance < Self.distanceMax ? Int(distance) : nil
        }

        func mayMatch(_ key: DeduplicationKey) -> Bool { word >> Self.markShift == Self.mark(of: key) }

        /// Returns bits of the key that do not select its home slot.
        private static func mark(of key: DeduplicationKey) -> UInt32 {
            UInt32(truncatingIfNeeded: key.low >> (32 + markShift))
        }
    }

    /// The initial capacity for entries in flight.
    private static let deliveringReserve = 128
    private static let nanosecondsOfSecond: Int64 = 1_000_000_000

    let settledMax: Int
    private var entries: [Entry] = []
    private var free: [Int32] = []
    /// The indices of the settled entries, as a ring whose oldest element is at `oldest`. An element is obsolete if the
    /// `place` of its entry is not the element's index.
    private var order: [Int32] = []
    private var oldest = 0
    /// A hash table that uses open addressing with linear probing.
    private var slots: [Slot]

    /// Creates an empty table.
    ///
    /// - Parameter settledMax: The maximum number of settled entries. Clamped to 1 to 65,535.
    init(settledMax: Int) {
        self.settledMax = max(1, min(settledMax, Int(Self.noPlace)))
        var slotCount = 1
        while slotCount < self.settledMax * 2 { slotCount *= 2 }
        slots = Array(repeating: .free, count: slotCount)
        // Arrays that grow by doubling would use more memory.
        entries.reserveCapacity(self.settledMax + Self.deliveringReserve)
        order.reserveCapacity(self.settledMax)
    }

    /// The size of the arrays, in bytes.
    var bytes: Int {
        entries.capacity * MemoryLayout<Entry>.stride
            + (free.capacity + order.capacity) * MemoryLayout<Int32>.stride
            + slots.capacity * MemoryLayout<Slot>.stride
    }

    mutating func find(_ key: DeduplicationKey) -> Found {
        guard let index = index(of: key) else { return .nothing }
        let entry = entries[index]
        guard entry.state.contains(.settled) else { return .delivering(entry.held) }
        let time = MonotonicTime(nanoseconds: Int64(entry.seconds) * Self.nanosecondsOfSecond)
        return .settled(
            isAccepted: entry.state.contains(.accepted), entry.held, at: time,
            hasDuplicates: entry.state.contains(.hasDuplicates))
    }

    /// Registers a first delivery.
    mutating func begin(_ key: DeduplicationKey, _ candidate: DuplicateCandidate) {
        if let index = index(of: key) {
            entries[index].state.formIntersection(.hasDuplicates)
            entries[index].held = Held(candidate)
            entries[index].place = Self.noPlace
            return
        }
        let entry = Entry(key: key, held: Held(candidate))
        let index: Int32
        if let reused = free.popLast() {
            index = reused
            entries[Int(index)] = entry
        } else {
            index = Int32(entries.count)
            entries.append(entry)
        }
        insert(index, key)
    }

    mutating func markDuplicated(_ key: DeduplicationKey) {
        if let index = index(of: key) { entries[index].state.insert(.hasDuplicates) }
    }

    /// Records the channel of a second delivery with the same wait id, which a repeated publish caused.
    mutating func setTwin(_ key: DeduplicationKey, on channel: DuplicateMemory.Channel) {
        if let index = index(of: key) { entries[index].held.twin = channel }
    }

    /// Replaces the delivery of the lost channel with its redelivery.
    mutating func move(_ key: DeduplicationKey, from lost: DuplicateMemory.Channel, to candidate: DuplicateCandidate) {
        guard let index = index(of: key) else { return }
        let before = entries[index].held
        entries[index].held = Held(candidate)
        entries[index].held.next = before.next
        guard let twin = before.twin else { return }
        entries[index].held.deliveryCount = max(before.deliveryCount, candidate.deliveryCount)
        let isFirst = before.channel == lost
        entries[index].held.channel = isFirst ? candidate.channel : before.channel
        entries[index].held.twin = isFirst ? twin : candidate.channel
    }

    /// Records that the request is about to be republished with this wait id.
    mutating func sendToWait(_ key: DeduplicationKey, waitID: UInt32) {
        if let index = index(of: key) { entries[index].held.next = UInt16(truncatingIfNeeded: waitID) }
    }

    mutating func settle(_ key: DeduplicationKey, isAccepted: Bool, now: MonotonicTime) {
        guard let index = index(of: key), !entries[index].state.contains(.settled) else { return }
        entries[index].state.formUnion(isAccepted ? [.settled, .accepted] : .settled)
        entries[index].seconds = Int32(clamping: now.nanoseconds / Self.nanosecondsOfSecond)
        entries[index].place = remember(Int32(index))
    }

    mutating func forget(_ key: DeduplicationKey) {
        guard let index = index(of: key) else { return }
        remove(index)
    }

    private mutating func remember(_ index: Int32) -> UInt16 {
        guard order.count == settledMax else {
            order.append(index)
            return UInt16(order.count - 1)
        }
        let place = oldest
        let forgotten = Int(order[place])
        // Keep an entry that is in flight again, or was settled again.
        if entries[forgotten].place == UInt16(place) { remove(forgotten) }
        order[place] = index
        oldest = (oldest + 1) % settledMax
        prefetchOldest()
        return UInt16(place)
    }

    /// Prefetches the slot of the entry that is forgotten next, and the entry that is forgotten after it. Their memory
    /// is the least recently used.
    private func prefetchOldest() {
        let next = entries[Int(order[oldest])].key
        let afterNext = Int(order[(oldest + 1) % settledMax])
        entries.withUnsafeBufferPointer { Prefetch.memory(at: $0.baseAddress! + afterNext) }
        slots.withUnsafeBufferPointer { Prefetch.memory(at: $0.baseAddress! + home(next)) }
    }

    private func index(of key: DeduplicationKey) -> Int? {
        var slot = home(key)
        while slots[slot] != .free {
            let index = slots[slot].index
            if slots[slot].mayMatch(key), entries[index].key == key { return index }
            slot = next(slot)
        }
        return nil
    }

    private func home(_ key: DeduplicationKey) -> Int { Int(truncatingIfNeeded: key.low) & (slots.count - 1) }

    private func next(_ slot: Int) -> Int { (slot + 1) & (slots.count - 1) }

    private func distance(from first: Int, to second: Int) -> Int { (second - first) & (slots.count - 1) }

    private func distanceFromHome(at slot: Int) -> Int {
        slots[slot].distance ?? distance(from: home(entries[slots[slot].index].key), to: slot)
    }

    private mutating func insert(_ index: Int32, _ key: DeduplicationKey) {
        if (entries.count - free.count) * 2 > slots.count { grow() }
        put(index, key)
    }

    private mutating func put(_ index: Int32, _ key: DeduplicationKey) {
        let home = home(key)
        var slot = home
        while slots[slot] != .free { slot = next(slot) }
        slots[slot] = Slot(index, key, distance: distance(from: home, to: slot))
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: .free, count: old.count * 2)
        for slot in old where slot != .free { put(Int32(slot.index), entries[slot.index].key) }
    }

    /// Removes an entry and closes its gap in the probe sequence.
    private mutating func remove(_ index: Int) {
        var gap = home(entries[index].key)
        while slots[gap].index != index { gap = next(gap) }
        var slot = next(gap)
        while slots[slot] != .free {
            let shift = distance(from: gap, to: slot)
            let distance = distanceFromHome(at: slot)
            if distance >= shift {
                slots[gap] = slots[slot].at(distance: distance - shift)
                gap = slot
            }
            slot = next(slot)
        }
        slots[gap] = .free
        entries[index].place = Self.noPlace
        free.append(Int32(index))
    }
}
