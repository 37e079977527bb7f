import EventLoop
import TestKit
import Testing

@testable import AMQP

/// Methods of the client compared with the output of the scripted broker's writer (AMQP 0-9-1, "Class and method
/// details").
@Suite struct ClientMethodTests {
    private static func arguments(_ write: (inout WireWriter) -> Void) -> [UInt8] {
        var writer = WireWriter()
        write(&writer)
        return writer.bytes
    }

    private static let table: FieldTable = ["x-queue-type": "quorum", "x-delivery-limit": 20]

    /// Each method with its class ID, method ID and arguments.
    private static let methods: [(method: ClientMethod, classID: UInt16, id: UInt16, arguments: [UInt8])] = [
        (
            .connectionStartOK(clientProperties: table, mechanism: .external, response: [1, 2]), 10, 11,
            arguments { writer in
                writer.table(table)
                writer.shortString("EXTERNAL")
                writer.longString([1, 2])
                writer.shortString("en_US")
            }
        ),
        (
            .connectionTuneOK(Handshake.Tuning(channelMax: 256, frameBytesMax: 8192, heartbeatSeconds: 30)), 10, 31,
            [1, 0, 0, 0, 32, 0, 0, 30]
        ),
        (.connectionOpen(virtualHost: "/"), 10, 40, [1, UInt8(ascii: "/"), 0, 0]),
        (.connectionClose, 10, 50, [0, 200, 0, 0, 0, 0, 0]),
        (.connectionCloseOK, 10, 51, []),
        (.channelOpen, 20, 10, [0]),
        (.channelClose, 20, 40, [0, 200, 0, 0, 0, 0, 0]),
        (.channelCloseOK, 20, 41, []),
        (
            .exchangeDeclare("x", type: "fanout", isPassive: false, arguments: table), 40, 10,
            arguments { writer in
                writer.short(0)
                writer.shortString("x")
                writer.shortString("fanout")
                writer.octet(0b10)
                writer.table(table)
            }
        ),
        (
            .exchangeBind("to", source: "from", routingKey: "key"), 40, 30,
            arguments { writer in
                for text in binding("to", "from", "key") { writer.raw(text) }
                writer.octet(0)
                writer.table([:])
            }
        ),
        (
            .exchangeUnbind("to", source: "from", routingKey: "key"), 40, 40,
            arguments { writer in
                for text in binding("to", "from", "key") { writer.raw(text) }
                writer.octet(0)
                writer.table([:])
            }
        ),
        (.exchangeDelete("x"), 40, 20, [0, 0, 1, UInt8(ascii: "x"), 1]),
        (
            .queueDeclare("q", isPassive: true, arguments: table), 50, 10,
            arguments { writer in
                writer.short(0)
                writer.shortString("q")
                writer.octet(0b11)
                writer.table(table)
            }
        ),
        (
            .exclusiveQueueDeclare("q", arguments: table), 50, 10,
            arguments { writer in
                writer.short(0)
                writer.shortString("q")
                writer.octet(0b1100)
                writer.table(table)
            }
        ),
        (
            .queueBind("q", exchange: "x", routingKey: "key", arguments: table), 50, 20,
            arguments { writer in
                for text in binding("q", "x", "key") { writer.raw(text) }
                writer.octet(0)
                writer.table(table)
            }
        ),
        (
            .queueUnbind("q", exchange: "x", routingKey: "key"), 50, 50,
            arguments { writer in
                for text in binding("q", "x", "key") { writer.raw(text) }
                writer.table([:])
            }
        ),
        (.queuePurge("q"), 50, 30, [0, 0, 1, UInt8(ascii: "q"), 0]),
        (.queueDelete("q"), 50, 40, [0, 0, 1, UInt8(ascii: "q"), 0]),
        (.basicQos(prefetch: 300), 60, 10, [0, 0, 0, 0, 1, 44, 0]),
        (
            .basicConsume(queue: "q", consumerTag: "martlet-1", arguments: table), 60, 20,
            arguments { writer in
                writer.short(0)
                writer.shortString("q")
                writer.shortString("martlet-1")
                writer.octet(0)
                writer.table(table)
            }
        ),
        (
            .basicConsumeReplies, 60, 20,
            arguments { writer in
                writer.short(0)
                writer.shortString("amq.rabbitmq.reply-to")
                writer.shortString("")
                writer.octet(2)
                writer.table([:])
            }
        ),
        (.basicCancel(consumerTag: "t"), 60, 30, [1, UInt8(ascii: "t"), 0]),
        (.basicGet(queue: "q"), 60, 70, [0, 0, 1, UInt8(ascii: "q"), 1]),
        (.basicReject(deliveryTag: 258, requeue: true), 60, 90, [0, 0, 0, 0, 0, 0, 1, 2, 1]),
        (.basicReject(deliveryTag: 258, requeue: false), 60, 90, [0, 0, 0, 0, 0, 0, 1, 2, 0]),
        (.basicNack(deliveryTag: 258), 60, 120, [0, 0, 0, 0, 0, 0, 1, 2, 2]),
        (.confirmSelect, 85, 10, [0]),
    ]

    /// Returns the encoded arguments of a bind or an unbind. They are a ticket, which RabbitMQ ignores, and `names`.
    private static func binding(_ names: String...) -> [[UInt8]] {
        [[0, 0]] + names.map { [UInt8($0.utf8.count)] + Array($0.utf8) }
    }

    private static func frame(_ method: (inout FrameWriter) -> Bool) -> (isWritten: Bool, bytes: [UInt8]) {
        var writer = FrameWriter(outputBytesMax: 1000)
        let isWritten = method(&writer)
        let sink = ByteSink(loop: VirtualLoop(seed: 1), handler: nil)
        expect(writer.output.write(to: sink))
        return (isWritten, sink.bytes)
    }

    private static func expected(_ classID: UInt16, _ id: UInt16, _ arguments: [UInt8]) -> [UInt8] {
        FrameSplitterTests.frame(
            1, 5,
            Self.arguments { writer in
                writer.short(classID)
                writer.short(id)
                writer.raw(arguments)
            })
    }

    @Test func eachMethodIsOneFrame() {
        for method in Self.methods {
            let written = Self.frame { $0.write(method.method, channel: 5) }
            #expect(written.isWritten)
            #expect(written.bytes == Self.expected(method.classID, method.id, method.arguments), "\(method.method)")
            #expect(method.method.argumentBytesMax >= method.arguments.count, "\(method.method)")
        }
    }

    @Test func anAcknowledgmentIsOneFrame() {
        for multiple in [false, true] {
            let written = Self.frame { writer in
                writer.acknowledge(258, multiple: multiple, channel: 5)
                return true
            }
            #expect(written.bytes == Self.expected(60, 80, [0, 0, 0, 0, 0, 0, 1, 2, multiple ? 1 : 0]))
        }
    }

    private static let longName = String(repeating: "x", count: 256)

    @Test(
        arguments: [
            .queuePurge(longName), .basicConsume(queue: "q", consumerTag: "t", arguments: [longName: 1]),
            .queueDeclare("q", isPassive: false, arguments: ["x": .table([longName: 1])]),
            .connectionOpen(virtualHost: longName),
            .exchangeDeclare("x", type: longName, isPassive: false, arguments: [:]),
        ] as [ClientMethod]) func aNameOf256BytesCannotBeWritten(method: ClientMethod)
    {
        let written = Self.frame { $0.write(method, channel: 5) }
        #expect(!written.isWritten)
        #expect(written.bytes.isEmpty)
    }

    @Test func argumentsThatExceedAFrameAreRefused() {
        let fitting = (3900...4100).filter { size in
            let arguments: FieldTable = ["x": .string(String(repeating: "x", count: size))]
            return Self.frame { $0.write(.queueDeclare("q", isPassive: false, arguments: arguments), channel: 5) }
                .isWritten
        }
        // The frame also contains its overhead, the class and method IDs, the ticket, the name, and the flags. The
        // table up to its text follows.
        #expect(fitting.last == Int(Handshake.frameBytesMin) - Frame.overheadBytes - 4 - 2 - 2 - 1 - 4 - 2 - 1 - 4)
        #expect(fitting == Array(3900...(fitting.last ?? 0)))
    }

    // A method that could not be written does not affect the next method.
    @Test func aMethodAfterARefusedOneIsComplete() {
        let written = Self.frame { writer in
            expect(
                !writer.write(.basicConsume(queue: "q", consumerTag: "t", arguments: [Self.longName: 1]), channel: 5))
            return writer.write(.basicConsume(queue: "q", consumerTag: "t", arguments: [:]), channel: 5)
        }
        #expect(written.isWritten)
        #expect(written.bytes == Self.expected(60, 20, [0, 0, 1, 0x71, 1, 0x74, 0, 0, 0, 0, 0]))
    }
}
