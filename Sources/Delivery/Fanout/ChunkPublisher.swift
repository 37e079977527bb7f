import AMQP

/// A publisher of the children of a chunk. It stops at a child that is not confirmed, and when the lane leaves
/// (`LaneLifecycle.isLeaving`). It notifies the expander once the outcome of every publish is known.
///
/// Loop-bound.
final class ChunkPublisher {
    let record: DeliveryRecord
    let expansion: Expansion
    private(set) var progress: ChunkProgress
    /// The reason why a child can never be published; nil if there is no such child.
    private(set) var refusal: PublishRefusal?
    private let messages: ChildMessage
    private let expander: AudienceExpander
    private var isSending = false

    init(_ record: DeliveryRecord, _ expansion: Expansion, _ messages: ChildMessage, for expander: AudienceExpander) {
        (self.record, self.expansion, self.messages, self.expander) = (record, expansion, messages, expander)
        progress = ChunkProgress(count: expansion.chunk.children.count)
    }

    /// Publishes the next children. Notifies the expander if the chunk is finished.
    func publish() {
        // A publisher may report an outcome before `publish` returns.
        guard !isSending else { return }
        isSending = true
        if record.pipeline.lifecycle.isLeaving { progress.stop() }
        while let index = progress.publishNext() {
            publish(messages.message(for: expansion.chunk.children[index]), index, isReduced: false)
        }
        isSending = false
        if progress.isFinished { expander.chunkEnded(self) }
    }

    private func publish(_ message: OutgoingMessage, _ index: Int, isReduced: Bool) {
        record.pipeline.session.publisher.publish(
            message, ChildReceiver(index, of: self, isReduced: isReduced))
    }

    fileprivate func published(_ outcome: PublishOutcome, _ index: Int, isReduced: Bool) {
        switch outcome {
        case .confirmed: progress.confirmed(index)
        case .nacked, .returned, .notSent: progress.missed(index, mayBePublished: false)
        case .unknown: progress.missed(index, mayBePublished: true)
        case .refused(let refusal):
            var message = messages.message(for: expansion.chunk.children[index])
            if !isReduced, message.removeOptionalParts(for: refusal) {
                return publish(message, index, isReduced: true)
            }
            self.refusal = refusal
            progress.missed(index, mayBePublished: false)
        }
        publish()
    }
}

/// The receiver of the outcome of one child.
private final class ChildReceiver: PublishReceiver {
    private let index: Int
    private let chunk: ChunkPublisher
    private let isReduced: Bool

    init(_ index: Int, of chunk: ChunkPublisher, isReduced: Bool) {
        (self.index, self.chunk, self.isReduced) = (index, chunk, isReduced)
    }

    override func published(_ outcome: PublishOutcome) { chunk.published(outcome, index, isReduced: isReduced) }
}
