import EventLoop

/// The messages that are being delivered and the last that were settled, so that a copy is known for one.
///
/// Pure: one share of ``DuplicateMemory``, which says what its answers mean. Memory is bounded: what was settled makes room
/// in the order in which it was.
struct DuplicateTable {
    enum Found: Equatable {
        /// Unknown.
        case nothing
        /// Being delivered.
        case delivering(Held)
        /// `isAccepted`: APNs has it, otherwise it ended in another way or was sent to wait. `hasCopies`: others of it came.
        case settled(isAccepted: Bool, Held, at: MonotonicTime, hasCopies: Bool)
    }

    /// On which channel it came, and from which trip. 16 bytes, in this order.
    struct Held: Equatable {
        /// Of its properties.
        var fingerprint: UInt32
        var waitID: UInt32
        var channel: DuplicateMemory.Channel
        /// The low half of that of the wait which it was sent to, once it was; it may come back before the broker has
        /// confirmed that.
        var next: UInt16 = 0
        /// Where its trip, published a second time, came; that one was or will be acknowledged.
        var twin: DuplicateMemory.Channel?
        /// Times that it had been delivered without an end before.
        var deliveryCount: UInt8

        fileprivate init(_ arrival: DuplicateCandidate) {
            (channel, waitID, deliveryCount) = (arrival.channel, arrival.waitID, arrival.deliveryCount)
            fingerprint = arrival.fingerprint
        }
    }

    private struct State: OptionSet {
        let rawValue: UInt8
        static let settled = State(rawValue: 1)
        static let accepted = State(rawValue: 2)
        static let hasCopies = State(rawValue: 4)
    }

    private static let noPlace = UInt16.max

    /// 40 bytes.
    private struct Entry {
        var key: DeduplicationKey
        var held: Held
        var state: State = []
        /// Place in `order` once it is settled.
        var place = noPlace
        /// When it was settled, in whole seconds.
        var seconds: Int32 = 0
    }

    /// An index into `entries`, with a part of its key and how far it is from home, so that hardly an entry is looked at in
    /// vain: they are spread over more memory than a processor keeps at hand.
    private struct Slot: Equatable {
        static let free = Slot(word: .max)
        /// For four million messages under way in a share.
        private static let indexBits: UInt32 = 22
        private static let distanceBits: UInt32 = 4
        /// Stands for itself and all that are larger.
        private static let distanceMax: UInt32 = 1 << distanceBits - 1
        private static let markShift = indexBits + distanceBits

        private let word: UInt32

        private init(word: UInt32) { self.word = word }

        init(_ index: Int32, _ key: DeduplicationKey, distance: Int) {
            precondition(index < 1 << Self.indexBits - 1, "more messages under way than any prefetch allows")
            word = Self.mark(of: key) << Self.markShift | Self.part(distance) | UInt32(bitPattern: index)
        }

        /// The same nearer to home.
        func at(distance: Int) -> Slot {
            Slot(word: word & ~(Self.distanceMax << Self.indexBits) | Self.part(distance))
        }

        private static func part(_ distance: Int) -> UInt32 { min(UInt32(distance), distanceMax) << indexBits }

        var index: Int { Int(word & (1 << Self.indexBits - 1)) }

        /// nil: the key tells.
        var distance: Int? {
            let distance = word >> Self.indexBits & Self.distanceMax
            return distance < Self.distanceMax ? Int(distance) : nil
        }

        func mayBe(_ key: DeduplicationKey) -> Bool { word >> Self.markShift == Self.mark(of: key) }

        /// Of bits that do not decide where it is looked for.
        private static func mark(of key: DeduplicationKey) -> UInt32 {
            UInt32(truncatingIfNeeded: key.low >> (32 + markShift))
        }
    }

    /// Entries that are not settled, for which there is room at once.
    private static let deliveringReserve = 128
    private static let nanosecondsOfSecond: Int64 = 1_000_000_000

    let settledMax: Int
    private var entries: [Entry] = []
    private var free: [Int32] = []
    /// Settled entries, as a ring.
    private var order: [Int32] = []
    private var oldest = 0
    /// Open addressing with linear probing.
    private var slots: [Slot]

    /// - Parameter settledMax: below 65,535.
    init(settledMax: Int) {
        self.settledMax = max(1, min(settledMax, Int(Self.noPlace)))
        var slotCount = 1
        while slotCount < self.settledMax * 2 { slotCount *= 2 }
        slots = Array(repeating: .free, count: slotCount)
        // Arrays that double would take half as much again.
        entries.reserveCapacity(self.settledMax + Self.deliveringReserve)
        order.reserveCapacity(self.settledMax)
    }

    /// What its arrays hold.
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
            hasCopies: entry.state.contains(.hasCopies))
    }

    /// It is being delivered from now on.
    mutating func begin(_ key: DeduplicationKey, _ arrival: DuplicateCandidate) {
        if let index = index(of: key) {
            entries[index].state.formIntersection(.hasCopies)
            entries[index].held = Held(arrival)
            entries[index].place = Self.noPlace
            return
        }
        let entry = Entry(key: key, held: Held(arrival))
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

    /// Another message that is the same has come.
    mutating func noteCopy(_ key: DeduplicationKey) {
        if let index = index(of: key) { entries[index].state.insert(.hasCopies) }
    }

    /// The same trip, published a second time, has come.
    mutating func noteTwin(_ key: DeduplicationKey, on channel: DuplicateMemory.Channel) {
        if let index = index(of: key) { entries[index].held.twin = channel }
    }

    /// Another delivery answers for what came on the lost channel.
    mutating func move(_ key: DeduplicationKey, from lost: DuplicateMemory.Channel, to arrival: DuplicateCandidate) {
        guard let index = index(of: key) else { return }
        let before = entries[index].held
        entries[index].held = Held(arrival)
        entries[index].held.next = before.next
        guard let twin = before.twin else { return }
        entries[index].held.deliveryCount = max(before.deliveryCount, arrival.deliveryCount)
        let isFirst = before.channel == lost
        entries[index].held.channel = isFirst ? arrival.channel : before.channel
        entries[index].held.twin = isFirst ? twin : arrival.channel
    }

    /// It is about to be sent to wait.
    mutating func sendToWait(_ key: DeduplicationKey, waitID: UInt32) {
        if let index = index(of: key) { entries[index].held.next = UInt16(truncatingIfNeeded: waitID) }
    }

    mutating func settle(_ key: DeduplicationKey, isAccepted: Bool, now: MonotonicTime) {
        guard let index = index(of: key), !entries[index].state.contains(.settled) else { return }
        entries[index].state.formUnion(isAccepted ? [.settled, .accepted] : .settled)
        entries[index].seconds = Int32(clamping: now.nanoseconds / Self.nanosecondsOfSecond)
        entries[index].place = remember(Int32(index))
    }

    /// Nothing was decided: as if it had never been here.
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
        // Unless it is being delivered again, or was settled again since.
        if entries[forgotten].place == UInt16(place) { remove(forgotten) }
        order[place] = index
        oldest = (oldest + 1) % settledMax
        prefetchOldest()
        return UInt16(place)
    }

    /// The entry that is forgotten after the next, and the slot of the next: their memory is older than any other.
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
            if slots[slot].mayBe(key), entries[index].key == key { return index }
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

    /// Takes it out and closes the gap that it leaves in the probing.
    private mutating func remove(_ index: Int) {
        var gap = home(entries[index].key)
        while slots[gap].index != index { gap = next(gap) }
        var slot = next(gap)
        while slots[slot] != .free {
            let way = distance(from: gap, to: slot)
            let distance = distanceFromHome(at: slot)
            if distance >= way {
                slots[gap] = slots[slot].at(distance: distance - way)
                gap = slot
            }
            slot = next(slot)
        }
        slots[gap] = .free
        entries[index].place = Self.noPlace
        free.append(Int32(index))
    }
}
