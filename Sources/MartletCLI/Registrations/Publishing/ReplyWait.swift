import AMQP
import EventLoop

/// The wait for the reply to one command at a time. Loop-bound.
final class ReplyWait: ConsumerHandler {
    enum Answer: Equatable {
        /// The body of the reply.
        case reply([UInt8])
        /// The loss of the channel, and of the reply with the channel.
        case lost
        case timedOut
    }

    private enum State {
        /// To: expecting.
        case idle
        /// To: waiting, answered.
        case expecting(correlationID: String)
        /// To: idle.
        case waiting(correlationID: String, UnsafeContinuation<Answer, Never>)
        /// To: idle, expecting.
        case answered(Answer)
    }

    private let loop: EventLoop
    private var state = State.idle

    init(on loop: EventLoop) { self.loop = loop }

    /// Expects a reply. Call this function before the command is published.
    func expect(_ correlationID: String) { state = .expecting(correlationID: correlationID) }

    /// Waits for the expected reply.
    func answer(withinSeconds seconds: Int) async -> Answer {
        let timer = loop.schedule(after: .seconds(seconds)) { [self] in end(.timedOut) }
        defer { loop.cancel(timer) }
        return await withUnsafeContinuation { continuation in
            switch state {
            case .expecting(let id): state = .waiting(correlationID: id, continuation)
            case .answered(let answer):
                state = .idle
                continuation.resume(returning: answer)
            case .idle, .waiting: preconditionFailure("a reply must be expected, and no other task may wait for it")
            }
        }
    }

    override func delivered(_ message: consuming IncomingMessage) {
        let (id, body) = (message.properties.correlationID, message.body)
        switch state {
        case .expecting(let expected) where expected == id, .waiting(let expected, _) where expected == id:
            end(.reply(body))
        case .idle, .expecting, .waiting, .answered: break
        }
    }

    override func channelLost() { end(.lost) }

    private func end(_ answer: Answer) {
        switch state {
        case .expecting: state = .answered(answer)
        case .waiting(_, let continuation):
            state = .idle
            continuation.resume(returning: answer)
        case .idle, .answered: break
        }
    }
}
