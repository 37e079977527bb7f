package import Crypto
package import JSON
import Text

/// A worker's reply to a command.
package struct FleetReply: Sendable, Hashable {
    package enum Outcome: String, Sendable, CaseIterable {
        case done
        /// The worker has run too many commands in the last second.
        case busy
        /// The worker does not know the action.
        case unsupported
        case failed
    }

    /// The id of the command.
    package var id: UUIDValue
    package var worker: String
    package var outcome: Outcome
    /// The effect of the command, or the reason for its failure. A failure requires a sentence.
    package var sentence: String?
    /// The number of probed breakers, of all lanes.
    package var probed: Int?
    /// The full status.
    package var status: WorkerStatus?
    /// The elements that the status omits because the reply would be too large.
    package private(set) var dropped: [DroppedElements] = []

    package init(
        to id: UUIDValue, from worker: String, _ outcome: Outcome, _ sentence: String? = nil,
        probed: Int? = nil, status: WorkerStatus? = nil
    ) {
        self.id = id
        self.worker = worker
        self.outcome = outcome
        self.sentence = sentence
        self.probed = probed
        self.status = status
    }
}

extension FleetReply {
    /// The property `type` of the message, and its member of the same name.
    package static let type = "push.reply.v1"

    private static let format = FleetFormat(
        type: type, name: "a reply", bytesMax: FleetLimits.replyBytesMax,
        codec: ObjectCodec(
            "a reply", from: Self(to: UUIDValue(high: 0, low: 0), from: "-", .done), ignoresUnknown: true,
            [
                .required("id", \.id, .uuid),
                .required("worker", \.worker, .printable(bytesMax: FleetLimits.workerBytesMax)),
                .required("outcome", \.outcome, .word),
                .optional("sentence", \.sentence, .printable(bytesMax: FleetLimits.sentenceBytesMax)),
                .optional("probed", \.probed, .int(0...FleetLimits.breakersMax)),
                .optional("status", \.status, WorkerStatus.codec.value),
                .member("dropped", \.dropped, .list(of: DroppedElements.codec.value, "an omission"), omitting: []),
            ],
            check: { reply, members throws(InputError) in
                guard reply.outcome != .failed || reply.sentence != nil else {
                    throw members.error("sentence", "is required for a failed command")
                }
            }))

    /// Reads a reply.
    ///
    /// - Throws: an error that states why the reply is invalid.
    package init(json bytes: [UInt8]) throws(InputError) { self = try Self.format.read(bytes) }

    /// The reply as JSON, with at most ``FleetLimits/replyBytesMax`` bytes. The lists of a larger status are shortened,
    /// first the lanes, and ``dropped`` contains the numbers of omitted elements. The sentence is made printable and
    /// cut.
    package var json: [UInt8] {
        var reply = self
        reply.sentence = sentence?.printable.cut(to: FleetLimits.sentenceBytesMax)
        if var status, !fits(status) {
            let lists: [DroppableList<WorkerStatus>] = [
                .list("lanes_leaving", \.retiredLanes), .list("lanes", \.lanes),
            ]
            status.shortenTexts()
            reply.dropped = DroppableList.shorten(
                &status, lists + WorkerStatus.detailLists + WorkerStatus.stateLists, until: fits)
            reply.status = status
        }
        return Self.format.write(reply)
    }

    private func fits(_ status: WorkerStatus) -> Bool {
        status.json.count + DroppedElements.bytesMax + Self.ownBytesMax <= FleetLimits.replyBytesMax
    }

    /// Maximum size of a reply without its status, with an escape of six bytes for each byte of a text.
    private static let ownBytesMax = 6 * (FleetLimits.workerBytesMax + FleetLimits.sentenceBytesMax) + 512
}
