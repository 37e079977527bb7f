/// A handle of a scheduled timer, for `EventLoop.cancel`.
public struct TimerToken: Sendable, Hashable {
    fileprivate let slot: Int
    fileprivate let generation: UInt64
}

/// Timers by deadline. Timers with the same deadline fire in the order of their addition.
struct TimerQueue {
    private struct Entry {
        var deadline: MonotonicTime
        var generation: UInt64
        var slot: Int

        func fires(before other: Entry) -> Bool {
            deadline == other.deadline ? generation < other.generation : deadline < other.deadline
        }
    }

    private struct Slot {
        var generation: UInt64
        var action: (() -> Void)?
    }

    /// The number of canceled timers above which the heap is rebuilt, if canceled timers are the majority.
    private static let cancelledMax = 64

    private var heap: [Entry] = []
    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    private var lastGeneration: UInt64 = 0
    private var cancelled = 0

    /// The earliest deadline, which may belong to a canceled timer; nil if there is no timer in memory.
    var next: MonotonicTime? { heap.first?.deadline }

    mutating func add(at deadline: MonotonicTime, _ action: @escaping () -> Void) -> TimerToken {
        lastGeneration += 1
        let slot = freeSlots.popLast() ?? slots.endIndex
        if slot == slots.endIndex {
            slots.append(Slot(generation: lastGeneration, action: action))
        } else {
            slots[slot] = Slot(generation: lastGeneration, action: action)
        }
        heap.append(Entry(deadline: deadline, generation: lastGeneration, slot: slot))
        siftUp(heap.endIndex - 1)
        return TimerToken(slot: slot, generation: lastGeneration)
    }

    mutating func cancel(_ token: TimerToken) {
        guard slots.indices.contains(token.slot), slots[token.slot].generation == token.generation,
            slots[token.slot].action != nil
        else { return }
        slots[token.slot].action = nil
        cancelled += 1
        if heap.first?.slot == token.slot {
            dropCancelledHead()
        } else if cancelled > Self.cancelledMax, cancelled > heap.count / 2 {
            rebuild()
        }
    }

    /// The number of timers in memory, including canceled timers.
    var capacityInUse: Int { heap.count }

    /// The number of the newest timer, for `popDue`.
    var newest: UInt64 { lastGeneration }

    /// Removes and returns the next due action; nil if no timer is due. Timers newer than `newest` wait for the next
    /// iteration, so that a timer that reschedules itself without delay cannot block the loop.
    mutating func popDue(until now: MonotonicTime, newest: UInt64) -> (() -> Void)? {
        while let first = heap.first, first.deadline <= now, first.generation <= newest {
            removeHead()
            if let action = free(first.slot) { return action }
            cancelled -= 1
        }
        return nil
    }

    private mutating func free(_ slot: Int) -> (() -> Void)? {
        let action = slots[slot].action
        slots[slot].action = nil
        freeSlots.append(slot)
        return action
    }

    private mutating func dropCancelledHead() {
        while let first = heap.first, slots[first.slot].action == nil {
            removeHead()
            _ = free(first.slot)
            cancelled -= 1
        }
    }

    private mutating func rebuild() {
        let all = heap
        heap = []
        for entry in all {
            if slots[entry.slot].action == nil {
                _ = free(entry.slot)
            } else {
                heap.append(entry)
                siftUp(heap.endIndex - 1)
            }
        }
        cancelled = 0
    }

    private mutating func removeHead() {
        heap.swapAt(0, heap.endIndex - 1)
        heap.removeLast()
        siftDown()
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].fires(before: heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func siftDown() {
        var parent = 0
        while true {
            var first = parent
            for child in (2 * parent + 1)...(2 * parent + 2) where child < heap.count {
                if heap[child].fires(before: heap[first]) { first = child }
            }
            guard first != parent else { return }
            heap.swapAt(first, parent)
            parent = first
        }
    }
}
