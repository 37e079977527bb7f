package import EventLoop

/// Decides which acknowledgements to send for deliveries that are settled in any order.
///
/// Deliveries of a channel are numbered from 1 without a gap. Those settled from the oldest on become one `multiple`
/// acknowledgement. When the oldest stays open, those behind it are acknowledged one by one once they are many or have
/// waited long. An acknowledgement names only a delivery that is still open at the broker: anything else costs the
/// channel (406, unknown delivery tag).
///
/// Memory is bounded by the unsettled deliveries, not by how far apart they are: what is left behind moves to a list.
package struct AckWindow {
    package struct Ack: Equatable {
        package var tag: UInt64
        /// All up to `tag` that are still open are meant.
        package var multiple: Bool

        package init(tag: UInt64, multiple: Bool) {
            self.tag = tag
            self.multiple = multiple
        }
    }

    private enum Slot: UInt8 {
        /// With us.
        case open
        /// To be acknowledged.
        case done
        /// Acknowledged or rejected; the broker has been told.
        case settled
    }

    private static let slotsMin = 64
    /// A prefetch beyond this gets no more slots; it costs more acknowledgements one by one.
    private static let expectedMax = 1 << 20

    /// So many done ones behind an open one are acknowledged one by one.
    package let doneBehindMax: Int
    /// After so long a done one behind an open one is acknowledged by itself.
    package let delayMax: Duration

    /// What is to be sent now, in order. Whoever sends it empties it.
    package var acks: [Ack] = []
    /// Deliveries that are neither acknowledged nor rejected.
    package private(set) var openCount = 0

    /// Slots for the tags from `head` to before `next`, at `tag & mask`.
    private var slots: [Slot]
    private let mask: UInt64
    private var head: UInt64 = 1
    private var next: UInt64 = 1
    /// Open ones older than `head`, oldest first.
    private var leftBehind: [UInt64] = []
    private var doneCount = 0
    private var oldestDoneAt = MonotonicTime.distantFuture

    /// - Parameter expected: deliveries that are usually open at the same time: the prefetch.
    package init(expected: Int, delayMax: Duration) {
        var capacity = Self.slotsMin
        while capacity < 4 * min(max(expected, 1), Self.expectedMax) { capacity *= 2 }
        slots = Array(repeating: .settled, count: capacity)
        mask = UInt64(capacity - 1)
        doneBehindMax = max(1, expected / 4)
        self.delayMax = delayMax
    }

    /// When `decide` must be called again though nothing else happens.
    package var deadline: MonotonicTime? {
        doneCount > 0 ? oldestDoneAt + delayMax : nil
    }

    package var hadDeliveries: Bool { next > 1 }
    /// What the next delivery is to have.
    package var nextTag: UInt64 { next }
    /// Deliveries that are unsettled at the broker: open here, or with an acknowledgement that has not been sent.
    package var unacknowledgedCount: Int { openCount + doneCount + acks.count }

    /// Those of them whose tag is `tag` or later.
    package func unacknowledgedCount(from tag: UInt64) -> Int {
        let inSlots = (max(head, tag)..<max(head, tag, next)).count { self[$0] != .settled }
        return inSlots + leftBehind.count { $0 >= tag } + acks.count { $0.tag >= tag }
    }

    /// Whether the delivery is neither acknowledged nor rejected.
    package func isOpen(_ tag: UInt64) -> Bool {
        guard tag >= head else { return leftBehind.contains(tag) }
        return tag < next && slots[Int(truncatingIfNeeded: tag & mask)] == .open
    }

    /// A delivery has arrived. `false` when its tag does not follow the last one, which no broker does.
    package mutating func delivered(_ tag: UInt64) -> Bool {
        guard tag == next else { return false }
        if next - head > mask { makeRoom() }
        self[tag] = .open
        next += 1
        openCount += 1
        return true
    }

    /// The delivery may be acknowledged; `false` when it is not open.
    package mutating func acknowledge(_ tag: UInt64, now: MonotonicTime) -> Bool {
        guard tag >= head else {
            guard takeLeftBehind(tag) else { return false }
            acks.append(Ack(tag: tag, multiple: false))
            return true
        }
        guard tag < next, self[tag] == .open else { return false }
        self[tag] = .done
        openCount -= 1
        if doneCount == 0 { oldestDoneAt = now }
        doneCount += 1
        return true
    }

    /// The delivery was rejected or put back by a message of its own; `false` when it was not open.
    package mutating func settle(_ tag: UInt64) -> Bool {
        guard tag >= head else { return takeLeftBehind(tag) }
        guard tag < next, self[tag] == .open else { return false }
        self[tag] = .settled
        openCount -= 1
        return true
    }

    /// Adds to `acks` what is due.
    package mutating func decide(now: MonotonicTime) {
        guard doneCount > 0 else { return }
        acknowledgeFromHead()
        guard doneCount > 0, doneCount >= doneBehindMax || now >= oldestDoneAt + delayMax else { return }
        acknowledgeOneByOne()
    }

    private mutating func acknowledgeFromHead() {
        var (newest, count): (UInt64, Int) = (0, 0)
        while head < next, self[head] != .open {
            if self[head] == .done {
                if !leftBehind.isEmpty { acks.append(Ack(tag: head, multiple: false)) }
                (newest, count) = (head, count + 1)
            }
            head += 1
        }
        doneCount -= count
        if count > 0, leftBehind.isEmpty { acks.append(Ack(tag: newest, multiple: count > 1)) }
    }

    private mutating func acknowledgeOneByOne() {
        for tag in head..<next where self[tag] == .done {
            acks.append(Ack(tag: tag, multiple: false))
            self[tag] = .settled
        }
        doneCount = 0
    }

    /// All slots are taken: leaves the oldest open ones behind.
    private mutating func makeRoom() {
        acknowledgeOneByOne()
        // A quarter at once, so that this is rare.
        let target = head + UInt64(slots.count / 4)
        while head < target {
            if self[head] == .open { leftBehind.append(head) }
            head += 1
        }
    }

    private mutating func takeLeftBehind(_ tag: UInt64) -> Bool {
        guard let index = leftBehind.firstIndex(of: tag) else { return false }
        leftBehind.remove(at: index)
        openCount -= 1
        return true
    }

    private subscript(tag: UInt64) -> Slot {
        get { slots[Int(truncatingIfNeeded: tag & mask)] }
        set { slots[Int(truncatingIfNeeded: tag & mask)] = newValue }
    }
}
