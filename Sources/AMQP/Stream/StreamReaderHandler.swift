/// The base class of the receivers of a stream reader's messages and events.
///
/// A reader calls `position`, then `attached`, then `received` for each message, then `detached`. This sequence repeats
/// after each loss of the connection, the channel or the stream. If the broker refuses the reader, or the channel is
/// lost before `attached`, the reader calls `position` again. It does not call `detached`. `statusChanged` reports
/// every failure.
///
/// The reader retains its handler from `start` until the status `closed` was reported. Every method is called on the
/// loop's thread.
open class StreamReaderHandler: SessionHandler {
    /// Returns the position for the `basic.consume` that follows immediately.
    open func position() -> StreamPosition { .next }

    /// Handles the broker's answer to `basic.consume`.
    open func attached() {}

    /// Handles a message, which counts as acknowledged when this function returns.
    open func received(_ message: consuming StreamMessage) {}

    /// Handles the end of the consumer. The cause is the loss of the connection or channel, the loss of the stream or
    /// its replica, or the close of the reader. The reader calls this method once for each call of `attached`.
    open func detached(_ reason: AMQPError) {}
}
