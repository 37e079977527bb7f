/// A state machine that assembles messages from frames. A message consists of a method that announces content, a
/// content header, and any number of body frames (AMQP 0-9-1, section 4.2.6).
///
///     idle ─▶ awaitingHeader ─▶ collecting or dropping ─▶ complete ─▶ idle
///
/// Without a body, `complete` follows `awaitingHeader`. Bodies above `bodyBytesMax` are discarded on arrival.
package struct ContentAssembler {
    package enum Step: Equatable {
        case incomplete
        /// Complete content, which `removeContent` returns.
        case complete
        /// A frame that is out of order or invalid.
        case violation
    }

    private enum State {
        case idle
        case awaitingHeader
        case collecting
        case dropping(bytesLeft: UInt64)
        case complete
    }

    /// The size in bytes above which an envelope buffer is released after its message.
    private static let keptEnvelopeBytesMax = 4096

    package let bodyBytesMax: Int
    private var state = State.idle
    /// The exchange, routing key and property list, kept until the body is complete.
    private var envelope: [UInt8] = []
    private var exchangeBytes = 0
    private var routingKeyBytes = 0
    private var content = MessageContent()

    package init(bodyBytesMax: Int) {
        self.bodyBytesMax = bodyBytesMax
    }

    /// Whether a message is incomplete or has not been removed yet.
    package var isBusy: Bool {
        switch state {
        case .idle: false
        case .awaitingHeader, .collecting, .dropping, .complete: true
        }
    }

    /// Starts a message after the method that announces it.
    package mutating func begin(exchange: UnsafeRawBufferPointer, routingKey: UnsafeRawBufferPointer) {
        assert(envelope.isEmpty)
        envelope.append(contentsOf: exchange)
        envelope.append(contentsOf: routingKey)
        exchangeBytes = exchange.count
        routingKeyBytes = routingKey.count
        state = .awaitingHeader
    }

    /// Handles a content header frame.
    package mutating func header(_ payload: UnsafeRawBufferPointer) -> Step {
        guard case .awaitingHeader = state else { return .violation }
        var reader = WireReader(payload)
        guard reader.short() == 60, reader.short() != nil, let size = reader.longLong() else { return .violation }
        envelope.append(contentsOf: reader.rest)
        content.bodySize = size
        content.isOversized = size > UInt64(bodyBytesMax)
        if size == 0 { return complete() }
        state = content.isOversized ? .dropping(bytesLeft: size) : .collecting
        return .incomplete
    }

    /// Handles a content body frame.
    package mutating func body(_ payload: UnsafeRawBufferPointer) -> Step {
        switch state {
        case .idle, .awaitingHeader, .complete:
            return .violation
        case .dropping(let bytesLeft):
            guard payload.count <= bytesLeft else { return .violation }
            state = .dropping(bytesLeft: bytesLeft - UInt64(payload.count))
            guard payload.count == bytesLeft else { return .incomplete }
        case .collecting:
            let size = Int(content.bodySize)
            guard content.bytes.count + payload.count <= size else { return .violation }
            content.append(body: payload, envelopeBytes: envelope.count)
            guard content.bytes.count == size else { return .incomplete }
        }
        return complete()
    }

    private mutating func complete() -> Step {
        content.append(envelope: envelope, exchangeBytes: exchangeBytes, routingKeyBytes: routingKeyBytes)
        envelope.removeAll(keepingCapacity: envelope.count <= Self.keptEnvelopeBytesMax)
        state = .complete
        return .complete
    }

    /// Removes and returns the complete content. The next message may begin.
    package mutating func removeContent() -> MessageContent {
        state = .idle
        // A swap avoids reference counting.
        var removed = MessageContent()
        swap(&removed, &content)
        return removed
    }

    /// Discards an incomplete message after the loss of the channel.
    package mutating func reset() {
        state = .idle
        envelope.removeAll()
        content = MessageContent()
    }
}
