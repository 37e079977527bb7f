import CRabbitMQ
import EventLoop

/// A writer of frames into the output buffer of the socket.
struct FrameWriter: ~Copyable {
    /// The size of a method frame before its arguments, in bytes: frame header and method number.
    private static let methodHeaderBytes = Frame.headerBytes + 4
    /// The size of a content header frame before the property list, in bytes: frame header, class, weight, body size.
    private static let contentHeaderBytes = Frame.headerBytes + 12
    private static let basicClass: UInt16 = 60
    static let protocolHeader: [UInt8] = Array("AMQP".utf8) + [0, 0, 9, 1]

    var output: OutputBuffer
    let pool = EncodingPool()
    /// The agreed frame limit in bytes, including the overhead; `Handshake.frameBytesMin` before the agreement.
    var frameBytesMax = Int(Handshake.frameBytesMin)

    init(outputBytesMax: Int) {
        output = OutputBuffer(bytesMax: outputBytesMax, initialCapacity: 16 * 1024)
    }

    mutating func protocolHeader() {
        Self.protocolHeader.withUnsafeBytes { output.append($0) }
    }

    mutating func heartbeat() {
        output.append(upTo: Frame.overheadBytes) { space in
            Self.finish(space, kind: .heartbeat, channel: 0, end: Frame.headerBytes)
        }
    }

    /// Writes a method whose arguments need at most `argumentBytesMax` bytes. Returns false if the arguments cannot be
    /// encoded or do not fit into one frame.
    ///
    /// - Parameter arguments: librabbitmq's structure for the method.
    @discardableResult
    mutating func frame<Arguments>(
        _ id: amqp_method_number_t, _ arguments: Arguments, _ channel: UInt16, argumentBytesMax: Int
    ) -> Bool {
        var written = 0
        output.append(upTo: min(Self.methodHeaderBytes + argumentBytesMax + 1, frameBytesMax)) { space in
            written = Self.encode(id, arguments, channel: channel, into: space) ?? 0
            return written
        }
        return written > 0
    }

    /// Writes `basic.publish`, the content header and the body. Returns the size of the frames in bytes.
    ///
    /// Throws and writes nothing if the message cannot be published.
    ///
    /// - Parameter userID: the property `user-id`, of at most 255 bytes.
    mutating func publish(
        _ message: OutgoingMessage, channel: UInt16, userID: String? = nil
    ) throws(PublishRefusal) -> Int {
        let propertyBytesMax = message.propertyBytesMax + (userID.map { 1 + $0.utf8.count } ?? 0)
        let stringBytesMax = propertyBytesMax + message.exchange.utf8.count + message.routingKey.utf8.count
        // If the sum of all lengths is within the limit, each string is, too.
        guard stringBytesMax <= UInt8.max || message.hasShortStrings else { throw .shortStringTooLong }
        guard Self.contentHeaderBytes + propertyBytesMax < frameBytesMax else { throw .headersTooLarge }
        let methodBytesMax = Self.methodHeaderBytes + 6 + message.exchange.utf8.count + message.routingKey.utf8.count
        let chunk = frameBytesMax - Frame.overheadBytes
        let bodyFrames = (message.content.count + chunk - 1) / chunk
        let bytesMax =
            methodBytesMax + Self.contentHeaderBytes + propertyBytesMax + 1 + message.content.count
            + bodyFrames * Frame.overheadBytes
        var written = 0
        output.append(upTo: bytesMax) { [pool] space in
            written = Self.encode(message, channel: channel, userID, chunk: chunk, pool, into: space) ?? 0
            return written
        }
        defer { pool.recycle() }
        guard !pool.hasLongName else { throw .shortStringTooLong }
        guard written > 0 else { throw .headersTooLarge }
        return written
    }

    private static func encode(
        _ message: OutgoingMessage, channel: UInt16, _ userID: String?, chunk: Int, _ pool: EncodingPool,
        into space: UnsafeMutableRawBufferPointer
    ) -> Int? {
        let publish = amqp_basic_publish_t(
            ticket: 0, exchange: pool.bytes(message.exchange), routing_key: pool.bytes(message.routingKey),
            mandatory: message.isMandatory ? 1 : 0, immediate: 0)
        guard let method = encode(AMQP_BASIC_PUBLISH_METHOD, publish, channel: channel, into: space) else { return nil }
        var end = method
        let header = UnsafeMutableRawBufferPointer(rebasing: space[end...])
        guard let headerBytes = encodeContentHeader(message, channel: channel, userID, pool, into: header) else {
            return nil
        }
        end += headerBytes
        message.content.withUnsafeBytes { body in
            var start = 0
            while start < body.count {
                let part = UnsafeRawBufferPointer(rebasing: body[start..<min(start + chunk, body.count)])
                let frame = UnsafeMutableRawBufferPointer(rebasing: space[end...])
                UnsafeMutableRawBufferPointer(rebasing: frame[Frame.headerBytes...]).copyMemory(from: part)
                end += finish(
                    frame, kind: .contentBody, channel: channel, end: Frame.headerBytes + part.count)
                start += part.count
            }
        }
        return end
    }

    private static func encodeContentHeader(
        _ message: OutgoingMessage, channel: UInt16, _ userID: String?, _ pool: EncodingPool,
        into space: UnsafeMutableRawBufferPointer
    ) -> Int? {
        space.storeBytes(of: basicClass.bigEndian, toByteOffset: 7, as: UInt16.self)
        space.storeBytes(of: 0, toByteOffset: 9, as: UInt16.self)
        space.storeBytes(of: UInt64(message.content.count).bigEndian, toByteOffset: 11, as: UInt64.self)
        var properties = message.properties(pool)
        if let userID {
            properties._flags |= amqp_flags_t(AMQP_BASIC_USER_ID_FLAG)
            properties.user_id = pool.bytes(userID)
        }
        let room = UnsafeMutableRawBufferPointer(rebasing: space[contentHeaderBytes...])
        let count = amqp_encode_properties(basicClass, &properties, amqp_bytes_t(room))
        guard count >= 0, !pool.hasLongName else { return nil }
        return finish(space, kind: .contentHeader, channel: channel, end: contentHeaderBytes + Int(count))
    }

    private static func encode<Arguments>(
        _ id: amqp_method_number_t, _ arguments: Arguments, channel: UInt16, into space: UnsafeMutableRawBufferPointer
    ) -> Int? {
        var arguments = arguments
        let room = UnsafeMutableRawBufferPointer(rebasing: space[methodHeaderBytes..<(space.count - 1)])
        let count = withUnsafeMutablePointer(to: &arguments) { amqp_encode_method(id, $0, amqp_bytes_t(room)) }
        guard count >= 0 else { return nil }
        space.storeBytes(of: id.bigEndian, toByteOffset: Frame.headerBytes, as: UInt32.self)
        return finish(space, kind: .method, channel: channel, end: methodHeaderBytes + Int(count))
    }

    /// Writes the header and the end byte of a frame whose payload ends before `end`. Returns the length of the frame.
    private static func finish(
        _ space: UnsafeMutableRawBufferPointer, kind: Frame.Kind, channel: UInt16, end: Int
    ) -> Int {
        space.storeBytes(of: kind.rawValue, toByteOffset: 0, as: UInt8.self)
        space.storeBytes(of: channel.bigEndian, toByteOffset: 1, as: UInt16.self)
        space.storeBytes(
            of: UInt32(truncatingIfNeeded: end - Frame.headerBytes).bigEndian, toByteOffset: 3, as: UInt32.self)
        space.storeBytes(of: Frame.endByte, toByteOffset: end, as: UInt8.self)
        return end + 1
    }
}

extension OutgoingMessage {
    fileprivate var hasShortStrings: Bool {
        let most = Int(UInt8.max)
        func isShort(_ string: String?) -> Bool { (string?.utf8.count ?? 0) <= most }
        return isShort(exchange) && isShort(routingKey) && isShort(messageID) && isShort(correlationID)
            && isShort(contentType) && isShort(contentEncoding) && isShort(type) && isShort(replyTo) && isShort(appID)
    }

    /// An upper bound of the property list's size in bytes, without `user-id`.
    fileprivate var propertyBytesMax: Int {
        func count(_ string: String?) -> Int { string.map { 1 + $0.utf8.count } ?? 0 }
        return 2 + 1 + 1 + 8 + headers.wireBytes + count(messageID) + count(correlationID) + count(contentType)
            + count(contentEncoding) + count(type) + count(replyTo) + count(appID)
            + (expirationMilliseconds == nil ? 0 : Self.expirationBytesMax)
    }

    /// The largest size of an encoded expiration in bytes: a length byte, and a signed 64-bit number as text.
    private static let expirationBytesMax = 1 + 20

    fileprivate func properties(_ pool: EncodingPool) -> amqp_basic_properties_t {
        var flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG
        if contentType != nil { flags |= AMQP_BASIC_CONTENT_TYPE_FLAG }
        if contentEncoding != nil { flags |= AMQP_BASIC_CONTENT_ENCODING_FLAG }
        if !headers.isEmpty { flags |= AMQP_BASIC_HEADERS_FLAG }
        if priority != nil { flags |= AMQP_BASIC_PRIORITY_FLAG }
        if correlationID != nil { flags |= AMQP_BASIC_CORRELATION_ID_FLAG }
        if replyTo != nil { flags |= AMQP_BASIC_REPLY_TO_FLAG }
        if expirationMilliseconds != nil { flags |= AMQP_BASIC_EXPIRATION_FLAG }
        if timestampSeconds != nil { flags |= AMQP_BASIC_TIMESTAMP_FLAG }
        if type != nil { flags |= AMQP_BASIC_TYPE_FLAG }
        if appID != nil { flags |= AMQP_BASIC_APP_ID_FLAG }
        var properties = amqp_basic_properties_t()
        properties._flags = amqp_flags_t(flags)
        properties.delivery_mode = UInt8(AMQP_DELIVERY_PERSISTENT.rawValue)
        properties.priority = priority ?? 0
        properties.message_id = pool.bytes(messageID)
        properties.content_type = pool.bytes(contentType)
        properties.content_encoding = pool.bytes(contentEncoding)
        properties.headers = pool.table(headers)
        properties.correlation_id = pool.bytes(correlationID)
        properties.reply_to = pool.bytes(replyTo)
        if let expirationMilliseconds { properties.expiration = pool.bytes("\(expirationMilliseconds)") }
        properties.timestamp = timestampSeconds ?? 0
        properties.type = pool.bytes(type)
        properties.app_id = pool.bytes(appID)
        return properties
    }
}

extension amqp_bytes_t {
    init(_ space: UnsafeMutableRawBufferPointer) {
        self.init(len: space.count, bytes: space.baseAddress)
    }
}
