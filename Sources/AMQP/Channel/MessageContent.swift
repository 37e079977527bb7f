/// The body, exchange, routing key and property list of a message, in one array. A received message thus needs one
/// allocation. The parts are decoded on access.
package struct MessageContent: Sendable {
    /// The body, followed by the envelope: exchange, routing key and property list. An offset into the body is thus an
    /// offset into this array.
    package private(set) var bytes: [UInt8] = []
    /// The end of the body in `bytes`; 0 if `isOversized`.
    package private(set) var bodyEnd = 0
    private var exchangeEnd = 0
    private var routingKeyEnd = 0
    /// The size of the body in bytes, as the publisher sent it.
    package internal(set) var bodySize: UInt64 = 0
    /// Whether the body exceeds the limit and was discarded.
    package internal(set) var isOversized = false

    package init() {}

    /// Creates content from its parts.
    ///
    /// - Parameter envelope: exchange, routing key and property list, concatenated. The default is an empty property
    ///   list.
    package init(body: [UInt8], envelope: [UInt8] = [0, 0], exchangeBytes: Int = 0, routingKeyBytes: Int = 0) {
        bytes.reserveCapacity(body.count + envelope.count)
        bytes += body
        bodySize = UInt64(body.count)
        append(envelope: envelope, exchangeBytes: exchangeBytes, routingKeyBytes: routingKeyBytes)
    }

    /// Returns content with another body and the same envelope, in one allocation.
    ///
    /// - Parameters:
    ///   - bytesReserved: The number of bytes to reserve for the body.
    ///   - appendBody: Appends the body to an empty array.
    package func replacingBody(bytesReserved: Int, _ appendBody: (inout [UInt8]) -> Void) -> MessageContent {
        let envelope = bytes[bodyEnd...]
        var content = MessageContent()
        content.bytes.reserveCapacity(bytesReserved + envelope.count)
        appendBody(&content.bytes)
        content.bodySize = UInt64(content.bytes.count)
        content.append(
            envelope: envelope, exchangeBytes: exchangeEnd - bodyEnd, routingKeyBytes: routingKeyEnd - exchangeEnd)
        return content
    }

    package var body: ArraySlice<UInt8> { bytes[..<bodyEnd] }

    /// Calls `use` with the body. The pointer is valid only during the call.
    @inlinable package func withBody<Value, Failure>(
        _ use: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try bytes.withUnsafeBufferPointer { all throws(Failure) in
            try use(UnsafeRawBufferPointer(start: all.baseAddress, count: bodyEnd))
        }
    }

    package var exchange: String { String(decoding: bytes[bodyEnd..<exchangeEnd], as: UTF8.self) }
    package var routingKey: String { String(decoding: bytes[exchangeEnd..<routingKeyEnd], as: UTF8.self) }
    package var propertyList: ArraySlice<UInt8> { bytes[routingKeyEnd...] }
    package var properties: MessageProperties { MessageProperties(storage: bytes, start: routingKeyEnd) }

    /// Appends a part of the body. The first part reserves memory for `bodySize` and the envelope.
    mutating func append(body part: UnsafeRawBufferPointer, envelopeBytes: Int) {
        guard !part.isEmpty else { return }
        guard bytes.isEmpty else { return bytes.append(contentsOf: part) }
        bytes = [UInt8](unsafeUninitializedCapacity: Int(bodySize) + envelopeBytes) { space, count in
            UnsafeMutableRawBufferPointer(space).copyMemory(from: part)
            count = part.count
        }
    }

    /// Appends the envelope to the complete body.
    mutating func append(envelope: some Collection<UInt8>, exchangeBytes: Int, routingKeyBytes: Int) {
        bodyEnd = bytes.count
        exchangeEnd = bodyEnd + exchangeBytes
        routingKeyEnd = exchangeEnd + routingKeyBytes
        bytes.append(contentsOf: envelope)
    }
}
