package import ControlProtocol
package import Crypto

/// A pure account of the batches of all workers. It finds missing batches, killed processes, dropped lines and repeated
/// batches.
package struct JournalSequences: Sendable, Hashable {
    package struct Change: Sendable, Hashable {
        /// Whether a batch of the process with this number or a higher one was read before. The lines must be skipped.
        package var isRepeat = false
        package var gaps: [NewGap] = []
        /// The processes whose entries have changed.
        package var boots: [UUIDValue] = []
        /// Processes that counted as killed and then sent a batch. Their gaps with the reason `killed` are wrong.
        package var revived: [UUIDValue] = []
        /// Processes that the account has forgotten because it was full.
        package var forgotten: [UUIDValue] = []
    }

    package struct NewGap: Sendable, Hashable {
        package var boot: UUIDValue
        package var gap: HistoryGap
    }

    package private(set) var boots: [UUIDValue: JournalBoot]
    private let bootsMax: Int
    /// Whether the first batch of a process may have any number, because the account began in the middle of the stream.
    private let startsInMiddle: Bool

    package init(_ boots: [JournalBoot] = [], bootsMax: Int? = nil, startsInMiddle: Bool = false) {
        self.boots = Dictionary(boots.map { ($0.id, $0) }) { _, last in last }
        self.bootsMax = bootsMax ?? HistoryLimits.bootsMax
        self.startsInMiddle = startsInMiddle
    }

    package mutating func receive(_ head: JournalHead) -> Change {
        var change = Change()
        if let boot = boots[head.bootID] {
            advance(boot, head, &change)
        } else {
            begin(head, &change)
        }
        return change
    }

    private mutating func advance(_ boot: JournalBoot, _ head: JournalHead, _ change: inout Change) {
        guard head.sequence > boot.sequence else {
            change.isRepeat = true
            return
        }
        if head.sequence > boot.sequence + 1 {
            add(.missing, head.sequence - boot.sequence - 1, after: boot.lastAt, head, &change)
        }
        if head.droppedLines > 0 { add(.dropped, head.droppedLines, after: boot.lastAt, head, &change) }
        if boot.state == .killed { change.revived.append(boot.id) }
        set(
            JournalBoot(
                id: boot.id, worker: boot.worker, sequence: head.sequence, lastAt: max(boot.lastAt, head.sentAt),
                state: head.hasEnded ? .ended : .running), &change)
    }

    private mutating func begin(_ head: JournalHead, _ change: inout Change) {
        for boot in boots.values.sorted(by: { $0.id < $1.id }) where boot.state == .running {
            guard Self.replaces(head.worker, boot.worker) else { continue }
            var killed = boot
            killed.state = .killed
            set(killed, &change)
            let gap = HistoryGap(worker: boot.worker, from: boot.lastAt, until: head.sentAt, reason: .killed)
            change.gaps.append(NewGap(boot: boot.id, gap: gap))
        }
        let firstAt = head.sentAt - Int64(JournalLimits.intervalSeconds) * 1000
        if head.sequence > 1, !startsInMiddle { add(.missing, head.sequence - 1, after: firstAt, head, &change) }
        if head.droppedLines > 0 { add(.dropped, head.droppedLines, after: firstAt, head, &change) }
        forgetOldest(&change)
        set(
            JournalBoot(
                id: head.bootID, worker: head.worker, sequence: head.sequence, lastAt: head.sentAt,
                state: head.hasEnded ? .ended : .running), &change)
    }

    /// Returns whether a process with the name `new` may replace a process with the name `old`. The name contains the
    /// host and the id of the process, so a restarted worker may have the same host and another id. Another worker of
    /// the host may still run. Its next batch revives it.
    private static func replaces(_ new: String, _ old: String) -> Bool {
        new == old
            || new.utf8.prefix { $0 != UInt8(ascii: "/") }.elementsEqual(old.utf8.prefix { $0 != UInt8(ascii: "/") })
    }

    private mutating func forgetOldest(_ change: inout Change) {
        guard boots.count >= bootsMax, let oldest = boots.values.min(by: { ($0.lastAt, $0.id) < ($1.lastAt, $1.id) })
        else { return }
        boots[oldest.id] = nil
        change.forgotten.append(oldest.id)
    }

    private func add(
        _ reason: HistoryGap.Reason, _ count: Int, after from: Int64, _ head: JournalHead, _ change: inout Change
    ) {
        let gap = HistoryGap(worker: head.worker, from: from, until: head.sentAt, reason: reason, count: count)
        change.gaps.append(NewGap(boot: head.bootID, gap: gap))
    }

    private mutating func set(_ boot: JournalBoot, _ change: inout Change) {
        boots[boot.id] = boot
        change.boots.append(boot.id)
    }

    /// Returns a gap for each running process whose last batch is older than `FleetView.silentSeconds`.
    ///
    /// - Parameter now: UNIX milliseconds.
    package func silences(at now: Int64) -> [HistoryGap] {
        boots.values.filter { $0.state == .running && now - $0.lastAt > Int64(FleetView.silentSeconds) * 1000 }
            .sorted { ($0.lastAt, $0.id) < ($1.lastAt, $1.id) }
            .map { HistoryGap(worker: $0.worker, from: $0.lastAt, until: now, reason: .silent) }
    }
}
