/// What a message consists of. All of it stands in one array, so that a message that came takes one allocation: body,
/// exchange, routing key and property list, read when they are asked for.
package struct MessageContent: Sendable {
    /// The body comes first, so that places in it are places here.
    package private(set) var bytes: [UInt8] = []
    /// 0 when `isOversized`.
    package private(set) var bodyEnd = 0
    private var exchangeEnd = 0
    private var routingKeyEnd = 0
    /// The size of the body in bytes, as the publisher sent it.
    package internal(set) var bodySize: UInt64 = 0
    /// The body exceeds the limit and was not kept.
    package internal(set) var isOversized = false

    package init() {}

    /// - Parameter envelope: exchange, routing key and property list, one after the other; an empty property list
    ///   unless one is given.
    package init(body: [UInt8], envelope: [UInt8] = [0, 0], exchangeBytes: Int = 0, routingKeyBytes: Int = 0) {
        bytes.reserveCapacity(body.count + envelope.count)
        bytes += body
        bodySize = UInt64(body.count)
        append(envelope: envelope, exchangeBytes: exchangeBytes, routingKeyBytes: routingKeyBytes)
    }

    package var body: ArraySlice<UInt8> { bytes[..<bodyEnd] }

    /// The pointer is valid in `use` alone.
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

    /// A part of the body, which is of `bodySize` in all.
    mutating func append(body part: UnsafeRawBufferPointer, envelopeBytes: Int) {
        guard !part.isEmpty else { return }
        guard bytes.isEmpty else { return bytes.append(contentsOf: part) }
        bytes = [UInt8](unsafeUninitializedCapacity: Int(bodySize) + envelopeBytes) { space, count in
            UnsafeMutableRawBufferPointer(space).copyMemory(from: part)
            count = part.count
        }
    }

    /// Once the body is complete.
    mutating func append(envelope: [UInt8], exchangeBytes: Int, routingKeyBytes: Int) {
        bodyEnd = bytes.count
        exchangeEnd = bodyEnd + exchangeBytes
        routingKeyEnd = exchangeEnd + routingKeyBytes
        bytes.append(contentsOf: envelope)
    }
}
