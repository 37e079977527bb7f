package import EventLoop

/// The unconfirmed publishes of one channel, by sequence number.
///
/// Numbers run from 1 without gaps (RabbitMQ's publisher confirms). A returned message arrives before its confirm and
/// has no number, so the window identifies the message by its fingerprint. If several unconfirmed messages are
/// identical, the return may count for any of them.
///
/// `Waiter` receives the outcome.
package struct ConfirmWindow<Waiter> {
    /// An unconfirmed publish. The entry has no counted reference, so that a read of the entry needs no reference
    /// counting.
    private struct Entry {
        /// The receiver of the outcome; nil once the receiver was notified that the confirm is late.
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
    /// The number of confirms from the call of `prepare` for a waiter to the confirm of its publish. The number assumes
    /// that confirms arrive in order.
    private static var confirmsAhead: UInt64 { 4 }

    package let countMax: Int
    package let bytesMax: Int

    /// The size of the unconfirmed publishes in bytes, including publishes whose confirm is late.
    package private(set) var bytes = 0
    package private(set) var count = 0

    /// A ring buffer of the numbers in `head..<next`, at `number & mask`. The buffer grows only when full. In a buffer
    /// much larger than the number of publishes in flight, each entry would leave the processor's cache before its
    /// reuse.
    private var entries: [Entry?]
    private var head: UInt64 = 1
    private var next: UInt64 = 1
    /// The returned messages whose confirm is outstanding, by number; usually empty.
    private var returns: [UInt64: Return] = [:]
    /// The number below which no publish has a waiter.
    private var lateHead: UInt64 = 1

    package init(countMax: Int, bytesMax: Int) {
        self.countMax = max(1, countMax)
        self.bytesMax = bytesMax
        entries = Array(repeating: nil, count: Self.entriesMin)
    }

    package var isEmpty: Bool { count == 0 }

    /// Returns whether a message of `size` bytes may be sent. A message larger than the limit requires an empty window.
    package func hasRoom(for size: Int) -> Bool {
        next - head < UInt64(countMax) && (bytes + size <= bytesMax || count == 0)
    }

    /// Adds a publish and returns its number. Requires `hasRoom`.
    package mutating func sent(
        _ waiter: Waiter, _ message: MessageFingerprint, size: Int, now: MonotonicTime
    ) -> UInt64 {
        precondition(next - head < UInt64(countMax), "the confirm window is full")
        if next - head > mask { grow() }
        let number = next
        self[number] = Entry(waiter: waiter, bytes: size, sentAt: now, message: message)
        next += 1
        count += 1
        bytes += size
        return number
    }

    /// Records that the broker could not route a message, whose confirm follows. Returns false if no such message is
    /// unconfirmed.
    ///
    /// If a confirm is late, the message may be published again and then be in the window twice. The return then counts
    /// for the repeated publish, which still has a waiter. Otherwise the confirm of the repeated publish could count as
    /// success although the message is in no queue.
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

    /// Handles the broker's `basic.ack` (`positive`) or `basic.nack`. Calls `notify` for the waiter of each completed
    /// publish. Before each of these calls, calls `prepare` for a later waiter, if any, whose publish is likely to
    /// complete soon.
    ///
    /// Returns false if the confirm violates the protocol, because it covers no unconfirmed publish or its number is
    /// not in use yet. With `multiple`, the number 0 covers all publishes and is always valid.
    package mutating func confirmed(
        _ number: UInt64, multiple: Bool, positive: Bool, prepare: (Waiter) -> Void = { _ in },
        _ notify: (Waiter, PublishOutcome) -> Void
    ) -> Bool {
        let last = number == 0 && multiple ? next - 1 : number
        guard last < next, last >= head, multiple || self[last] != nil else { return number == 0 && multiple }
        if multiple {
            while head <= last {
                announce(after: head, prepare)
                complete(head, positive: positive, notify)
                head += 1
            }
        } else {
            announce(after: last, prepare)
            complete(last, positive: positive, notify)
        }
        while head < next, self[head] == nil { head += 1 }
        return true
    }

    private func announce(after number: UInt64, _ prepare: (Waiter) -> Void) {
        guard number + Self.confirmsAhead < next, let waiter = self[number + Self.confirmsAhead]?.waiter else { return }
        prepare(waiter)
    }

    private mutating func complete(_ number: UInt64, positive: Bool, _ notify: (Waiter, PublishOutcome) -> Void) {
        guard let entry = self[number].take() else { return }
        count -= 1
        bytes -= entry.bytes
        let returned = returns.isEmpty ? nil : returns.removeValue(forKey: number)
        guard let waiter = entry.waiter else { return }
        if !positive {
            notify(waiter, .nacked)
        } else if let returned {
            notify(waiter, .returned(code: returned.code, text: returned.text))
        } else {
            notify(waiter, .confirmed)
        }
    }

    /// Returns the send time of the oldest publish with a waiter; nil if no publish has a waiter.
    package mutating func oldestAwaitedSentAt() -> MonotonicTime? {
        lateHead = max(lateHead, head)
        while lateHead < next {
            if let entry = self[lateHead], entry.waiter != nil { return entry.sentAt }
            lateHead += 1
        }
        return nil
    }

    /// The send time of the oldest unconfirmed publish, with or without a waiter; nil if the window is empty.
    package var oldestSentAt: MonotonicTime? {
        self[head]?.sentAt
    }

    /// Stops waiting for the confirms of publishes that were sent at `time` or earlier. Calls `notify` for each waiter,
    /// because the outcome is unknown. The publishes stay in the window until their confirm arrives or the channel is
    /// lost.
    package mutating func giveUpWaiting(sentUntil time: MonotonicTime, _ notify: (Waiter) -> Void) {
        while let sentAt = oldestAwaitedSentAt(), sentAt <= time {
            if let waiter = self[lateHead]?.waiter { notify(waiter) }
            self[lateHead]?.waiter = nil
        }
    }

    /// Handles the loss of the channel. Notifies all waiters, and restarts the numbers from 1.
    package mutating func reset(_ notify: (Waiter) -> Void) {
        for number in head..<next {
            if let waiter = self[number]?.waiter { notify(waiter) }
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
