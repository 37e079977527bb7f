package import Crypto
package import JSON

/// A worker's report to the consoles and commands of a fleet. It contains the status without lanes, and the state of
/// fleet control.
package struct FleetReport: Sendable, Hashable {
    /// A random identity of the worker's process. A restarted worker may have the name of the previous process.
    package var bootID: UUIDValue
    /// The number of the report, which increases with each report of the process.
    package var sequence: Int
    /// The worker's wall clock, in UNIX milliseconds.
    package var sentAt: Int64
    /// Whether this is the last report of the process, after its drain.
    package var hasEnded: Bool
    /// The last record of pauses that all lanes have applied; nil if they have applied none.
    package var pauses: PauseRevision?
    /// The number of the worker's lanes.
    package private(set) var laneCount = 0
    /// The number of the worker's consumers of all queues.
    package private(set) var consumers = 0
    /// The worker's consumers by queue.
    package private(set) var consumedQueues: [ConsumedQueue] = []
    /// The status without lanes.
    package private(set) var status: WorkerStatus
    /// The elements that the report omits because the report would be too large.
    package private(set) var dropped: [DroppedElements] = []

    /// A queue from which the worker consumes.
    package struct ConsumedQueue: Sendable, Hashable {
        package var name: String
        package var consumers: Int
    }

    /// Creates a report, and counts the consumers in the lanes of the status.
    package init(
        _ status: WorkerStatus, bootID: UUIDValue, sequence: Int, sentAt: Int64, hasEnded: Bool = false,
        pauses: PauseRevision? = nil
    ) {
        self.bootID = bootID
        self.sequence = sequence
        self.sentAt = sentAt
        self.hasEnded = hasEnded
        self.pauses = pauses
        self.status = status
        laneCount = status.lanes.count
        // A lane that wants no requests, such as a paused lane, has canceled its consumers.
        let lanes = (status.lanes + status.retiredLanes).compactMap(\.report).filter(\.wantsRequests)
        for queue in lanes.flatMap(\.queues) where queue.isConsumed {
            consumers += 1
            if let known = consumedQueues.firstIndex(where: { $0.name == queue.name }) {
                consumedQueues[known].consumers += 1
            } else {
                consumedQueues.append(ConsumedQueue(name: queue.name, consumers: 1))
            }
        }
        (self.status.lanes, self.status.retiredLanes) = ([], [])
    }

    package var worker: String { status.worker }
}

extension FleetReport {
    /// The property `type` of the message, and its member of the same name.
    package static let type = "push.status.v1"

    private static let format = FleetFormat(
        type: type, name: "a report", bytesMax: FleetLimits.reportBytesMax,
        codec: ObjectCodec(
            "a report",
            from: Self(WorkerStatus(worker: "-"), bootID: UUIDValue(high: 0, low: 0), sequence: 0, sentAt: 0),
            ignoresUnknown: true,
            [
                .required("boot_id", \.bootID, .uuid),
                .required("sequence", \.sequence, .int(0...FleetLimits.numberMax)),
                .required("sent_at", \.sentAt, .int(FleetLimits.times)),
                .member("ended", \.hasEnded, .bool),
                .optional("pauses", \.pauses, PauseRevision.codec.value),
                .member("lanes", \.laneCount, .int(0...FleetLimits.consumersMax)),
                .member("consumers", \.consumers, .int(0...FleetLimits.consumersMax)),
                .member("consumed_queues", \.consumedQueues, .list(of: ConsumedQueue.codec.value, "a queue")),
                .required("status", \.status, WorkerStatus.codecWithoutLanes.value),
                .member("dropped", \.dropped, .list(of: DroppedElements.codec.value, "an omission"), omitting: []),
            ], check: check))

    private static let check: ObjectCodec<Self>.Check = { report, members throws(InputError) in
        guard report.worker.isPrintable(bytesMax: FleetLimits.workerBytesMax) else {
            throw members.error(
                "worker", "must be a text of 1 to \(FleetLimits.workerBytesMax) bytes without control characters")
        }
        // A list of empty objects needs far more memory than JSON.
        guard report.elementCount <= FleetLimits.reportElementsMax else {
            throw members.error(
                "the lists of a report must have at most \(FleetLimits.reportElementsMax) elements in total")
        }
    }

    var elementCount: Int { status.elementCount + consumedQueues.count + dropped.count }

    /// Returns an estimate of the memory of the report.
    ///
    /// - Parameter byteCount: the size of its JSON.
    func memoryBytes(ofJSON byteCount: Int) -> Int { 1024 + 2 * byteCount + 64 * elementCount }

    /// Reads a report.
    ///
    /// - Throws: an error that states why the report is invalid.
    package init(json bytes: [UInt8]) throws(InputError) { self = try Self.format.read(bytes) }

    /// The report as JSON, with at most ``FleetLimits/reportBytesMax`` bytes. The lists of a larger report are
    /// shortened, first `WorkerStatus.detailLists`, last `WorkerStatus.stateLists`. The member `dropped` then contains
    /// the numbers of omitted elements.
    package var json: [UInt8] { Self.format.write(shortened()) }

    private func shortened() -> FleetReport {
        guard !fits else { return self }
        var report = self
        let details = WorkerStatus.detailLists.map { $0.lifted(to: \Self.status) }
        let state = WorkerStatus.stateLists.map { $0.lifted(to: \Self.status) }
        report.status.shortenTexts()
        report.dropped = DroppableList.shorten(
            &report, details + [.list("consumed_queues", \.consumedQueues)] + state, until: \.fits)
        return report
    }

    private var fits: Bool {
        elementCount + DroppedElements.listsMax <= FleetLimits.reportElementsMax
            && Self.format.write(self).count + DroppedElements.bytesMax <= FleetLimits.reportBytesMax
    }
}

extension FleetReport.ConsumedQueue {
    fileprivate static let codec = ObjectCodec(
        "a queue", from: Self(name: "-", consumers: 0), ignoresUnknown: true,
        [
            .required("name", \.name, .text(0...FleetLimits.queueBytesMax)),
            .required("consumers", \.consumers, .int(0...FleetLimits.consumersMax)),
        ])
}
