import AMQP
import EventLoop
import TestKit
import Threads

/// A publisher of messages that no conforming client would send.
///
/// `@unchecked Sendable`: used only on its loop's thread, and by the caller after the loop has ended.
final class RawPublisher: ByteStreamHandler, @unchecked Sendable {
    struct Message: Sendable {
        var exchange: String
        /// The routing key, at most 255 bytes.
        var routingKey: [UInt8]
        /// The property flags and property list in wire format.
        var properties: [UInt8]
        var body: [UInt8]
    }

    /// The frame size that RabbitMQ proposes and accepts, in bytes.
    static let frameBytesMax = 131_072
    private static let outputBytesMax = 1 << 20

    private let loop: EpollLoop
    private let messages: [Message]
    private var splitter = FrameSplitter(frameBytesMax: frameBytesMax)
    private var output = OutputBuffer(bytesMax: outputBytesMax)
    private var transport: ByteTransport?
    private var published = 0
    private var isOpen = false
    /// The lowest delivery tag that is not confirmed.
    private var oldest: UInt64 = 1
    /// Delivery tags that were confirmed individually.
    private var confirmedBeyond: Set<UInt64> = []
    private var failure: String?

    private init(_ messages: [Message], loop: EpollLoop) {
        self.messages = messages
        self.loop = loop
    }

    /// Publishes messages and waits for the confirms.
    ///
    /// - Throws: `ProcessError` with the reason unless the broker confirms all messages.
    static func publish(_ messages: [Message], to url: String) async throws {
        let endpoint = try AMQPURL(url).endpoints[0]
        let loop = try EpollLoop()
        let publisher = RawPublisher(messages, loop: loop)
        await DetachedThread.run {
            loop.post { publisher.transport = loop.connect(to: endpoint, handler: publisher) }
            loop.run()
        }
        if let failure = publisher.failure { throw ProcessError(failure) }
    }

    override func connected(_ transport: ByteTransport) {
        send(Array("AMQP".utf8) + [0, 0, 9, 1])
    }

    override func received(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        do throws(AMQPError) {
            while failure == nil, let frame = try splitter.next(&rest) {
                if frame.kind == .method { receive(frame.payload) }
            }
        } catch {
            fail(error.message)
        }
        loop.flushAfterIteration(self)
    }

    override func writable() { flush() }

    override func flush() {
        guard let transport else { return }
        repeat {
            while isOpen, published < messages.count, !output.isFull { publishNext() }
        } while output.write(to: transport) && isOpen && published < messages.count
    }

    override func closed(_ error: TransportError?) {
        if !isDone {
            failure = failure ?? "the broker disconnected after \(published) messages: \(error?.message ?? "no error")"
        }
        transport?.handler = nil
        transport = nil
        loop.stop()
    }

    private var isDone: Bool { oldest > messages.count }

    private func fail(_ reason: String) {
        failure = failure ?? reason
        transport?.reset()
    }

    private func receive(_ payload: UnsafeRawBufferPointer) {
        var reader = WireReader(payload)
        switch (reader.short(), reader.short()) {
        case (10, 10):  // connection.start
            method(0, 10, 11) { writer in
                writer.table([:])
                writer.shortString("PLAIN")
                writer.longString(Array("\0guest\0guest".utf8))
                writer.shortString("en_US")
            }
        case (10, 30):  // connection.tune
            method(0, 10, 31) { writer in
                writer.short(1)
                writer.long(UInt32(Self.frameBytesMax))
                writer.short(0)
            }
            method(0, 10, 40) { writer in
                writer.shortString("/")
                writer.shortString("")
                writer.octet(0)
            }
        case (10, 41): method(1, 20, 10) { $0.shortString("") }
        case (20, 11): method(1, 85, 10) { $0.octet(0) }
        case (85, 11): isOpen = true
        case (60, 80):  // basic.ack
            guard let number = reader.longLong(), let isMultiple = reader.octet() else {
                return fail("malformed basic.ack")
            }
            if isMultiple & 1 == 1 { oldest = max(oldest, number + 1) } else { confirmedBeyond.insert(number) }
            while confirmedBeyond.remove(oldest) != nil { oldest += 1 }
            if isDone { transport?.close() }
        case (10, 50), (20, 40):  // connection.close, channel.close
            let code = reader.short() ?? 0
            let text = reader.shortString().map { String(wire: $0) } ?? ""
            fail("the broker closed the channel or connection after \(published) messages: \(code) \(text)")
        case (let classID, let id): fail("unexpected method \(classID ?? 0).\(id ?? 0) after \(published) messages")
        }
    }

    private func publishNext() {
        let message = messages[published]
        published += 1
        method(1, 60, 40) { writer in
            writer.short(0)
            writer.shortString(message.exchange)
            writer.octet(UInt8(message.routingKey.count))
            writer.raw(message.routingKey)
            writer.octet(0)
        }
        frame(2, 1) { writer in
            writer.short(60)
            writer.short(0)
            writer.longLong(UInt64(message.body.count))
            writer.raw(message.properties)
        }
        let part = Self.frameBytesMax - Frame.overheadBytes
        for start in stride(from: 0, to: message.body.count, by: part) {
            frame(3, 1) { $0.raw(message.body[start..<min(start + part, message.body.count)]) }
        }
    }

    private func method(_ channel: UInt16, _ classID: UInt16, _ id: UInt16, _ write: (inout WireWriter) -> Void) {
        frame(1, channel) { writer in
            writer.short(classID)
            writer.short(id)
            write(&writer)
        }
    }

    private func frame(_ kind: UInt8, _ channel: UInt16, _ write: (inout WireWriter) -> Void) {
        var payload = WireWriter()
        write(&payload)
        var frame = WireWriter()
        frame.octet(kind)
        frame.short(channel)
        frame.longString(payload.bytes)
        frame.octet(Frame.endByte)
        send(frame.bytes)
    }

    private func send(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { output.append($0) }
        loop.flushAfterIteration(self)
    }
}
