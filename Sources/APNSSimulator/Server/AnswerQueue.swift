import EventLoop

/// The identifier of a waiting element, for `AnswerQueue.cancel(_:)`.
struct AnswerTicket {
    fileprivate var slot: Int32
    fileprivate var sequence: UInt64
}

/// Elements that wait for their due times. Elements with the same time keep the order in which they were added.
///
/// The queue is a binary heap of small entries, with the elements in reusable slots.
struct AnswerQueue<Waiting> {
    private struct Entry {
        var due: MonotonicTime
        var sequence: UInt64
        var slot: Int32

        func comes(before other: Entry) -> Bool {
            due == other.due ? sequence < other.sequence : due < other.due
        }
    }

    private struct Slot {
        var sequence: UInt64
        /// The element; nil after it was canceled or returned.
        var waiting: Waiting?
    }

    /// Minimum number of canceled entries before all of them are removed from the heap. The removal also requires that
    /// more than half of the entries are canceled.
    private static var cancelledMin: Int { 64 }

    private var heap: [Entry] = []
    private var slots: [Slot] = []
    private var free: [Int32] = []
    private var lastSequence: UInt64 = 0
    private var cancelled = 0

    /// Number of entries in memory, including canceled ones.
    var capacityInUse: Int { heap.count }

    /// The due time of the first entry, which may be canceled; nil without entries.
    var nextDue: MonotonicTime? { heap.first?.due }

    mutating func add(_ waiting: Waiting, due: MonotonicTime) -> AnswerTicket {
        lastSequence += 1
        let slot = free.popLast() ?? Int32(slots.count)
        if slot == slots.count {
            slots.append(Slot(sequence: lastSequence, waiting: waiting))
        } else {
            slots[Int(slot)] = Slot(sequence: lastSequence, waiting: waiting)
        }
        heap.append(Entry(due: due, sequence: lastSequence, slot: slot))
        siftUp(heap.count - 1)
        return AnswerTicket(slot: slot, sequence: lastSequence)
    }

    /// Cancels an element. Does nothing if the element was already returned or canceled.
    mutating func cancel(_ ticket: AnswerTicket) {
        guard slots.indices.contains(Int(ticket.slot)), slots[Int(ticket.slot)].sequence == ticket.sequence,
            slots[Int(ticket.slot)].waiting != nil
        else { return }
        slots[Int(ticket.slot)].waiting = nil
        cancelled += 1
        if cancelled >= Self.cancelledMin, cancelled > heap.count / 2 { removeCancelled() }
    }

    /// Removes and returns the first element that is due; nil if none is due.
    mutating func popDue(_ now: MonotonicTime) -> Waiting? {
        while let first = heap.first, first.due <= now {
            removeHead()
            if let waiting = release(first.slot) { return waiting }
            cancelled -= 1
        }
        return nil
    }

    private mutating func release(_ slot: Int32) -> Waiting? {
        let waiting = slots[Int(slot)].waiting
        slots[Int(slot)].waiting = nil
        free.append(slot)
        return waiting
    }

    private mutating func removeCancelled() {
        let all = heap
        heap.removeAll(keepingCapacity: true)
        for entry in all {
            if slots[Int(entry.slot)].waiting == nil {
                free.append(entry.slot)
            } else {
                heap.append(entry)
                siftUp(heap.count - 1)
            }
        }
        cancelled = 0
    }

    private mutating func removeHead() {
        let last = heap.removeLast()
        guard !heap.isEmpty else { return }
        heap[0] = last
        siftDown()
    }

    private mutating func siftUp(_ start: Int) {
        let entry = heap[start]
        var place = start
        while place > 0 {
            let parent = (place - 1) / 2
            guard entry.comes(before: heap[parent]) else { break }
            heap[place] = heap[parent]
            place = parent
        }
        heap[place] = entry
    }

    private mutating func siftDown() {
        let entry = heap[0]
        var place = 0
        while true {
            var child = 2 * place + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].comes(before: heap[child]) { child += 1 }
            guard heap[child].comes(before: entry) else { break }
            heap[place] = heap[child]
            place = child
        }
        heap[place] = entry
    }
}
