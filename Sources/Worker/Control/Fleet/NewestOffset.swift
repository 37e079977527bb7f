import AMQP
import EventLoop

/// A reader that learns the offset of the newest record of a stream. Runs on the control loop.
///
/// The broker delivers the last chunk of the stream, which may contain several records. The offset is known once no
/// further record has arrived for a second.
final class NewestOffset: StreamReaderHandler {
    private static let quietMilliseconds: Int64 = 1000

    private let loop: EventLoop
    private let completion: (Int64) -> Void
    private var newest: Int64?
    private var timer: TimerToken?

    /// - Parameter completion: receives the offset, and again the offset of later records.
    init(on loop: EventLoop, _ completion: @escaping (Int64) -> Void) {
        (self.loop, self.completion) = (loop, completion)
    }

    override func position() -> StreamPosition { .last }

    override func received(_ message: consuming StreamMessage) {
        newest = message.offset
        if let timer { loop.cancel(timer) }
        timer = loop.schedule(after: .milliseconds(Self.quietMilliseconds)) { [self] in
            timer = nil
            if let newest { completion(newest) }
        }
    }

    override func detached(_ reason: AMQPError) {
        newest = nil
        if let timer = timer.take() { loop.cancel(timer) }
    }
}
