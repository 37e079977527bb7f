import ControlProtocol
package import Crypto

/// The search for one request in messages of the journal. It performs no input or output.
package struct JournalTrace: Sendable, Hashable {
    package let id: UUIDValue
    /// The lines of the request, at most `HistoryLimits.linesPerRequestMax`.
    package private(set) var lines: [RequestLine] = []
    /// The gaps between the batches of a process, at most `gapsMax`, in the order of their batches.
    package private(set) var gaps: [HistoryGap] = []
    /// The number of batches that were read.
    package private(set) var batches = 0
    /// The number of messages that are no batches.
    package private(set) var malformed = 0
    /// The earliest and the latest time of a batch, by the clocks of the workers, in UNIX milliseconds; nil without a
    /// batch.
    package private(set) var times: ClosedRange<Int64>?
    private var sequences = JournalSequences(startsInMiddle: true)
    private var killed: [UUIDValue: HistoryGap] = [:]

    private static let gapsMax = 1000

    package init(_ id: UUIDValue) {
        self.id = id
    }

    /// Adds a message.
    package mutating func receive(_ body: [UInt8]) {
        guard let batch = try? JournalBatch(json: body) else {
            malformed += 1
            return
        }
        batches += 1
        let at = batch.head.sentAt
        times = times.map { min($0.lowerBound, at)...max($0.upperBound, at) } ?? at...at
        let change = sequences.receive(batch.head)
        guard !change.isRepeat else { return }
        for boot in change.revived { killed[boot] = nil }
        for new in change.gaps {
            if new.gap.reason == .killed {
                killed[new.boot] = new.gap
            } else if gaps.count < Self.gapsMax {
                gaps.append(new.gap)
            }
        }
        // A result without the text of the id need not be parsed.
        let text = id.withText { Array($0) }
        for line in batch.lines where lines.count < HistoryLimits.linesPerRequestMax {
            switch line {
            case .wait(let wait): if wait.id == id { lines.append(.wait(wait, worker: batch.head.worker)) }
            case .result(let body):
                guard contains(body, text), var result = ResultRecord(body), result.id == id else { continue }
                result.worker = result.worker ?? batch.head.worker
                lines.append(.result(result))
            case .dead: break
            }
        }
    }

    /// Returns whether the bytes contain the text, whose letters may be upper-case in the bytes.
    private func contains(_ bytes: [UInt8], _ text: [UInt8]) -> Bool {
        guard bytes.count >= text.count else { return false }
        return bytes.withUnsafeBufferPointer { bytes in
            (0...bytes.count - text.count).contains { start in
                // An id contains digits, lower-case letters and hyphens, which the bit 0x20 does not change.
                text.indices.allSatisfy { bytes[start + $0] | 0x20 == text[$0] }
            }
        }
    }

    package var steps: [RequestStep] { RequestSteps.steps(of: lines) }

    /// Returns ``gaps`` and the gaps of killed and silent processes, oldest first.
    ///
    /// - Parameter now: UNIX milliseconds.
    package func allGaps(at now: Int64) -> [HistoryGap] {
        (gaps + killed.values + sequences.silences(at: now)).sorted { ($0.from, $0.worker) < ($1.from, $1.worker) }
    }
}
