/// Puts messages together from their frames: a method that announces content, its header, its body in any number of
/// frames (AMQP 0-9-1, section 4.2.6).
///
///     idle ─▶ awaitingHeader ─▶ collecting or dropping ─▶ idle
///
/// Bodies above `bodyBytesMax` are dropped as they come.
package struct ContentAssembler {
    package enum Step: Equatable {
        case incomplete
        /// `take` gives the content.
        case complete
        /// The frame must not come here.
        case violation
    }

    package struct Content {
        /// Exchange, routing key and property list, one after the other.
        package var envelope: [UInt8] = []
        package var exchangeEnd = 0
        package var routingKeyEnd = 0
        /// Empty when it exceeds the limit.
        package var body: [UInt8] = []
        package var bodySize: UInt64 = 0
        package var isOversized = false

        package var exchange: String { String(decoding: envelope[..<exchangeEnd], as: UTF8.self) }
        package var routingKey: String { String(decoding: envelope[exchangeEnd..<routingKeyEnd], as: UTF8.self) }
        package var propertyList: ArraySlice<UInt8> { envelope[routingKeyEnd...] }
        package var properties: MessageProperties { MessageProperties(storage: envelope, start: routingKeyEnd) }
    }

    private enum State {
        case idle
        case awaitingHeader
        case collecting
        case dropping(bytesLeft: UInt64)
        case complete
    }

    package let bodyBytesMax: Int
    private var state = State.idle
    /// Exchange and routing key until the header comes and all fits one array of the right size.
    private var route: [UInt8] = []
    private var content = Content()

    package init(bodyBytesMax: Int) {
        self.bodyBytesMax = bodyBytesMax
    }

    /// Whether frames of content are awaited; a method in between is a violation.
    package var isBusy: Bool {
        switch state {
        case .idle: false
        case .awaitingHeader, .collecting, .dropping, .complete: true
        }
    }

    /// A method has announced content.
    package mutating func begin(exchange: UnsafeRawBufferPointer, routingKey: UnsafeRawBufferPointer) {
        route.removeAll(keepingCapacity: true)
        route.append(contentsOf: exchange)
        route.append(contentsOf: routingKey)
        content.exchangeEnd = exchange.count
        content.routingKeyEnd = route.count
        state = .awaitingHeader
    }

    /// A content header frame.
    package mutating func header(_ payload: UnsafeRawBufferPointer) -> Step {
        guard case .awaitingHeader = state else { return .violation }
        var reader = WireReader(payload)
        guard reader.short() == 60, reader.short() != nil, let size = reader.longLong() else { return .violation }
        let properties = reader.rest
        var envelope: [UInt8] = []
        envelope.reserveCapacity(route.count + properties.count)
        envelope.append(contentsOf: route)
        envelope.append(contentsOf: properties)
        content.envelope = envelope
        content.bodySize = size
        content.isOversized = size > UInt64(bodyBytesMax)
        if size == 0 {
            state = .complete
            return .complete
        }
        state = content.isOversized ? .dropping(bytesLeft: size) : .collecting
        return .incomplete
    }

    /// A content body frame.
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
            guard content.body.count + payload.count <= size else { return .violation }
            if payload.count == size {
                content.body = [UInt8](payload)
            } else {
                if content.body.isEmpty { content.body.reserveCapacity(size) }
                content.body.append(contentsOf: payload)
            }
            guard content.body.count == size else { return .incomplete }
        }
        state = .complete
        return .complete
    }

    /// The content that is complete; the next may begin.
    package mutating func take() -> Content {
        state = .idle
        // Swapped, so that no reference is counted.
        var taken = Content()
        swap(&taken, &content)
        return taken
    }

    /// The channel is gone.
    package mutating func reset() {
        state = .idle
        content = Content()
    }
}
