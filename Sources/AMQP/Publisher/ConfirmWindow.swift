package import EventLoop

/// The publishes of one channel that the broker has not confirmed, by sequence number.
///
/// Numbers run from 1 without a gap (RabbitMQ's publisher confirms). `returned` is called for a returned message before
/// its confirm; it has no number, so it is found by what it holds. Of several that are the same it does not matter which
/// is published again.
/// `Waiter` is whoever is told the outcome, or a name in tests.
package struct ConfirmWindow<Waiter> {
    /// Without a reference that would be counted for each look at one.
    private struct Entry {
        /// `nil` once it was told for the confirm taking too long.
        var waiter: Waiter?
        var bytes: Int
        var sentAt: MonotonicTime
        var message: MessageFingerprint
    }

    private struct Return {
        var code: UInt16
        var text: String
    }

    private static var entriesMin: Int { 64 }
    /// So many confirms before its own a waiter is announced, if they come in order.
    private static var confirmsAhead: UInt64 { 4 }

    package let countMax: Int
    package let bytesMax: Int

    /// Unconfirmed bytes, with those whose waiter was told for the confirm taking too long.
    package private(set) var bytes = 0
    package private(set) var count = 0

    /// Entries of the numbers from `head` to before `next`, at `number & mask`. As long as it had to be so far: a ring
    /// that is much longer than what is under way comes back to each of its entries when that is cold.
    private var entries: [Entry?]
    private var head: UInt64 = 1
    private var next: UInt64 = 1
    /// What was returned and is not confirmed, by number: few, as a rule none.
    private var returns: [UInt64: Return] = [:]
    /// No number before this one has a waiter that could be late.
    private var lateHead: UInt64 = 1

    package init(countMax: Int, bytesMax: Int) {
        self.countMax = max(1, countMax)
        self.bytesMax = bytesMax
        entries = Array(repeating: nil, count: Self.entriesMin)
    }

    package var isEmpty: Bool { count == 0 }

    /// Whether a message of `size` bytes may be sent. One that is larger than the limit goes alone.
    package func hasRoom(for size: Int) -> Bool {
        next - head < UInt64(countMax) && (bytes + size <= bytesMax || count == 0)
    }

    /// Notes a message that is being sent and returns its number. Ask `hasRoom` first.
    package mutating func sent(
        _ waiter: Waiter, _ message: MessageFingerprint, size: Int, now: MonotonicTime
    ) -> UInt64 {
        precondition(next - head < UInt64(countMax), "more numbers than the window holds")
        if next - head > mask { grow() }
        let number = next
        self[number] = Entry(waiter: waiter, bytes: size, sentAt: now, message: message)
        next += 1
        count += 1
        bytes += size
        return number
    }

    /// The broker could not route a message; its confirm follows. `false` when no such message is open.
    ///
    /// Of a message that was published again since nobody waits for the first any more, it is the repeated one: the first
    /// may be refused, and then neither is in a queue.
    package mutating func returned(_ message: MessageFingerprint, code: UInt16, text: String) -> Bool {
        guard let number = unreturned({ $0 == message }) ?? unreturned(message.isAlike) else { return false }
        returns[number] = Return(code: code, text: text)
        return true
    }

    private func unreturned(_ isIt: (MessageFingerprint) -> Bool) -> UInt64? {
        var abandoned: UInt64?
        for number in head..<next {
            guard let entry = self[number], isIt(entry.message), returns[number] == nil else { continue }
            if entry.waiter != nil { return number }
            abandoned = abandoned ?? number
        }
        return abandoned
    }

    /// The broker's `basic.ack` (`positive`) or `basic.nack`. Calls `tell` for every waiter whose publish is over, and
    /// before that `prepare` for some whose publishes are over next.
    /// `false` when the number is not open, which no broker does.
    package mutating func confirmed(
        _ number: UInt64, multiple: Bool, positive: Bool, prepare: (Waiter) -> Void = { _ in },
        _ tell: (Waiter, PublishOutcome) -> Void
    ) -> Bool {
        // 0 with `multiple` means all.
        let last = number == 0 && multiple ? next - 1 : number
        guard last < next, last >= head, multiple || self[last] != nil else { return number == 0 && multiple }
        if multiple {
            while head <= last {
                announce(after: head, prepare)
                end(head, positive: positive, tell)
                head += 1
            }
        } else {
            announce(after: last, prepare)
            end(last, positive: positive, tell)
        }
        while head < next, self[head] == nil { head += 1 }
        return true
    }

    private func announce(after number: UInt64, _ prepare: (Waiter) -> Void) {
        guard number + Self.confirmsAhead < next, let waiter = self[number + Self.confirmsAhead]?.waiter else { return }
        prepare(waiter)
    }

    private mutating func end(_ number: UInt64, positive: Bool, _ tell: (Waiter, PublishOutcome) -> Void) {
        guard let entry = self[number].take() else { return }
        count -= 1
        bytes -= entry.bytes
        let returned = returns.isEmpty ? nil : returns.removeValue(forKey: number)
        guard let waiter = entry.waiter else { return }
        if !positive {
            tell(waiter, .nacked)
        } else if let returned {
            tell(waiter, .returned(code: returned.code, text: returned.text))
        } else {
            tell(waiter, .confirmed)
        }
    }

    /// When the oldest publish that still has a waiter was sent.
    package mutating func oldestAwaitedSentAt() -> MonotonicTime? {
        lateHead = max(lateHead, head)
        while lateHead < next {
            if let entry = self[lateHead], entry.waiter != nil { return entry.sentAt }
            lateHead += 1
        }
        return nil
    }

    /// When the oldest unconfirmed publish was sent, with or without a waiter.
    package var oldestSentAt: MonotonicTime? {
        self[head]?.sentAt
    }

    /// Tells the waiters of what was sent at `time` or before, whose outcome is unknown. Their room stays taken until
    /// the confirm comes or the channel ends.
    package mutating func giveUpWaiting(sentUntil time: MonotonicTime, _ tell: (Waiter) -> Void) {
        while let sentAt = oldestAwaitedSentAt(), sentAt <= time {
            if let waiter = self[lateHead]?.waiter { tell(waiter) }
            self[lateHead]?.waiter = nil
        }
    }

    /// The channel is gone: tells all waiters, and counts from 1 again.
    package mutating func reset(_ tell: (Waiter) -> Void) {
        for number in head..<next {
            if let waiter = self[number]?.waiter { tell(waiter) }
            self[number] = nil
        }
        returns = [:]
        (head, next, lateHead) = (1, 1, 1)
        (count, bytes) = (0, 0)
    }

    private mutating func grow() {
        let old = self
        entries = Array(repeating: nil, count: 2 * old.entries.count)
        for number in head..<next { self[number] = old[number] }
    }

    private var mask: UInt64 { UInt64(entries.count - 1) }

    private subscript(number: UInt64) -> Entry? {
        get { entries[Int(truncatingIfNeeded: number & mask)] }
        _modify { yield &entries[Int(truncatingIfNeeded: number & mask)] }
    }
}
