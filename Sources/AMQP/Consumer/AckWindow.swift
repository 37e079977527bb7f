package import EventLoop

/// The deliveries of one channel, which are settled in any order, and the acknowledgments to send for them.
///
/// The broker numbers the deliveries of a channel from 1 without gaps. A delivery is open until it is settled. A
/// contiguous run of settled deliveries that starts with the oldest delivery usually becomes one `multiple`
/// acknowledgment. While the oldest delivery stays open, the acknowledgments of later deliveries wait. These deliveries
/// are acknowledged individually once `doneBehindMax` of them wait, or one has waited for `delayMax`. An acknowledgment
/// names only a delivery that is unacknowledged at the broker. Any other tag would close the channel (406, unknown
/// delivery tag).
///
/// Old open tags move to a list. Memory is therefore bounded by the prefetch and the number of open deliveries, not by
/// the range of their tags.
package struct AckWindow {
    package struct Ack: Equatable {
        package var tag: UInt64
        /// Whether the acknowledgment covers every unacknowledged delivery up to `tag`.
        package var multiple: Bool

        package init(tag: UInt64, multiple: Bool) {
            self.tag = tag
            self.multiple = multiple
        }
    }

    private enum Slot: UInt8 {
        /// An unsettled delivery.
        case open
        /// A delivery that was settled for acknowledgment, and that no acknowledgment in `acks` covers yet.
        case done
        /// A delivery that an individual acknowledgment covers, or that was rejected or requeued.
        case settled
    }

    private static let slotsMin = 64
    /// The largest prefetch for which slots are reserved. A larger prefetch causes more individual acknowledgments.
    private static let expectedMax = 1 << 20

    /// The number of settled deliveries that may wait behind an open delivery. From this number on, they are
    /// acknowledged individually.
    package let doneBehindMax: Int
    /// The longest wait of a settled delivery behind an open delivery.
    package let delayMax: Duration

    /// The acknowledgments to send now, in order. The sender empties the list.
    package var acks: [Ack] = []
    /// The number of open deliveries. Settled deliveries whose acknowledgment is pending are not counted.
    package private(set) var openCount = 0

    /// Slots of the tags in `head..<next`, at `tag & mask`.
    private var slots: [Slot]
    private let mask: UInt64
    private var head: UInt64 = 1
    private var next: UInt64 = 1
    /// Open tags below `head`, in ascending order.
    private var leftBehind: [UInt64] = []
    private var doneCount = 0
    private var oldestDoneAt = MonotonicTime.distantFuture

    /// Creates an empty window.
    ///
    /// - Parameter expected: the usual number of open deliveries, which is the prefetch.
    package init(expected: Int, delayMax: Duration) {
        var capacity = Self.slotsMin
        while capacity < 4 * min(max(expected, 1), Self.expectedMax) { capacity *= 2 }
        slots = Array(repeating: .settled, count: capacity)
        mask = UInt64(capacity - 1)
        doneBehindMax = max(1, expected / 4)
        self.delayMax = delayMax
    }

    /// The time at which `decide` must be called again, even if no other event happens; nil if no settled delivery
    /// waits.
    package var deadline: MonotonicTime? {
        doneCount > 0 ? oldestDoneAt + delayMax : nil
    }

    package var hadDeliveries: Bool { next > 1 }
    package var nextTag: UInt64 { next }
    /// The number of deliveries that are open or whose acknowledgment has not been sent. An acknowledgment in `acks`
    /// counts as one delivery, even if it is `multiple`.
    package var unacknowledgedCount: Int { openCount + doneCount + acks.count }

    /// Returns the number of unacknowledged deliveries from `tag` on, counted in the same way.
    package func unacknowledgedCount(from tag: UInt64) -> Int {
        let inSlots = (max(head, tag)..<max(head, tag, next)).count { self[$0] != .settled }
        return inSlots + leftBehind.count { $0 >= tag } + acks.count { $0.tag >= tag }
    }

    package func isOpen(_ tag: UInt64) -> Bool {
        guard tag >= head else { return leftBehind.contains(tag) }
        return tag < next && slots[Int(truncatingIfNeeded: tag & mask)] == .open
    }

    /// Adds a delivery. Returns false if its tag does not follow the last tag, which violates the protocol.
    package mutating func delivered(_ tag: UInt64) -> Bool {
        guard tag == next else { return false }
        if next - head > mask { makeRoom() }
        self[tag] = .open
        next += 1
        openCount += 1
        return true
    }

    /// Settles a delivery for acknowledgment. Returns false if the delivery is not open.
    package mutating func acknowledge(_ tag: UInt64, now: MonotonicTime) -> Bool {
        guard tag >= head else {
            guard removeLeftBehind(tag) else { return false }
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

    /// Settles a delivery that a separate method rejects or requeues. Returns false if the delivery is not open.
    package mutating func settle(_ tag: UInt64) -> Bool {
        guard tag >= head else { return removeLeftBehind(tag) }
        guard tag < next, self[tag] == .open else { return false }
        self[tag] = .settled
        openCount -= 1
        return true
    }

    /// Adds the due acknowledgments to `acks`.
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

    /// Frees slots when all are in use. Acknowledges all settled deliveries individually, and moves the oldest open
    /// tags to `leftBehind`.
    private mutating func makeRoom() {
        acknowledgeOneByOne()
        // Free a quarter of the slots each time, so that calls of this function stay rare.
        let target = head + UInt64(slots.count / 4)
        while head < target {
            if self[head] == .open { leftBehind.append(head) }
            head += 1
        }
    }

    private mutating func removeLeftBehind(_ tag: UInt64) -> Bool {
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
