import EventLoop

/// A query to lanes, or to lanes and the consumer of registration commands. The query ends when all sources have
/// answered or the timeout has passed.
///
/// `@unchecked Sendable`: only the control loop uses the object.
final class LaneQuery<Answer: Sendable>: @unchecked Sendable {
    /// Timeout of a query.
    static var answerMillisecondsMax: Int { 1000 }

    private let loop: EventLoop
    private var answers: [Answer?]
    private var waiting: Int
    private var timer: TimerToken?
    /// The receiver of the answers; nil once the query has ended.
    private var completion: (([Answer?]) -> Void)?

    /// Sends the query. Calls `completion` with an answer for each source, which is nil if the source was skipped or
    /// has not answered in time.
    ///
    /// - Parameter sources: nil in place of a source to skip. Skip stalled lanes, because their loops would accumulate
    ///   queries.
    static func send<Source>(
        to sources: [Source?], on loop: EventLoop,
        _ request: (Source, @escaping @Sendable (Answer) -> Void) -> Void,
        then completion: @escaping ([Answer?]) -> Void
    ) {
        let query = LaneQuery(sources.map { $0 != nil }, on: loop, completion)
        guard query.waiting > 0 else { return query.end() }
        query.timer = loop.schedule(after: .milliseconds(answerMillisecondsMax)) { query.end() }
        for case (let index, let source?) in sources.enumerated() {
            request(source) { answer in loop.post { query.answered(answer, by: index) } }
        }
    }

    private init(_ areQueried: [Bool], on loop: EventLoop, _ completion: @escaping ([Answer?]) -> Void) {
        self.loop = loop
        self.completion = completion
        answers = areQueried.map { _ in nil }
        waiting = areQueried.count { $0 }
    }

    private func answered(_ answer: Answer, by source: Int) {
        guard completion != nil, answers[source] == nil else { return }
        answers[source] = answer
        waiting -= 1
        if waiting == 0 { end() }
    }

    private func end() {
        if let timer = timer.take() { loop.cancel(timer) }
        completion.take()?(answers)
    }
}
