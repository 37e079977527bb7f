import ControlProtocol
import Crypto
import JSON

/// The conversion of the journal's messages into rows and counts. It performs no input or output.
struct HistoryFold {
    private(set) var changes = HistoryChanges()
    private(set) var sequences: JournalSequences
    private let tombstones: HistoryTombstones
    private let hasher: HistoryHasher
    private let parser: JSONParser
    private let times: ClosedRange<Int64>

    /// - Parameter now: UNIX milliseconds. Counts clamp later times to `now`, and times older than
    ///   `HistoryLimits.countsMilliseconds` to that age.
    init(
        _ sequences: JournalSequences, _ tombstones: HistoryTombstones, _ hasher: HistoryHasher, _ parser: JSONParser,
        at now: Int64, _ limits: HistoryLimits
    ) {
        self.sequences = sequences
        self.tombstones = tombstones
        self.hasher = hasher
        self.parser = parser
        times = max(0, now - limits.countsMilliseconds)...now
    }

    /// Adds a message.
    ///
    /// - Parameter storesRows: whether its rows are not in a segment yet.
    mutating func add(_ body: [UInt8], storesRows: Bool) throws(CryptoError) {
        guard let batch = try? JournalBatch(json: body) else {
            changes.malformedBatches += 1
            return
        }
        changes.lastBatchAt = batch.head.sentAt
        let change = sequences.receive(batch.head)
        guard !change.isRepeat else {
            changes.repeatedBatches += 1
            return
        }
        changes.sequences.append(change)
        changes.ignoredLines += batch.ignoredLines
        for line in batch.lines { try add(line, batch.head, storesRows) }
    }

    private mutating func add(_ line: JournalLine, _ head: JournalHead, _ storesRows: Bool) throws(CryptoError) {
        switch line {
        case .result(let body):
            guard var result = ResultRecord(body, parser) else {
                changes.ignoredLines += 1
                return
            }
            result.worker = result.worker ?? head.worker
            try add(.result(result), storesRows)
            count(result)
        case .wait(let wait):
            try add(.wait(wait, worker: head.worker), storesRows)
            if try !isErased(wait.id, nil, nil, at: wait.at) { changes.waits[wait.id] = .some(wait) }
        case .dead(let sample): if storesRows { try add(sample) }
        }
    }

    private mutating func add(_ line: RequestLine, _ storesRows: Bool) throws(CryptoError) {
        guard storesRows else { return }
        var indexed = IndexedLine(line: line)
        if let token = line.deviceToken { indexed.token = try hasher.key(token: token) }
        if let user = line.user { indexed.user = try hasher.key(user: user) }
        if try isErased(line.id, indexed.token, indexed.user, at: line.at) {
            changes.erasedLines += 1
        } else {
            changes.lines.append(indexed)
        }
    }

    private mutating func add(_ sample: JournalSample) throws(CryptoError) {
        let cause = DeadLetterCause(
            failureClass: sample.failureClass, code: sample.code, app: sample.app, path: sample.path)
        var indexed = IndexedSample(sample: sample, group: try hasher.group(cause.parts))
        let (token, user) = subjects(of: sample)
        if let token { indexed.token = try hasher.key(token: token) }
        if let user { indexed.user = try hasher.key(user: user) }
        let isNamed = indexed.token != nil && indexed.user != nil
        let isErased = try isErased(sample.id, indexed.token, indexed.user, at: sample.at)
        if isErased || !isNamed && tombstones.coversUnnamedSample(at: sample.at) {
            changes.erasedLines += 1
        } else {
            changes.samples.append(indexed)
        }
    }

    /// Returns the token and the user in the body of a sample; nil if the body is unreadable or lacks them. The user is
    /// also nil if the body lists several users.
    private func subjects(of sample: JournalSample) -> (token: String?, user: String?) {
        guard let root = try? parser.parse(sample.body) else { return (nil, nil) }
        let user = root["users"] == nil ? root["user"] : nil
        return (root["device_token"]?.text(JournalLimits.tokenBytesMax), user?.text(JournalLimits.userBytesMax))
    }

    private func isErased(
        _ id: UUIDValue?, _ token: HistoryKey?, _ user: HistoryKey?, at time: Int64
    ) throws(CryptoError) -> Bool {
        guard !tombstones.isEmpty else { return false }
        if tombstones.covers(token, at: time) || tombstones.covers(user, at: time) { return true }
        guard let id else { return false }
        return tombstones.covers(try hasher.key(id: id), at: time)
    }

    private mutating func count(_ result: ResultRecord) {
        // A request without an earlier round had no wait.
        if let id = result.id, result.attempts > 1 || !result.history.isEmpty { changes.waits[id] = .some(nil) }
        guard !result.isDuplicate else { return }
        let at = min(max(result.finishedAt, times.lowerBound), times.upperBound)
        let outcome = ResultRecord.outcomes.firstIndex(of: result.outcome) ?? 0
        changes.minutes[
            HistoryChanges.Minute(
                minute: at / 60_000, app: result.app ?? "", outcome: outcome, code: result.code ?? ""), default: 0] += 1
        if outcome == 0, let app = result.app { changes.accepted[app] = max(at, changes.accepted[app] ?? at) }
        guard let cause = DeadLetterCause(result), let number = try? hasher.group(cause.parts) else { return }
        changes.groups[number, default: HistoryChanges.Group(cause: cause)].add(at)
    }
}

extension HistoryChanges.Group {
    fileprivate mutating func add(_ at: Int64) {
        hours[at / 3_600_000, default: 0] += 1
        firstAt = min(firstAt, at)
        lastAt = max(lastAt, at)
    }
}
