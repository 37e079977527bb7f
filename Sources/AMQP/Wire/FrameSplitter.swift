/// A frame of AMQP 0-9-1 (section 4.2.3). The payload is valid until the next call of `FrameSplitter.next`, but no
/// longer than the memory of that function's input.
package struct Frame {
    package enum Kind: UInt8 {
        case method = 1
        case contentHeader = 2
        case contentBody = 3
        case heartbeat = 8
    }

    package static let headerBytes = 7
    package static let endByte: UInt8 = 0xCE
    /// The size of a frame without its payload, in bytes.
    package static let overheadBytes = headerBytes + 1

    package var kind: Kind
    package var channel: UInt16
    package var payload: UnsafeRawBufferPointer
}

/// A parser that splits a byte stream into frames. A frame that arrives in one piece is not copied.
///
/// The parser replaces librabbitmq's `amqp_handle_input`. That function copies each frame into memory that only grows,
/// and allocates a pool for every channel number that a peer sends. The function also decodes header tables recursively
/// without a depth limit.
package struct FrameSplitter: ~Copyable {
    /// The frame limit in bytes, including the overhead. Longer frames are refused.
    package var frameBytesMax: Int {
        didSet { frameBytesMax = max(frameBytesMax, Frame.overheadBytes) }
    }
    /// The beginning of an incomplete frame.
    private var partial: UnsafeMutableRawBufferPointer
    private var partialCount = 0

    package init(frameBytesMax: Int) {
        self.frameBytesMax = max(frameBytesMax, Frame.overheadBytes)
        partial = .allocate(byteCount: 4096, alignment: 16)
    }

    deinit {
        partial.deallocate()
    }

    /// Removes one frame from the front of `input`. If the frame is incomplete, buffers `input` and returns nil.
    ///
    /// Throws if the bytes are not a frame, or the frame exceeds the limit. After an error, the stream cannot be read
    /// further.
    package mutating func next(_ input: inout UnsafeRawBufferPointer) throws(AMQPError) -> Frame? {
        guard partialCount > 0 else {
            guard input.count >= Frame.headerBytes else { return keep(&input, upTo: Frame.headerBytes) }
            let length = try frameLength(input)
            guard input.count >= length else { return keep(&input, upTo: length) }
            return try frame(splitOff(&input, length))
        }
        if partialCount < Frame.headerBytes {
            _ = keep(&input, upTo: Frame.headerBytes)
            guard partialCount == Frame.headerBytes else { return nil }
        }
        let length = try frameLength(UnsafeRawBufferPointer(rebasing: partial[..<partialCount]))
        _ = keep(&input, upTo: length)
        guard partialCount == length else { return nil }
        partialCount = 0
        return try frame(UnsafeRawBufferPointer(rebasing: partial[..<length]))
    }

    /// Returns the length of the frame that begins with `bytes`, including the overhead.
    private func frameLength(_ bytes: UnsafeRawBufferPointer) throws(AMQPError) -> Int {
        guard Frame.Kind(rawValue: bytes[0]) != nil else {
            let text =
                ForeignProtocol(firstBytes: bytes)?.text ?? "the broker sent bytes that are not an AMQP 0-9-1 frame"
            throw AMQPError(.protocolViolation, text, isRetriable: false)
        }
        let payload = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 3, as: UInt32.self))
        guard UInt64(payload) + UInt64(Frame.overheadBytes) <= UInt64(frameBytesMax) else {
            throw AMQPError(.protocolViolation, "the broker sent a frame longer than \(frameBytesMax) bytes")
        }
        return Int(payload) + Frame.overheadBytes
    }

    private func frame(_ bytes: UnsafeRawBufferPointer) throws(AMQPError) -> Frame {
        guard bytes[bytes.count - 1] == Frame.endByte, let kind = Frame.Kind(rawValue: bytes[0]) else {
            throw AMQPError(.protocolViolation, "the broker sent a frame without its end byte")
        }
        return Frame(
            kind: kind, channel: UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt16.self)),
            payload: UnsafeRawBufferPointer(rebasing: bytes[Frame.headerBytes..<(bytes.count - 1)]))
    }

    private func splitOff(_ input: inout UnsafeRawBufferPointer, _ count: Int) -> UnsafeRawBufferPointer {
        let front = UnsafeRawBufferPointer(rebasing: input[..<count])
        input = UnsafeRawBufferPointer(rebasing: input[count...])
        return front
    }

    /// Moves bytes from `input` to the partial frame, until the partial frame has `length` bytes or `input` is empty.
    /// Returns nil.
    private mutating func keep(_ input: inout UnsafeRawBufferPointer, upTo length: Int) -> Frame? {
        if length > partial.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 16)
            larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: partial[..<partialCount]))
            partial.deallocate()
            partial = larger
        }
        let count = min(input.count, length - partialCount)
        UnsafeMutableRawBufferPointer(rebasing: partial[partialCount..<(partialCount + count)])
            .copyMemory(from: splitOff(&input, count))
        partialCount += count
        return nil
    }
}
