import EventLoop
import TestKit
import Testing

@testable import AMQP

/// Methods of a broker, written by the scripted broker's writer.
@Suite struct ServerMethodTests {
    private static func payload(_ classID: UInt16, _ id: UInt16, _ write: (inout WireWriter) -> Void) -> [UInt8] {
        var writer = WireWriter()
        writer.short(classID)
        writer.short(id)
        write(&writer)
        return writer.bytes
    }

    /// Each method with its arguments, and a text of the arguments that the client reads.
    private static let methods: [(payload: [UInt8], text: String)] = [
        (
            payload(10, 10) { writer in
                writer.raw([0, 9])
                writer.table(["product": "RabbitMQ"])
                writer.longString(Array("PLAIN AMQPLAIN".utf8))
                writer.longString(Array("en_US".utf8))
            }, "start 0-9 RabbitMQ PLAIN AMQPLAIN"
        ),
        (
            payload(10, 30) { writer in
                writer.short(2047)
                writer.long(131_072)
                writer.short(60)
            }, "tune 2047 131072 60"
        ),
        (payload(10, 50) { close(&$0, 320, "CONNECTION_FORCED") }, "connection close 320 CONNECTION_FORCED"),
        (payload(10, 60) { $0.shortString("low on memory") }, "blocked low on memory"),
        (payload(20, 40) { close(&$0, 404, "NOT_FOUND") }, "channel close 404 NOT_FOUND"),
        (
            payload(50, 11) { writer in
                writer.shortString("in")
                writer.long(7)
                writer.long(2)
            }, "declared in 7 2"
        ),
        (payload(50, 31) { $0.long(8) }, "purged 8"),
        (payload(50, 41) { $0.long(9) }, "deleted 9"),
        (payload(60, 21) { $0.shortString("martlet-1") }, "consuming"),
        (
            payload(60, 30) { writer in
                writer.shortString("martlet-1")
                writer.flag(true)
            }, "cancel"
        ),
        (payload(60, 31) { $0.shortString("martlet-1") }, "canceled"),
        (
            payload(60, 50) { writer in
                writer.short(312)
                writer.shortString("NO_ROUTE")
                writer.shortString("results")
                writer.shortString("key")
            }, "returned 312 NO_ROUTE results key"
        ),
        (
            payload(60, 71) { writer in
                writer.longLong(3)
                writer.flag(true)
                writer.shortString("requests")
                writer.shortString("key")
                writer.long(5)
            }, "got 3 true requests key"
        ),
        (payload(60, 80) { confirm(&$0, 1 << 40, multiple: true) }, "ack 1099511627776 true"),
        (payload(60, 120) { confirm(&$0, 6, multiple: false) }, "nack 6 false"),
    ]

    private static func close(_ writer: inout WireWriter, _ code: UInt16, _ text: String) {
        writer.short(code)
        writer.shortString(text)
        writer.short(60)
        writer.short(40)
    }

    private static func confirm(_ writer: inout WireWriter, _ number: UInt64, multiple: Bool) {
        writer.longLong(number)
        writer.flag(multiple)
    }

    private static func text(_ payload: [UInt8]) -> String? {
        payload.withUnsafeBytes { bytes in ServerMethod(bytes).map { Self.text(of: $0) } }
    }

    private static func text(of method: ServerMethod) -> String {
        switch method {
        case .connectionStart(let start):
            let product = FieldTable(content: start.serverProperties)?["product"]?.stringValue ?? "-"
            return "start \(start.versionMajor)-\(start.versionMinor) \(product) \(String(wire: start.mechanisms))"
        case .connectionTune(let tuning):
            return "tune \(tuning.channelMax) \(tuning.frameBytesMax) \(tuning.heartbeatSeconds)"
        case .connectionClose(let close): return "connection close \(close.replyCode) \(String(wire: close.replyText))"
        case .channelClose(let close): return "channel close \(close.replyCode) \(String(wire: close.replyText))"
        case .connectionBlocked(let reason): return "blocked \(String(wire: reason))"
        case .queueDeclareOK(let queue):
            return "declared \(String(wire: queue.name)) \(queue.messageCount) \(queue.consumerCount)"
        case .queuePurgeOK(let count): return "purged \(count)"
        case .queueDeleteOK(let count): return "deleted \(count)"
        case .basicConsumeOK: return "consuming"
        case .basicCancel: return "cancel"
        case .basicCancelOK: return "canceled"
        case .basicReturn(let returned):
            return "returned \(returned.replyCode) \(String(wire: returned.replyText)) "
                + "\(String(wire: returned.exchange)) \(String(wire: returned.routingKey))"
        case .basicGetOK(let delivery): return "got \(text(of: delivery))"
        case .basicAck(let confirm): return "ack \(confirm.number) \(confirm.multiple)"
        case .basicNack(let confirm): return "nack \(confirm.number) \(confirm.multiple)"
        default: return "\(method)"
        }
    }

    private static func text(of delivery: ServerMethod.Delivery) -> String {
        "\(delivery.tag) \(delivery.isRedelivered) \(String(wire: delivery.exchange)) \(String(wire: delivery.routingKey))"
    }

    @Test func argumentsAreReadAsTheyWereWritten() {
        for method in Self.methods { #expect(Self.text(method.payload) == method.text) }
    }

    @Test func aTruncatedMethodIsNotRead() {
        for method in Self.methods {
            // In connection.start, fields after the mechanisms are not read.
            let needed = method.text.hasPrefix("start") ? method.payload.count - 9 : method.payload.count
            for count in 0..<needed {
                #expect(Self.text(Array(method.payload[..<count])) == nil, "\(method.text), \(count)")
            }
        }
    }

    @Test func aDeliveryIsReadCompletely() {
        let deliver = Self.payload(60, 60) { writer in
            writer.shortString("martlet-1")
            writer.longLong(4)
            writer.flag(false)
            writer.shortString("")
            writer.shortString("push.requests")
        }
        func read(_ payload: ArraySlice<UInt8>) -> String? {
            payload.withUnsafeBytes { ServerMethod.Delivery(deliver: $0).map(Self.text) }
        }
        #expect(read(deliver[...]) == "4 false  push.requests")
        for count in deliver.indices { #expect(read(deliver[..<count]) == nil) }
        #expect(read(Self.methods[12].payload[...]) == nil, "basic.get-ok was read as a delivery")
        #expect(Self.text(deliver) == nil, "a delivery was read as another method")
    }

    // The methods include `basic.publish`, which only clients send, and `basic.recover-ok`, which answers a method that
    // Martlet never sends.
    @Test(arguments: [(60, 40), (60, 111), (50, 10), (0, 0), (90, 31)] as [(UInt16, UInt16)])
    func aMethodThatNoBrokerSendsIsNotRead(classID: UInt16, id: UInt16) {
        #expect(Self.text(Self.payload(classID, id) { $0.raw(Array(repeating: 0, count: 100)) }) == nil)
    }
}
