import AMQP
import EventLoop
import Testing

@Suite struct ContentAssemblerTests {
    private struct Transcript {
        var assembler: ContentAssembler

        init(bodyBytesMax: Int = 100) {
            assembler = ContentAssembler(bodyBytesMax: bodyBytesMax)
        }

        mutating func begin(_ exchange: String = "x", _ key: String = "key") {
            Array(exchange.utf8).withUnsafeBytes { exchange in
                Array(key.utf8).withUnsafeBytes { assembler.begin(exchange: exchange, routingKey: $0) }
            }
        }

        mutating func header(size: UInt64, properties: [UInt8] = [0, 0], classID: UInt8 = 60) -> ContentAssembler.Step {
            let bytes =
                [0, classID, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: size >> (56 - 8 * $0)) } + properties
            return bytes.withUnsafeBytes { assembler.header($0) }
        }

        mutating func body(_ bytes: [UInt8]) -> ContentAssembler.Step {
            bytes.withUnsafeBytes { assembler.body($0) }
        }
    }

    @Test func aBodyInOneFrameOrMany() {
        var transcript = Transcript()
        transcript.begin("exchange", "key")
        #expect(transcript.header(size: 4, properties: [0, 0x80, 2, 65, 66]) == .incomplete)
        #expect(transcript.body([1, 2, 3, 4]) == .complete)
        let first = transcript.assembler.removeContent()
        #expect(first.body == [1, 2, 3, 4])
        #expect(first.exchange == "exchange")
        #expect(first.routingKey == "key")
        #expect(first.properties.messageID == "AB")
        transcript.begin("", "")
        #expect(transcript.header(size: 4) == .incomplete)
        #expect(transcript.body([1]) == .incomplete)
        #expect(transcript.body([]) == .incomplete)
        #expect(transcript.body([2, 3]) == .incomplete)
        #expect(transcript.assembler.isBusy)
        #expect(transcript.body([4]) == .complete)
        let second = transcript.assembler.removeContent()
        #expect(second.body == [1, 2, 3, 4])
        #expect(second.exchange == "")
        #expect(!transcript.assembler.isBusy)
    }

    @Test func anEmptyBodyHasNoFrame() {
        var transcript = Transcript()
        transcript.begin()
        #expect(transcript.header(size: 0) == .complete)
        #expect(transcript.assembler.removeContent().body == [])
        #expect(transcript.body([1]) == .violation)
    }

    @Test func aBodyAboveTheLimitIsCountedAndDiscarded() {
        var transcript = Transcript(bodyBytesMax: 5)
        transcript.begin()
        #expect(transcript.header(size: 5) == .incomplete)
        #expect(transcript.body([1, 2, 3, 4, 5]) == .complete)
        #expect(!transcript.assembler.removeContent().isOversized)
        transcript.begin()
        #expect(transcript.header(size: 6, properties: [0, 0x80, 1, 65]) == .incomplete)
        #expect(transcript.body([1, 2, 3]) == .incomplete)
        #expect(transcript.body([4, 5, 6]) == .complete)
        let content = transcript.assembler.removeContent()
        #expect(content.isOversized)
        #expect(content.body == [] && content.withBody { $0.count } == 0)
        #expect(content.bodySize == 6)
        #expect(content.properties.messageID == "A")
    }

    @Test func anExcessiveSizeAllocatesNothing() {
        var transcript = Transcript()
        transcript.begin()
        #expect(transcript.header(size: .max) == .incomplete)
        #expect(transcript.body([1]) == .incomplete)
    }

    @Test func framesOutOfOrderAreViolations() {
        var transcript = Transcript()
        #expect(transcript.header(size: 1) == .violation)
        #expect(transcript.body([1]) == .violation)
        transcript.begin()
        #expect(transcript.body([1]) == .violation)
        #expect(transcript.header(size: 2) == .incomplete)
        #expect(transcript.header(size: 2) == .violation)
        #expect(transcript.body([1, 2, 3]) == .violation)
        transcript.assembler.reset()
        transcript.begin()
        #expect(transcript.header(size: 1, classID: 61) == .violation)
    }

    @Test func theEnvelopeIsCompleteForAnySplitOfTheBody() {
        var transcript = Transcript()
        for parts in [[], [[1, 2, 3]], [[], [1], [2, 3]], [[1, 2], [], [3]]] as [[[UInt8]]] {
            let body = parts.flatMap { $0 }
            transcript.begin("exchange", "key")
            var step = transcript.header(size: UInt64(body.count), properties: [0, 0x80, 2, 65, 66])
            for part in parts {
                #expect(step == .incomplete)
                step = transcript.body(part)
            }
            #expect(step == .complete)
            let content = transcript.assembler.removeContent()
            #expect(Array(content.body) == body && content.withBody { Array($0) } == body)
            #expect(content.exchange == "exchange" && content.routingKey == "key")
            #expect(content.properties.messageID == "AB" && Array(content.propertyList) == [0, 0x80, 2, 65, 66])
            #expect(content.bytes.count == body.count + 8 + 3 + 5)
        }
    }

    @Test func aLargeEnvelopeDoesNotAffectTheNextMessage() {
        var transcript = Transcript()
        for name in [[UInt8](repeating: 65, count: 250), [66]] {
            // The first message has 5000 bytes of headers. The second message has no headers.
            let filler = [UInt8](repeating: 1, count: 5000 * (name.count / 250))
            let table: [UInt8] = [0, 0, UInt8(filler.count >> 8), UInt8(filler.count & 255)] + filler
            transcript.begin("exchange", "key")
            #expect(
                transcript.header(size: 0, properties: [0x20, 0x80] + table + [UInt8(name.count)] + name) == .complete)
            let content = transcript.assembler.removeContent()
            #expect(content.properties.messageID == String(decoding: name, as: UTF8.self))
            #expect(content.exchange == "exchange" && content.routingKey == "key")
        }
    }

    @Test func anInterruptedMessageDoesNotAffectTheNext() {
        var transcript = Transcript()
        transcript.begin("former", "former")
        #expect(transcript.header(size: 4, properties: [0, 0x80, 1, 65]) == .incomplete)
        #expect(transcript.body([9, 9]) == .incomplete)
        transcript.assembler.reset()
        transcript.begin("x", "k")
        #expect(transcript.header(size: 1) == .incomplete)
        #expect(transcript.body([1]) == .complete)
        let content = transcript.assembler.removeContent()
        #expect(content.body == [1] && content.exchange == "x" && content.routingKey == "k")
        #expect(content.properties.messageID == nil && content.bytes.count == 1 + 1 + 1 + 2)
    }
}
