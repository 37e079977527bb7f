/// A step of a request from its publication to its result.
package struct RequestStep: Sendable, Hashable {
    package enum Event: String, Sendable, Hashable, CaseIterable {
        /// The publication by the producer, by the producer's clock.
        case published
        /// The delivery to a worker that led to a result.
        case delivered
        case attempt
        case waits
        case result
    }

    /// The time, in UNIX milliseconds.
    package var at: Int64
    package var event: Event
    package var code: String?
    /// A text for operators. It may contain characters that control a terminal.
    package var text: String
    package var queue: String?
    package var worker: String?
    /// The end of a wait, in UNIX milliseconds.
    package var until: Int64?
    /// The number of equal steps that this step represents, if more than one.
    package var rounds: Int?

    package init(
        at: Int64, event: Event, code: String? = nil, text: String, queue: String? = nil, worker: String? = nil,
        until: Int64? = nil, rounds: Int? = nil
    ) {
        self.at = at
        self.event = event
        self.code = code
        self.text = text
        self.queue = queue
        self.worker = worker
        self.until = until
        self.rounds = rounds
    }
}
